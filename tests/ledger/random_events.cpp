#include "random_events.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "game/serving_order.hpp"

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

// --- members, by their types; events, by their descriptions ---

template <Described T>
void pick(T& record);

void pick(std::string& text) {
  text = *any_text();
}
void pick(Instant& t) {
  t = *any_instant();
}
void pick(Duration& seconds) {
  seconds = {*rc::gen::inRange<std::int64_t>(-k_latest, k_latest)};
}
void pick(ProcessorMillionths& processors) {
  processors = {*rc::gen::inRange<std::int64_t>(0, 1'000'000'000)};
}
template <typename T>
requires std::same_as<decltype(T::value), Int128>
void pick(T& amount) {
  amount = {*rc::gen::arbitrary<std::int64_t>()};
}
void pick(JobId& job) {
  job = {*rc::gen::arbitrary<std::uint32_t>()};
}
template <std::integral T>
void pick(T& number) {
  number = *rc::gen::arbitrary<T>();
}
template <typename T>
requires std::is_enum_v<T>
void pick(T& word) {
  word = *rc::gen::elementOf(std::vector<T>(k_values<T>.begin(), k_values<T>.end()));
}
template <typename T>
void pick(std::optional<T>& value) {
  if (*rc::gen::arbitrary<bool>()) pick(value.emplace());
}
template <typename T>
void pick(std::vector<T>& list) {
  for (auto left = *rc::gen::inRange(0, 5); left > 0; --left) pick(list.emplace_back());
}
template <Described T>
void pick(T& record) {
  for_each_member(record, [](std::string_view, auto& value, auto) { pick(value); });
}

// --- what kinds ask for beyond that (event_check.hpp) ---

template <typename Fact>
void make_sense(Fact& /*e*/) {}

void name(std::string& text) {
  if (text.empty()) text = *any_name();
}

// Sorts by `key` and leaves each once.
template <typename T, typename Key>
void distinct(std::vector<T>& list, Key key) {
  std::sort(list.begin(), list.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
  const auto same = [&](const T& a, const T& b) { return key(a) == key(b); };
  list.erase(std::unique(list.begin(), list.end(), same), list.end());
}

void make_sense(std::vector<Resource>& gres) {
  for (Resource& resource : gres) {
    name(resource.name);
    resource.count = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  }
  distinct(gres, [](const Resource& resource) { return resource.name; });
}

void make_sense(SegmentOpened& e) {
  name(e.organization);
  if (e.waited_as == e.key.job) e.waited_as = {};
  if (e.key.kind == SegmentKind::wait) e.released.reset();
  if (e.released) e.released = std::min(*e.released, e.begin);
  if (!e.released && e.key.kind != SegmentKind::wait) e.waited_as = {};
  if (e.key.kind == SegmentKind::wait) return e.nodes.clear();
  e.tasks = 0;
  e.processors = {};
  for (NodeShare& share : e.nodes) name(share.node);
  distinct(e.nodes, [](const NodeShare& share) { return share.node; });
  for (NodeShare& share : e.nodes) {
    share.processors = std::max(share.processors, ProcessorMillionths{1});
    share.memory = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
    make_sense(share.gres);
    e.processors += share.processors;
  }
}

void make_sense(OrganizationsDeclared& e) {
  for (std::string& organization : e.names) name(organization);
  distinct(e.names, [](const std::string& organization) { return organization; });
  std::reverse(e.names.begin(), e.names.end());
}

std::vector<OwnerPart> pick_owners(const std::set<std::string>& names) {
  std::vector<OwnerPart> owners;
  std::int64_t left = k_whole_node;
  for (const std::string& name : names) {
    if (left == 0) break;
    owners.push_back({name, *rc::gen::inRange<std::int64_t>(1, left + 1)});
    left -= owners.back().parts_per_million;
  }
  return owners;
}

void make_sense(OwnershipStated& e) {
  name(e.node);
  distinct(e.spans, [](const OwnershipSpan& span) { return span.from; });
  for (OwnershipSpan& span : e.spans) {
    std::set<std::string> names;
    for (OwnerPart& part : span.owners) {
      name(part.organization);
      names.insert(part.organization);
    }
    span.owners = pick_owners(names);
  }
  // The first span often begins before everything.
  if (!e.spans.empty() && *rc::gen::arbitrary<bool>()) e.spans.front().from = k_beginning_of_time;
}

void make_sense(CapacityChanged& e) {
  name(e.node);
  e.processors = {*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000)};
  e.whole = {*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000)};
  e.memory = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  make_sense(e.gres);
  if (!e.usable_cpus) return;
  e.cpus = *rc::gen::inRange<std::uint32_t>(1, 1'000'001);
  e.usable_cpus = *rc::gen::element(e.cpus, std::uint32_t{0});
}

void make_sense(ChargeDeclared& e) {
  name(e.charge);
  make_sense(e.weights);
  for (Resource& weight : e.weights) weight.count += 1;
  for (NodeWeight& weight : e.node_weights) {
    name(weight.nodes);
    weight.weight = *rc::gen::inRange<std::int64_t>(1, 1001);
  }
}

void make_sense(PlacementResolved& e) {
  name(e.placement);
  e.nodes = *rc::gen::element<std::string>("", "n1", "n[1-4],gpu[01-02]b", "login,n7");
}

void make_sense(RankingDeclared& e) {
  const auto part = [] { return *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1); };
  name(e.contribution);
  e.horizon = *rc::gen::inRange<std::int64_t>(0, game::k_longest_horizon.value + 1);
  e.guarantee = part();
  e.running_weight = part();
  if (e.rule == KeyRule::braking) e.horizon = e.running_weight = 0;
  for (GuaranteedPart& exception : e.exceptions) {
    name(exception.organization);
    exception.parts_per_million = part();
  }
  distinct(e.exceptions, [](const GuaranteedPart& exception) { return exception.organization; });
}

void make_sense(ResidualMeasured& e) {
  e.seconds = *rc::gen::inRange<std::int64_t>(1, game::k_longest_horizon.value + 1);
  e.runs = *rc::gen::inRange<std::int64_t>(1, 10'001);
}

void make_sense(ObservationGap& e) {
  if (e.end < e.begin) std::swap(e.begin, e.end);
  if (e.end == e.begin) e.end = e.end + Duration{1};
}

void make_sense(StateLost& e) {
  if (e.at < e.seen) std::swap(e.at, e.seen);
  for (std::int64_t* count : {&e.closed, &e.closed_seconds, &e.retracted, &e.retracted_seconds}) {
    *count = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  }
}

void make_sense(HindsightBounded& e) {
  if (e.coalitions == Coalitions::all) e.coalitions = Coalitions::pairs;
  e.needed = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40U);
  e.bound = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40U);
}

void make_sense(HindsightDefined& e) {
  std::set<std::string> listed;
  for (std::string& nodes : e.kinds) {
    const std::string node = "n" + std::to_string(*rc::gen::inRange(0, 100));
    nodes = listed.insert(node).second ? node : std::string{};
  }
}

void make_sense(UserNamed& e) {
  name(e.name);
}

void make_sense(ClusterNamed& e) {
  name(e.cluster);
}

std::string digits(std::size_t count) {
  return std::string(count, "0123456789abcdef"[*rc::gen::inRange(0, 16)]);
}

std::int64_t weight() {
  return *rc::gen::inRange<std::int64_t>(k_least_weight, k_greatest_weight + 1);
}

void make_sense(StandingReceived& e) {
  ClusterFigures& figures = e.figures;
  name(e.cluster);
  name(figures.consortium);
  name(figures.contribution);
  figures.ledger = digits(32);
  figures.hash = digits(64);
  e.signature = digits(128);
  figures.event = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  if (figures.period_begin > figures.time) std::swap(figures.period_begin, figures.time);
  for (ClusterWeight& each : figures.weights) each.weight = weight();
  distinct(figures.weights, [](const ClusterWeight& each) { return each.cluster; });
  for (OrganizationElsewhere& row : figures.organizations) {
    name(row.organization);
    for (CpuTime* work : {&row.figures.given_less_got, &row.settled_given, &row.settled_got})
      *work = {work->value / 1'000'000};
  }
  figures.whole = {*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40U)};
  distinct(figures.organizations, [](const OrganizationElsewhere& row) { return row.organization; });
}

void make_sense(LedgerReplaced& e) {
  name(e.cluster);
  name(e.author);
  e.former_ledger = digits(32);
  e.ledger = digits(32);
  e.hash = digits(64);
  e.former_event = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  e.event = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
}

void make_sense(ConsortiumDeclared& e) {
  name(e.consortium);
  e.weight = weight();
  for (OtherCluster& other : e.clusters) {
    name(other.cluster);
    other.weight = weight();
    other.stale_after = *rc::gen::inRange<std::int64_t>(0, 365 * 86'400 + 1);
    for (NameElsewhere& each : other.names) {
      name(each.here);
      name(each.there);
    }
    distinct(other.names, [](const NameElsewhere& each) { return each.there; });
    for (EarlierFigures& each : other.earlier) {
      name(each.organization);
      each.given_less_got = {each.given_less_got.value / 1'000'000};
    }
    distinct(other.earlier, [](const EarlierFigures& each) { return each.organization; });
  }
  distinct(e.clusters, [](const OtherCluster& other) { return other.cluster; });
}

void make_sense(WorkSettled& e) {
  e.adjustment = *rc::gen::inRange<std::uint32_t>(1, 1000);
  name(e.from);
  name(e.to);
  if (e.from == e.to) e.to += "2";
  e.work = {*rc::gen::inRange<std::int64_t>(1, k_max_settled.value) * (*rc::gen::arbitrary<bool>() ? 1 : -1)};
}

void make_sense(AdjustmentMade& e) {
  name(e.author);
  name(e.reason);
  name(e.organization);
  name(e.into);
  if (e.organization == e.into) e.into += "2";
  e.number = std::max(e.number, 2U);
  e.reverses = e.kind == AdjustmentKind::reverse ? e.number - 1 : 0;
  e.runs = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  e.facts = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
}

void make_sense(ControllerBegan& e) {
  e.after = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  e.hash = digits(64);
  name(e.host);
}

template <std::size_t Index = 0>
Event pick_event(std::size_t kind) {
  if constexpr (Index + 1 < std::variant_size_v<Event>) {
    if (kind != Index) return pick_event<Index + 1>(kind);
  }
  std::variant_alternative_t<Index, Event> event;
  pick(event);
  make_sense(event);
  return event;
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
    CapacityChanged capacity{.node = node, .at = {k_epoch - 10}, .processors = {1'000'000 * (1 + upto(15))}};
    if (upto(1) == 0) capacity.whole = capacity.processors;
    if (upto(1) == 0) capacity.usable_cpus = capacity.cpus = static_cast<std::uint32_t>(1 + upto(15));
    writer.events.emplace_back(std::move(capacity));
  }
  if (*rc::gen::arbitrary<bool>()) writer.events.emplace_back(PeriodDeclared{{k_epoch + upto(3000)}, Period::monthly});
  for (std::uint32_t number = 1001; upto(2) == 0 && number < 1004; ++number) {
    using Sides = std::pair<const char*, const char*>;
    const Sides sides = *rc::gen::element(Sides("a", "b"), Sides("c", "a"), Sides("guests", "commons"));
    const std::int64_t work = 1 + upto(1'000'000'000);
    writer.events.emplace_back(
        WorkSettled{number, {k_epoch + upto(6000)}, sides.first, sides.second, {number % 2 == 0 ? -work : work}});
  }
  const auto jobs = static_cast<std::uint32_t>(1 + upto(12));
  for (std::uint32_t id = 1; id <= jobs; ++id) writer.job({id});
  // Keys are unique except those of two runs or waits that would begin in one second; the first of them stays.
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
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, std::variant_size_v<Event>), any_event_of);
}

rc::Gen<Event> any_event_of(std::size_t kind) {
  return rc::gen::exec([kind] { return pick_event(kind); });
}

rc::Gen<std::vector<Event>> any_history() {
  return rc::gen::exec(pick_history);
}

std::vector<Event> pick_late_history() {
  std::vector<Event> history = *any_history();
  const auto late = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  std::rotate(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(late), history.end());
  return history;
}

}  // namespace shapley::ledger::testing
