// State as text, for checkpoints.
//
// Written are the remembered facts and, of what is forgotten, only what it left: sums of finished pieces, the levels of
// settled periods, and what every estimator says. load() enters the facts again through the code that entered them
// first; so a checkpoint cannot hold books that contradict its facts. Everything in it is ordered, so equal states make
// equal texts.
#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/left_out.hpp"
#include "accounting/events/event_check.hpp"
#include "accounting/state/state_impl.hpp"

namespace shapley::accounting {

namespace {

constexpr std::string_view k_format = "shapley-state";
constexpr std::int64_t k_version = 5;
constexpr Int128 k_max_hash = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t k_u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t k_max_count = 1'000'000'000;
constexpr Instant k_zero{0};

void write_segment(TextWriter& out, const SegmentRecord& record) {
  const SegmentOpened& opened = record.live.opened;
  out.line("segment").word(name_of(opened.key.kind)).instant(opened.key.anchor).number(opened.key.ordinal);
  if (record.opened) {
    out.line("opened").word(opened.organization).instant(opened.begin).number(opened.processors.value);
    for (const NodeShare& share : opened.nodes) {
      out.line(k_description<NodeShare>.name);
      write_value(out, share);
    }
    if (!opened.placement.empty()) out.line("placed").word(opened.placement);
    if (opened.released) out.line("released").instant(*opened.released);
    if (opened.waited_as.value != 0) out.line("waited_as").number(opened.waited_as.value);
  }
  if (record.live.end) {
    out.line("closed").instant(*record.live.end).word(name_of(record.reason)).number(Int128{record.job_state_hash});
  }
  if (record.retracted) out.line("retracted").instant(record.retracted_at);
}

void write_facts(TextWriter& out, const State::Impl& state) {
  for (const std::string& name : state.organizations.names()) out.line("organization").word(name);
  for (const auto& [at, names] : state.organizations.declarations()) {
    out.line("declared").instant(at).number(static_cast<Int128>(names.size()));
    for (const std::string& name : names) out.word(name);
  }
  for (const auto& [at, period] : state.period_rules.declarations())
    out.line("period").instant(at).word(name_of(period));
  for (const auto& [at, hash] : state.configurations) out.line("configuration").instant(at).number(Int128{hash});
}

void write_nodes(TextWriter& out, const State::Impl& state) {
  for (const std::string& name : State::Impl::sorted_names(state.nodes)) {
    out.line("node").word(name);
    const Node& node = state.nodes[state.node_index.find(name)->second];
    for (const CapacityChanged& c : node.capacities) {
      out.line("capacity").instant(c.at).number(c.ordinal).number(c.processors.value).number(c.whole.value);
      write_value(out.number(c.cpus).number(c.memory), c.gres);
    }
  }
}

void write_placements(TextWriter& out, const State::Impl& state) {
  for (const auto& [name, placement] : state.placements) {
    placement.for_each([&](const PlacementResolved& fact) {
      out.line("placement").word(fact.placement).instant(fact.at).number(fact.ordinal).word(fact.nodes);
    });
  }
}

template <typename... Facts>
void write_kept(TextWriter& out, const KeptFacts& kept, std::type_identity<std::variant<Facts...>> /*event*/) {
  const auto write_kind = [&]<typename Fact>(std::type_identity<Fact>) {
    for (const Fact& fact : kept.all<Fact>()) write_fact(out, fact);
  };
  (write_kind(std::type_identity<Facts>{}), ...);
}

bool is_set(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

void write_jobs(TextWriter& out, const Jobs& jobs, const std::atomic<bool>* stop) {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const JobId id : ids) {
    if (is_set(stop)) return;
    const JobRecord& job = jobs.find(id)->second;
    out.line("job").number(id.value);
    for (const JobDescription& d : job.descriptions) {
      out.line("description").instant(d.submit).number(Int128{d.content_hash}).word(d.organization);
      out.number(d.array.value);
    }
    for (const JobChange& c : job.changes) {
      out.line("change").instant(c.submit).instant(c.at).number(Int128{c.content_hash}).word(c.organization);
    }
    for (const SegmentRecord& record : job.segments) write_segment(out, record);
  }
}

void write_levels(TextWriter& out, const Levels& levels) {
  for (const Levels::Period& period : levels.periods()) {
    if (!levels.settled(period)) return;
    out.line("levels").instant(period.end);
    for (std::size_t i = 0; i < period.rows.size(); ++i) {
      const Level& level = period.rows[i];
      if (level == Level{}) continue;
      out.line("level").number(static_cast<Int128>(i));
      out.number(level.owned.value).number(level.waiting.value);
      out.number(level.lent.value).number(level.borrowed.value);
    }
  }
}

void write_forgotten_starts(TextWriter& out, const std::vector<Instant>& starts) {
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] != k_beginning_of_time) out.line("last_start").number(static_cast<Int128>(i)).instant(starts[i]);
  }
}

void write_estimators(TextWriter& out, const State::Impl& state) {
  for (const EstimatorId id : estimator_ids()) {
    out.line("estimator").word(name_of(id));
    state.estimators[id.value]->save(out, state.remembered());
  }
}

// Reads in the order of the writing above. After a fault every read yields harmless values and the loops end.
class Loader {
 public:
  Loader(std::string_view text, State::Impl& state, const std::atomic<bool>* stop)
      : in_(text), state_(state), stop_(stop) {}

  Expected<void> run() {
    if (!in_.next(k_format) || in_.small(0, k_u32_max) != k_version) in_.fault("unknown format or version");
    read_present();
    read_organizations();
    read_rules();
    read_nodes();
    read_placements();
    read_kept(std::type_identity<Event>{});
    state_.got.load(in_);
    read_levels();
    read_forgotten_starts();
    state_.gathered_levels.emplace();
    while (!is_set(stop_) && in_.next("job")) read_job();
    if (is_set(stop_)) return fail(Errc::unavailable, "checkpoint: the reading was ended");
    if (in_.ok()) state_.restore_runs();
    if (in_.ok()) state_.restore_offers();
    state_.tell_gathered_levels();
    read_estimators();
    if (in_.finished()) finish();
    if (!in_.ok()) return fail(Errc::corrupt, "checkpoint: " + in_.complaint() + "; rebuild it from the events");
    return {};
  }

 private:
  void read_present() {
    if (!in_.next("present")) in_.fault("the present is missing");
    state_.now = in_.instant(k_beginning_of_time, k_last_instant);
    state_.horizon = in_.instant(k_beginning_of_time, k_last_instant);
    state_.first_event = in_.instant(k_beginning_of_time, k_end_of_time);
    if (state_.horizon > state_.now) in_.fault("the horizon lies in the future");
  }

  bool accept(const Event& fact) {
    const auto verdict = check(fact);
    if (!verdict) in_.fault(verdict.error().what);
    if (time_of(fact) > state_.now) in_.fault("a fact from the future");
    return in_.ok();
  }

  void read_organizations() {
    std::size_t count = 0;
    for (; in_.next("organization"); ++count) {
      const std::string name = in_.word();
      if (name.empty() || state_.join(name).value != count) return in_.fault("organizations out of order");
    }
    if (count != state_.organizations.names().size()) in_.fault("guests and commons are missing");
    while (in_.next("declared")) {
      OrganizationsDeclared fact{in_.instant(k_zero, k_last_instant), {}};
      for (auto n = in_.small(0, k_max_count); n > 0 && in_.ok(); --n) fact.names.push_back(known_organization());
      if (accept(fact)) state_.organizations.declare(fact.at, fact.names);
    }
  }

  std::string known_organization() {
    std::string name = in_.word();
    if (!state_.organizations.find(name)) in_.fault("an organization that is not in the books");
    return name;
  }

  void read_rules() {
    while (in_.next("period")) {
      const Instant at = in_.instant(k_zero, k_last_instant);
      const auto period = parse_period(in_.word());
      if (!period) return in_.fault("no such period");
      if (accept(PeriodDeclared{at, *period})) state_.period_rules.declare(at, *period);
    }
    while (in_.next("configuration")) {
      const Instant at = in_.instant(k_zero, k_last_instant);
      state_.configurations[at] = static_cast<std::uint64_t>(in_.number(0, k_max_hash));
    }
    if (!in_.ok()) return;
    state_.boundaries = state_.period_rules.boundaries_until(state_.now);
    state_.next_boundary = state_.period_rules.next_boundary(state_.now);
    state_.got.set_boundaries(state_.boundaries);
    state_.levels.settle(state_.horizon);
    state_.levels.set_boundaries(state_.boundaries);
    for (const auto& estimator : state_.estimators) estimator->set_boundaries(state_.boundaries);
  }

  void read_nodes() {
    while (in_.next("node")) {
      const std::string name = in_.word();
      if (name.empty() || state_.node_index.contains(name)) return in_.fault("a node without a name of its own");
      Node& node = state_.node_of(name);
      while (in_.next("capacity")) {
        CapacityChanged fact{.node = name, .at = in_.instant(k_zero, k_last_instant)};
        fact.ordinal = static_cast<std::uint32_t>(in_.small(0, k_u32_max));
        fact.processors = {in_.small(0, k_max_held.value)};
        fact.whole = {in_.small(0, k_max_held.value)};
        read_value(in_, fact.cpus);
        read_value(in_, fact.memory);
        read_value(in_, fact.gres);
        if (!accept(fact)) return;
        if (node.find_capacity(fact.at, fact.ordinal) != nullptr) return in_.fault("a capacity twice");
        node.insert_capacity(fact);
      }
    }
  }

  void read_placements() {
    while (in_.next("placement")) {
      PlacementResolved fact{in_.word(), in_.instant(k_zero, k_last_instant), 0, {}};
      fact.ordinal = static_cast<std::uint32_t>(in_.small(0, k_u32_max));
      fact.nodes = in_.word();
      if (!accept(fact)) return;
      const auto known = state_.placements.find(fact.placement);
      if (known != state_.placements.end() && known->second.find(fact.at, fact.ordinal) != nullptr) {
        return in_.fault("a placement twice");
      }
      state_.restore_placement(fact);
    }
  }

  template <typename... Facts>
  void read_kept(std::type_identity<std::variant<Facts...>> /*event*/) {
    const std::size_t organizations = state_.organizations.names().size();
    (read_kept_kind<Facts>(), ...);
    if (state_.organizations.names().size() != organizations) in_.fault("an organization that is not in the books");
  }

  template <typename Fact>
  void read_kept_kind() {
    constexpr std::string_view word = k_description<Fact>.kept_as;
    while (!word.empty() && in_.next(word)) {
      Fact fact;
      read_fact(in_, fact);
      if (!accept(fact)) return;
      if (state_.kept.find(fact) != nullptr) return in_.fault("a " + std::string(word) + " twice");
      restore(fact);
    }
  }

  void restore(const OwnershipStated& statement) { state_.restore_statement(statement); }
  template <typename Fact>
  void restore(const Fact& fact) {
    state_.fold(Event{fact});
  }

  void read_levels() {
    for (Levels::Period& period : state_.levels.periods()) {
      if (!state_.levels.settled(period)) return;
      if (!in_.next("levels") || in_.instant(k_beginning_of_time, k_last_instant) != period.end) {
        return in_.fault("levels of a settled period are missing");
      }
      for (std::size_t next = 0; in_.next("level");) {
        const auto i = static_cast<std::size_t>(in_.small(0, k_u32_max));
        if (i < next || i >= period.rows.size()) return in_.fault("levels out of order");
        Level& level = period.rows[i];
        for (MicroProcessors* part : {&level.owned, &level.waiting, &level.lent, &level.borrowed}) {
          *part = {in_.small(0, k_max_wanted.value)};
        }
        next = i + 1;
      }
    }
  }

  void read_forgotten_starts() {
    std::vector<Instant>& starts = state_.forgotten_starts;
    for (std::size_t next = 0; in_.next("last_start");) {
      const auto i = static_cast<std::size_t>(in_.small(0, k_u32_max));
      if (i < next || i >= starts.size()) return in_.fault("last starts out of order");
      starts[i] = in_.instant(k_zero, state_.now);
      next = i + 1;
    }
  }

  void read_estimators() {
    for (const EstimatorId id : estimator_ids()) {
      if (!in_.next("estimator") || in_.word() != name_of(id)) {
        return in_.fault("the lines of " + std::string(name_of(id)) + " are missing");
      }
      read_estimator(id);
      if (!in_.ok()) return;
    }
  }

  void read_estimator(EstimatorId id) {
    const bool is_left_out = state_.options.left_out.contains(id);
    if (in_.next(k_left_out)) {
      if (is_left_out) return;
      if (!state_.options.as_saved) return in_.fault(std::string(name_of(id)) + " was not kept");
      state_.options.left_out.insert(id);
      state_.estimators[id.value] = make_left_out();
    } else if (is_left_out) {
      in_.skip_to("estimator");
    } else {
      for (const HindsightBounded& bounded : state_.kept.all<HindsightBounded>())
        state_.estimators[id.value]->keep_at_most(bounded.coalitions);
      state_.estimators[id.value]->load(in_, state_.remembered());
    }
  }

  void read_job() {
    const JobId id{static_cast<std::uint32_t>(in_.small(0, k_u32_max))};
    if (state_.jobs.contains(id)) return in_.fault("a job twice");
    JobRecord& job = state_.jobs[id];
    while (in_.next("description")) {
      JobDescription& d = job.descriptions.emplace_back();
      d.submit = in_.instant(k_zero, k_last_instant);
      d.content_hash = static_cast<std::uint64_t>(in_.number(0, k_max_hash));
      d.organization = in_.word();
      d.array = {static_cast<std::uint32_t>(in_.small(0, k_u32_max))};
      state_.note_task(id, d.array);
    }
    while (in_.next("change")) {
      JobChange& c = job.changes.emplace_back();
      c.submit = in_.instant(k_zero, k_last_instant);
      c.at = in_.instant(k_zero, k_last_instant);
      c.content_hash = static_cast<std::uint64_t>(in_.number(0, k_max_hash));
      c.organization = in_.word();
    }
    while (in_.next("segment")) {
      SegmentRecord record = read_segment(id);
      if (!in_.ok()) return;
      if (job.find(record.live.opened.key) != nullptr) return in_.fault("a segment twice");
      state_.restore_segment(record);
      job.obtain(record.live.opened.key) = std::move(record);
    }
    job.refresh();
  }

  SegmentRecord read_segment(JobId job) {
    SegmentRecord record;
    SegmentOpened& opened = record.live.opened;
    const auto kind = parse_word<SegmentKind>(in_.word());
    if (!kind) in_.fault("no such kind of segment");
    opened.key = {kind.value_or(SegmentKind::run), job, in_.instant(k_zero, k_last_instant), 0};
    opened.key.ordinal = static_cast<std::uint32_t>(in_.small(0, k_u32_max));
    if (in_.next("opened")) read_opened(record);
    if (in_.next("closed")) {
      record.live.end = in_.instant(k_zero, k_last_instant);
      const auto reason = parse_word<CloseReason>(in_.word());
      if (!reason) in_.fault("no such reason");
      record.reason = reason.value_or(CloseReason::ended);
      record.job_state_hash = static_cast<std::uint64_t>(in_.number(0, k_max_hash));
      if (*record.live.end > state_.now) in_.fault("a fact from the future");
      if (record.opened && *record.live.end < opened.begin) in_.fault("a segment ends before it begins");
    }
    if (in_.next("retracted")) {
      record.retracted = true;
      record.retracted_at = in_.instant(k_zero, state_.now);
    }
    return record;
  }

  void read_opened(SegmentRecord& record) {
    SegmentOpened& opened = record.live.opened;
    record.opened = true;
    opened.organization = known_organization();
    opened.begin = in_.instant(k_zero, k_last_instant);
    opened.processors = {in_.small(0, k_max_wanted.value)};
    while (in_.next(k_description<NodeShare>.name)) read_value(in_, opened.nodes.emplace_back());
    if (in_.next("placed")) opened.placement = in_.word();
    if (in_.next("released")) opened.released = in_.instant(k_zero, k_last_instant);
    if (in_.next("waited_as")) opened.waited_as = {static_cast<std::uint32_t>(in_.small(1, k_u32_max))};
    accept(opened);
  }

  // Everything is in; now what only all facts together can tell.
  void finish() {
    state_.restate_levels();
    state_.closed_stale = true;
  }

  TextReader in_;
  State::Impl& state_;
  const std::atomic<bool>* stop_;
};

}  // namespace

void State::Impl::restore_statement(const OwnershipStated& statement) {
  const std::uint32_t index = index_of(statement.node);
  if (const auto planned = nodes[index].ownership.next_hand_over()) hand_overs.erase({*planned, index});
  nodes[index].ownership.state({statement.effective, statement.revision}, spans_of(statement), now);
  schedule_hand_over(index);
  kept.keep(statement);
}

void State::Impl::restore_segment(const SegmentRecord& segment) {
  const SegmentOpened& opened = segment.live.opened;
  for (const NodeShare& share : opened.nodes) node_of(share.node).jobs.push_back(opened.key.job);
  if (!segment.counts()) return;
  fold_segment(1, segment);
  if (!opened.placement.empty()) {
    PlacementHistory& placement = placement_of(opened.placement);
    ++placement.uses;
    placement.told_since = std::min(placement.told_since, opened.begin);
  }
  if (opened.key.kind == SegmentKind::wait) return change_wait(segment, opened.begin, 1);
  for (const NodeShare& share : opened.nodes) {
    Node& node = node_of(share.node);
    node.change_claimed(opened.begin, share.processors);
    if (segment.live.end) node.change_claimed(*segment.live.end, {-share.processors.value});
  }
}

void State::Impl::restore_placement(const PlacementResolved& fact) {
  placement_of(fact.placement).insert(fact, indices_of(fact));
}

// Only when all claims are known can be told what each holds. Where nothing is shared that is what it claims.
void State::Impl::restore_runs() {
  const Instant since = remembered_since();
  std::vector<bool> shared;
  shared.reserve(nodes.size());
  for (const Node& node : nodes) shared.push_back(node.is_shared_since(since, {}));
  for_each_remembered([&](const SegmentRecord& run) {
    if (run.live.opened.key.kind != SegmentKind::run || run.end() <= since) return;
    const OrgId organization = organization_of(run);
    Work alone{{}, std::max(run.live.opened.begin, since), run.end()};
    for (const NodeShare& share : run.live.opened.nodes) {
      const std::uint32_t index = index_of(share.node);
      if (shared[index]) continue;
      alone.processors += share.processors;
      fold_pieces(1, nodes[index], organization, {share.processors, alone.begin, alone.end});
    }
    if (alone.processors.value > 0) fold_running(1, run, alone);
  });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (shared[i]) fold_node(1, nodes[i], since);
  }
}

void State::Impl::restore_offers() {
  for (const Node& node : nodes) emit_offers(node, k_beginning_of_time, 1);
  for (auto& [name, placement] : placements) {
    if (placement.told_since < horizon) placement.told_since = k_beginning_of_time;
  }
}

std::string State::save(const std::atomic<bool>* stop) const {
  impl_->put_back_held();
  TextWriter out;
  out.line(k_format).number(k_version);
  out.line("present").instant(impl_->now).instant(impl_->horizon).instant(impl_->first_event);
  write_facts(out, *impl_);
  write_nodes(out, *impl_);
  write_placements(out, *impl_);
  write_kept(out, impl_->kept, std::type_identity<Event>{});
  impl_->got_by_forgotten().save(out);
  write_levels(out, impl_->levels);
  write_forgotten_starts(out, impl_->forgotten_starts);
  write_jobs(out, impl_->jobs, stop);
  if (is_set(stop)) return {};
  write_estimators(out, *impl_);
  return out.finish();
}

Expected<State> State::load(std::string_view text, StateOptions options, const std::atomic<bool>* stop) {
  State state(options);
  SHAPLEY_TRY(Loader(text, *state.impl_, stop).run());
  return state;
}

}  // namespace shapley::accounting
