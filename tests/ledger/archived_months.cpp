#include "archived_months.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/calendar.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger::testing {

namespace {

using namespace accounting;

constexpr std::array k_organizations{"physics", "biology", "library"};
constexpr std::int64_t k_hour = 3600;

std::string node_name(std::uint32_t number) {
  return "n" + std::to_string(1 + number % 4);
}

void add_job_events(std::vector<Told>& told, std::uint32_t job, Instant submit, Duration length) {
  const std::string organization = k_organizations.at(job % k_organizations.size());
  const Instant start = submit + Duration{120 + job % 600};
  const std::string placement = job % 2 == 0 ? "partition=main" : "";
  SegmentOpened run{.key = {SegmentKind::run, {job}, start, 0},
                    .organization = organization,
                    .begin = start,
                    .processors = {},
                    .nodes = {},
                    .placement = placement};
  for (std::uint32_t i = 0; i <= job % 2; ++i) {
    run.nodes.push_back({node_name(job + i), {5 * k_micro}, 5, 1000});
    run.processors += ProcessorMillionths{5 * k_micro};
  }
  std::ranges::sort(run.nodes, {}, &NodeShare::node);
  const SegmentOpened wait{.key = {SegmentKind::wait, {job}, submit, 0},
                           .organization = organization,
                           .begin = submit,
                           .processors = run.processors,
                           .nodes = {},
                           .placement = placement};
  told.push_back({submit, JobDescribed{.job = {job},
                                       .submit = submit,
                                       .organization = organization,
                                       .array_task = std::nullopt,
                                       .user_id = 1000 + job % 7,
                                       .group_id = 100,
                                       .account = organization,
                                       .partition = "main",
                                       .qos = "normal",
                                       .name = "job-" + std::to_string(job),
                                       .wckey = ""}});
  told.push_back({submit, wait});
  told.push_back({start, SegmentClosed{wait.key, start, CloseReason::started, "RUNNING"}});
  told.push_back({start, run});
  const Instant end = start + length;
  if (job % 10 == 3) {
    // Suspended for an hour in the middle.
    const Instant pause = start + Duration{length.value / 2};
    told.push_back({pause, SegmentClosed{run.key, pause, CloseReason::suspended, "SUSPENDED"}});
    run.key.ordinal = 1;
    run.begin = pause + Duration{k_hour};
    told.push_back({run.begin, run});
  }
  if (job % 10 == 7) {
    told.push_back({start + Duration{60}, SegmentRetracted{run.key, start + Duration{60}}});
    return;
  }
  const Instant last = std::max(end, run.begin);
  told.push_back({last + Duration{1}, SegmentClosed{run.key, last, CloseReason::ended, "COMPLETED"}});
}

}  // namespace

Instant month_begin(int month) {
  constexpr std::array k_months{"2026-10-01", "2026-11-01", "2026-12-01", "2027-01-01", "2027-02-01", "2027-03-01"};
  return parse_instant(k_months.at(static_cast<std::size_t>(month))).value();
}

std::vector<Told> declarations_at(Instant at) {
  std::vector<Told> told;
  told.push_back({at, OrganizationsDeclared{at, {k_organizations.begin(), k_organizations.end()}}});
  for (std::uint32_t node = 0; node < 4; ++node) {
    const std::vector<OwnerPart> owners{{k_organizations.at(node % 3), 600'000},
                                        {k_organizations.at((node + 1) % 3), 300'000}};
    told.push_back({at, OwnershipStated{node_name(node), {0}, {{k_beginning_of_time, owners}}}});
    told.push_back({at, CapacityChanged{node_name(node), at, 0, {16 * k_micro}, {16 * k_micro}, 16, 64'000, {}}});
  }
  told.push_back({at, PeriodDeclared{at, Period::monthly}});
  told.push_back({at, ConfigurationLoaded{at, "organizations: {}\n"}});
  return told;
}

std::vector<Told> events_of_month(int month, std::uint32_t jobs) {
  std::vector<Told> told;
  const Instant begin = month_begin(month);
  const Duration length = month_begin(month + 1) - begin;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    const std::uint32_t job = static_cast<std::uint32_t>(month) * 1000 + i + 1;
    const Instant submit = begin + Duration{length.value * i / jobs + 100};
    // The last ones of a month run into the next one, and one for two months.
    const bool long_run = i + 1 == jobs / 2;
    add_job_events(told, job, submit, long_run ? Duration{50 * k_day_s} : Duration{(6 + i % 40) * k_hour});
  }
  const Instant middle = begin + Duration{length.value / 2};
  told.push_back({middle, CapacityChanged{"n1", middle, 0, {0}, {16 * k_micro}, 16, 64'000, {}}});
  told.push_back({middle + Duration{k_hour},
                  CapacityChanged{"n1", middle + Duration{k_hour}, 0, {16 * k_micro}, {16 * k_micro}, 16, 64'000, {}}});
  told.push_back({middle, PlacementResolved{"partition=main", middle, 0, "n[1-4]"}});
  told.push_back({middle, OwnershipStated{"n2",
                                          middle,
                                          {{k_beginning_of_time,
                                            {{k_organizations.at(static_cast<std::size_t>(month) % 3), 1'000'000}}}}}});
  return told;
}

void append_received(Ledger& ledger, std::vector<Told> told) {
  std::ranges::stable_sort(told, {}, &Told::received);
  Recovered books = must(ledger.recover());
  std::optional<Instant> day;
  for (std::size_t i = 0; i < told.size();) {
    const Instant received = told[i].received;
    const Instant today = day_begin(received);
    if (day && *day != today) {
      books.state.advance(today);
      must(ledger.record_standings(*day, books.state, books.state.advance(today).standings()));
    }
    day = today;
    std::vector<Event> batch;
    for (; i < told.size() && told[i].received < received + Duration{k_hour}; ++i) batch.push_back(told[i].event);
    for (const Event& event : must(ledger.append(batch, received)).accepted) must(books.state.apply(event));
  }
  books.state.compact();
  must(ledger.save_checkpoint(books.state, ledger.last_sequence(), books.state.now()));
}

void write_months(const std::filesystem::path& file, int months, std::uint32_t jobs, const std::vector<Told>& more) {
  Ledger ledger = writer(file);
  std::vector<Told> told = declarations_at(month_begin(0) + Duration{50});
  for (int month = 0; month < months; ++month) {
    const auto events = events_of_month(month, jobs);
    told.insert(told.end(), events.begin(), events.end());
  }
  const Instant end = month_begin(months) - Duration{k_day_s};
  std::erase_if(told, [&](const Told& t) { return t.received >= end; });
  told.insert(told.end(), more.begin(), more.end());
  append_received(ledger, std::move(told));
}

}  // namespace shapley::ledger::testing
