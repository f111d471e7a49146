#include "random_events.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace shapley::ledger::testing {

namespace {

using namespace accounting;

constexpr std::int64_t k_latest = 253'402'300'799;  // the end of 9999

rc::Gen<Instant> any_instant() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, k_latest), [](auto value) { return Instant{value}; });
}

rc::Gen<std::string> any_name() {
  return rc::gen::nonEmpty(any_text());
}

SegmentKey pick_key() {
  return {.kind = *rc::gen::element(SegmentKind::run, SegmentKind::wait),
          .job = {*rc::gen::arbitrary<std::uint32_t>()},
          .anchor = *any_instant(),
          .ordinal = *rc::gen::arbitrary<std::uint32_t>()};
}

Event pick_opened() {
  SegmentOpened e{
      .key = pick_key(), .organization = *any_name(), .begin = *any_instant(), .processors = {}, .nodes = {}};
  if (e.key.kind == SegmentKind::wait) {
    e.processors = {*rc::gen::inRange<std::int64_t>(0, 1'000'000'000)};
    return e;
  }
  const auto names = *rc::gen::container<std::set<std::string>>(any_name());
  for (const std::string& name : names) {
    e.nodes.push_back({name, {*rc::gen::inRange<std::int64_t>(1, 1'000'000'000)}});
    e.processors += e.nodes.back().processors;
  }
  return e;
}

CloseReason pick_reason() {
  return *rc::gen::element(CloseReason::ended, CloseReason::suspended, CloseReason::requeued, CloseReason::resized,
                           CloseReason::started, CloseReason::changed, CloseReason::vanished);
}

std::vector<OwnerPart> pick_owners(const std::set<std::string>& names) {
  std::vector<OwnerPart> owners;
  std::int64_t left = 1'000'000;
  for (const std::string& name : names) {
    if (left == 0) break;
    owners.push_back({name, *rc::gen::inRange<std::int64_t>(1, left + 1)});
    left -= owners.back().parts_per_million;
  }
  return owners;
}

Event pick_ownership() {
  OwnershipStated e{.node = *any_name(), .effective = *any_instant(), .spans = {}};
  for (const std::int64_t from :
       *rc::gen::container<std::set<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, k_latest))) {
    // The first span often begins before everything.
    const bool always = e.spans.empty() && *rc::gen::arbitrary<bool>();
    e.spans.push_back({always ? k_beginning_of_time : Instant{from},
                       pick_owners(*rc::gen::container<std::set<std::string>>(any_name()))});
  }
  return e;
}

Event pick_job() {
  JobDescribed e;
  e.job = {*rc::gen::arbitrary<std::uint32_t>()};
  e.submit = *any_instant();
  e.organization = *any_text();
  e.array_job = *rc::gen::arbitrary<std::uint32_t>();
  if (*rc::gen::arbitrary<bool>()) e.array_task = *rc::gen::arbitrary<std::uint32_t>();
  e.het_job = *rc::gen::arbitrary<std::uint32_t>();
  e.user_id = *rc::gen::arbitrary<std::uint32_t>();
  e.group_id = *rc::gen::arbitrary<std::uint32_t>();
  e.account = *any_text();
  e.partition = *any_text();
  e.qos = *any_text();
  e.name = *any_text();
  e.wckey = *any_text();
  return e;
}

Event pick_event() {
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      return pick_opened();
    case 1:
      return SegmentClosed{pick_key(), *any_instant(), pick_reason(), *any_text()};
    case 2:
      return SegmentRetracted{pick_key(), *any_instant()};
    case 3: {
      const auto names = *rc::gen::container<std::set<std::string>>(any_name());
      return OrganizationsDeclared{*any_instant(), {names.rbegin(), names.rend()}};
    }
    case 4:
      return pick_ownership();
    case 5:
      return CapacityChanged{*any_name(),
                             *any_instant(),
                             *rc::gen::arbitrary<std::uint32_t>(),
                             {*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000)}};
    case 6:
      return PeriodDeclared{*any_instant(),
                            *rc::gen::element(Period::none, Period::monthly, Period::quarterly, Period::yearly)};
    case 7:
      return pick_job();
    default:
      return ConfigurationLoaded{*any_instant(), *any_text()};
  }
}

// --- histories ---

constexpr std::array<const char*, 4> k_nodes{"n1", "n2", "n3", "n4"};
constexpr std::int64_t k_epoch = 1'701'388'800 - 6000;  // a month ends while jobs run

std::int64_t upto(std::int64_t most) {
  return *rc::gen::inRange<std::int64_t>(0, most + 1);
}

struct Writer {
  std::vector<Event> events;

  void ownership(const char* node, std::int64_t effective) {
    static const std::set<std::string> all{"a", "b", "c"};
    OwnershipStated e{.node = node, .effective = {effective}, .spans = {}};
    e.spans.push_back({k_beginning_of_time, pick_owners(all)});
    if (*rc::gen::arbitrary<bool>()) e.spans.push_back({{effective + upto(4000)}, pick_owners(all)});
    events.emplace_back(std::move(e));
  }

  SegmentOpened run(JobId job, Instant anchor, std::uint32_t ordinal, Instant begin, const std::string& organization) {
    SegmentOpened e{.key = {SegmentKind::run, job, anchor, ordinal},
                    .organization = organization,
                    .begin = begin,
                    .processors = {},
                    .nodes = {}};
    for (const char* node : k_nodes) {
      if (upto(2) != 0) continue;
      e.nodes.push_back({node, {1 + upto(3'999'999)}});
      e.processors += e.nodes.back().processors;
    }
    if (e.nodes.empty()) {
      e.nodes.push_back({"n1", {1'000'000}});
      e.processors = {1'000'000};
    }
    return e;
  }

  void job(JobId id) {
    const std::string organization = *rc::gen::element<std::string>("a", "b", "c", "guests");
    Instant now{k_epoch + upto(5000)};
    events.emplace_back(described(id, now, organization));
    for (std::int64_t runs = 1 + upto(1); runs > 0; --runs) now = wait_and_run(id, now, organization);
  }

  Instant wait_and_run(JobId id, Instant eligible, const std::string& organization) {
    const SegmentKey wait{SegmentKind::wait, id, eligible, 0};
    events.emplace_back(SegmentOpened{wait, organization, eligible, {1'000'000 * (1 + upto(9))}, {}});
    const Instant start = eligible + Duration{upto(2000)};
    if (upto(9) == 0) return start;  // still waiting
    events.emplace_back(SegmentClosed{wait, start, CloseReason::started, "RUNNING"});
    Instant begin = start;
    const auto pieces = static_cast<std::uint32_t>(1 + upto(2));
    for (std::uint32_t ordinal = 0; ordinal < pieces; ++ordinal) {
      const SegmentOpened opened = run(id, start, ordinal, begin, organization);
      events.emplace_back(opened);
      if (upto(14) == 0) events.emplace_back(SegmentRetracted{opened.key, begin + Duration{upto(3000)}});
      if (ordinal + 1 == pieces && upto(9) == 0) return begin + Duration{1};  // still running
      const Instant end = begin + Duration{upto(3000)};
      const auto reason = ordinal + 1 == pieces ? CloseReason::ended : CloseReason::suspended;
      events.emplace_back(SegmentClosed{opened.key, end, reason, "COMPLETED"});
      begin = end + Duration{upto(100)};
    }
    return begin + Duration{1};
  }
};

std::vector<Event> pick_history() {
  Writer writer;
  writer.events.emplace_back(OrganizationsDeclared{{k_epoch - 10}, {"a", "b", "c"}});
  for (const char* node : k_nodes) {
    writer.ownership(node, k_epoch - 10);
    if (*rc::gen::arbitrary<bool>()) writer.ownership(node, k_epoch + upto(6000));
    writer.events.emplace_back(CapacityChanged{node, {k_epoch - 10}, 0, {1'000'000 * (1 + upto(15))}});
  }
  if (*rc::gen::arbitrary<bool>()) writer.events.emplace_back(PeriodDeclared{{k_epoch + upto(3000)}, Period::monthly});
  const auto jobs = static_cast<std::uint32_t>(1 + upto(12));
  for (std::uint32_t id = 1; id <= jobs; ++id) writer.job({id});
  // Keys are unique but for two runs or waits that would begin in one second; the first of them stays.
  std::set<std::string> seen;
  std::erase_if(writer.events, [&](const Event& e) { return !seen.insert(event_key(e)).second; });
  std::stable_sort(writer.events.begin(), writer.events.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  // Stragglers: some events are learned later than their time.
  for (std::size_t i = 0; i + 1 < writer.events.size(); ++i) {
    if (upto(4) == 0) std::swap(writer.events[i], writer.events[i + 1]);
  }
  return writer.events;
}

}  // namespace

JobDescribed described(JobId job, Instant submit, std::string organization) {
  JobDescribed e;
  e.job = job;
  e.submit = submit;
  e.organization = std::move(organization);
  return e;
}

rc::Gen<std::string> any_text() {
  return rc::gen::oneOf(
      rc::gen::string<std::string>(),
      rc::gen::element<std::string>("", "gpu", "r\xc3\xa9seau", "\xff\xfe", "a\nb", std::string("x\0y", 3),
                                    "\xed\xa0\x80", "{\"hex\":\"00\"}", "it's \"quoted\"; --"));
}

rc::Gen<Event> any_event() {
  return rc::gen::exec(pick_event);
}

rc::Gen<std::vector<Event>> any_history() {
  return rc::gen::exec(pick_history);
}

}  // namespace shapley::ledger::testing
