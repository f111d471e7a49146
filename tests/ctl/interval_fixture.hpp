// A small site whose statement can be computed second by second: two owners, a node that they share and that changes
// hands, accounts and users of both, a run over the end of a month, one that was retracted, one that waits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ctl {

inline constexpr Instant k_november{1'793'491'200};  // 2026-11-01T00:00:00Z

// The run of a job on nodes, whole processors of each, in seconds from k_november on; end < begin: still open.
struct NaiveRun {
  std::uint32_t job = 0;
  std::string organization;
  std::string account;
  std::uint32_t user_id = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<std::pair<std::string, std::int64_t>> nodes;
};

inline std::vector<NaiveRun> site_runs() {
  return {
      {1, "astro", "astro_theory", 4'000'001, -900, -300, {{"n1", 4}}},
      {2, "astro", "astro_theory", 4'000'001, -600, 500, {{"n1", 4}, {"n2", 2}}},
      {3, "bio", "bio", 4'000'002, -200, 1'300, {{"n2", 6}}},
      {4, "bio", "bio_lab", 4'000'003, 100, 2'100, {{"n1", 2}}},
      {5, "guests", "", 4'000'004, 700, 900, {{"n1", 4}}},
      {6, "astro", "astro", 4'000'001, 1'200, 0, {{"n2", 2}}},
  };
}

// Whose processors of a node, in halves: n1 is astro's and bio's, from 1,000 s on bio's alone; n2 is bio's.
inline std::vector<std::pair<std::string, std::int64_t>> halves_of(const std::string& node, std::int64_t second) {
  if (node == "n2" || second >= 1'000) return {{"bio", 2}};
  return {{"astro", 1}, {"bio", 1}};
}

inline Instant at_second(std::int64_t second) {
  return k_november + Duration{second};
}

inline std::vector<accounting::Event> site_events(Period period) {
  using namespace accounting;
  const Instant first = at_second(-1'000);
  std::vector<Event> events{
      OrganizationsDeclared{first, {"astro", "bio"}},
      PeriodDeclared{first, period},
      OwnershipStated{
          "n1", first, {{first, {{"astro", 500'000}, {"bio", 500'000}}}, {at_second(1'000), {{"bio", 1'000'000}}}}},
      OwnershipStated{"n2", first, {{first, {{"bio", 1'000'000}}}}},
      CapacityChanged{"n1", first, 0, {8 * k_micro}},
      CapacityChanged{"n2", first, 0, {8 * k_micro}},
  };
  for (const NaiveRun& run : site_runs()) {
    JobDescribed job;
    job.job = {run.job};
    job.submit = at_second(run.begin - 5);
    job.organization = run.organization;
    job.account = run.account;
    job.user_id = run.user_id;
    events.emplace_back(job);
    SegmentOpened opened{.key = {SegmentKind::run, {run.job}, at_second(run.begin), 0},
                         .organization = run.organization,
                         .begin = at_second(run.begin),
                         .processors = {},
                         .nodes = {}};
    for (const auto& [node, processors] : run.nodes) {
      opened.nodes.push_back({node, {processors * k_micro}});
      opened.processors += ProcessorMillionths{processors * k_micro};
    }
    events.emplace_back(opened);
    if (run.end > run.begin) events.emplace_back(SegmentClosed{opened.key, at_second(run.end), CloseReason::ended, ""});
  }
  const SegmentOpened vanished = ledger::testing::opened(7, at_second(300).value, "astro", 2, "n2");
  events.emplace_back(vanished);
  const SegmentOpened wait{.key = {SegmentKind::wait, {8}, at_second(50), 0},
                           .organization = "bio",
                           .begin = at_second(50),
                           .processors = {3 * k_micro},
                           .nodes = {}};
  events.emplace_back(wait);
  events.emplace_back(SegmentClosed{wait.key, at_second(450), CloseReason::started, ""});
  // Learned long afterwards.
  events.emplace_back(SegmentRetracted{vanished.key, at_second(1'900)});
  return events;
}

// A ledger of them whose last record is of 2,000 s.
inline void write_site(const std::filesystem::path& file, Period period = Period::monthly) {
  ledger::Ledger ledger = ledger::testing::writer(file);
  ledger::testing::must(ledger.append(site_events(period), at_second(2'000)));
}

}  // namespace shapley::ctl
