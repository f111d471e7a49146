#include "scenario.hpp"

#include <algorithm>
#include <utility>

#include "base/rng.hpp"

namespace shapley::accounting::scenario {

namespace {

const std::vector<std::string> k_nodes{"n1", "n2", "n3"};
constexpr std::uint32_t k_first_task = 200;  // numbers of arrays' tasks, above those of the other jobs

// A run is cut into pieces; between them it is suspended for `gap` seconds.
struct RunPiece {
  int length = 0;
  int gap = 0;
  int processors = 1;
  // What it has of each of its nodes; without CPUs that is not known.
  int cpus = 0;
  int memory = 0;
  int gpus = 0;
};

// What a run says of its release.
enum class Says { nothing, as_it_waited, earlier };

struct JobPlan {
  int organization = 0;
  int eligible = 0;
  int wait = 0;
  bool waits = true;  // its wait is booked
  Says says = Says::as_it_waited;
  int tasks = 0;           // of an array, which wait as its record; 0: not an array
  int apart = 0;           // one task starts so much later than the one before
  bool changed = false;    // it asked for something else at first
  bool withdrawn = false;  // it asked for more than it needed, which was taken back
  bool starts = true;
  bool ends = true;
  bool retracted = false;
  bool fractional = false;
  int first_node = 0;
  int node_count = 1;
  int placement = 0;        // of its wait; 0: any node
  bool runs_placed = true;  // its runs are of that placement, too
  std::vector<RunPiece> pieces;
};

struct SpanPlan {
  int from = 0;
  int owner = 0;
  int second_owner = 0;
  int parts = 0;  // thirds of the node
};

struct StatementPlan {
  int node = 0;
  int effective = 0;
  std::vector<SpanPlan> spans;
};

struct CapacityPlan {
  int node = 0;
  int at = 0;
  int processors = 0;
  int more = 0;  // the whole node is worth so many more than it offers; below 0: not known
  // What the node has. Without CPUs they are not counted.
  int cpus = 0;
  int memory = 0;
  int gpus = 0;
  bool usable = true;
};

struct PlacementPlan {
  int placement = 1;
  int at = 0;
  int ordinal = 0;
  int nodes = 0;  // a bit for each
};

struct DefinitionPlan {
  int at = 0;
  JobsStart jobs = JobsStart::whole;
  std::vector<int> kinds;  // by node; the further ones are not listed
};

struct SettlementPlan {
  int at = 0;
  int from = 0;
  int further = 1;  // the one that got it comes so much later among organizations and guests
  int work = 1;
  bool reversed = false;
};

struct PeriodPlan {
  int at = 0;
  Period period = Period::none;
};

// "o00", "o01", ...; the one after the last is guests.
std::string organization(const Shape& shape, int index) {
  if (index >= shape.organizations) return std::string(k_guests);
  return "o" + std::to_string(index / 10) + std::to_string(index % 10);
}

std::string placement(int number) {
  return number == 0 ? "" : "partition=p" + std::to_string(number);
}

std::vector<Resource> gpus(int count) {
  return count == 0 ? std::vector<Resource>{} : std::vector<Resource>{{"gres/gpu", count}};
}

// RapidCheck scales ranges and lengths with the size of a test; here every test may use all of them.
rc::Gen<int> uniform(int low, int high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

template <typename T>
rc::Gen<std::vector<T>> some_of(int most, const rc::Gen<T>& item) {
  return rc::gen::resize(most, rc::gen::container<std::vector<T>>(item));
}

rc::Gen<RunPiece> run_pieces() {
  return rc::gen::build<RunPiece>(
      rc::gen::set(&RunPiece::length, uniform(0, 14)), rc::gen::set(&RunPiece::gap, uniform(0, 4)),
      rc::gen::set(&RunPiece::processors, uniform(1, 5)), rc::gen::set(&RunPiece::cpus, uniform(0, 6)),
      rc::gen::set(&RunPiece::memory, uniform(0, 9)), rc::gen::set(&RunPiece::gpus, uniform(0, 3)));
}

rc::Gen<JobPlan> job_plans(const Shape& shape) {
  return rc::gen::build<JobPlan>(
      rc::gen::set(&JobPlan::organization, uniform(0, shape.organizations + 1)),
      rc::gen::set(&JobPlan::eligible, uniform(0, 30)), rc::gen::set(&JobPlan::wait, uniform(0, 8)),
      rc::gen::set(&JobPlan::waits, rc::gen::weightedElement<bool>({{3, true}, {1, false}})),
      rc::gen::set(&JobPlan::says,
                   rc::gen::weightedElement<Says>({{4, Says::as_it_waited}, {1, Says::nothing}, {1, Says::earlier}})),
      rc::gen::set(&JobPlan::tasks, rc::gen::weightedElement<int>({{6, 0}, {1, 1}, {1, 2}, {1, 3}})),
      rc::gen::set(&JobPlan::apart, uniform(0, 4)),
      rc::gen::set(&JobPlan::changed, rc::gen::weightedElement<bool>({{1, true}, {5, false}})),
      rc::gen::set(&JobPlan::withdrawn, rc::gen::weightedElement<bool>({{1, true}, {5, false}})),
      rc::gen::set(&JobPlan::starts, rc::gen::weightedElement<bool>({{5, true}, {1, false}})),
      rc::gen::set(&JobPlan::ends, rc::gen::weightedElement<bool>({{3, true}, {1, false}})),
      rc::gen::set(&JobPlan::retracted, rc::gen::weightedElement<bool>({{1, true}, {5, false}})),
      rc::gen::set(&JobPlan::fractional, rc::gen::arbitrary<bool>()), rc::gen::set(&JobPlan::first_node, uniform(0, 3)),
      rc::gen::set(&JobPlan::node_count, uniform(1, 4)), rc::gen::set(&JobPlan::placement, uniform(0, 4)),
      rc::gen::set(&JobPlan::runs_placed, rc::gen::weightedElement<bool>({{3, true}, {1, false}})),
      rc::gen::set(&JobPlan::pieces, some_of(3, run_pieces())));
}

rc::Gen<StatementPlan> statement_plans(const Shape& shape) {
  const auto span = rc::gen::build<SpanPlan>(rc::gen::set(&SpanPlan::from, uniform(-5, 36)),
                                             rc::gen::set(&SpanPlan::owner, uniform(0, shape.organizations)),
                                             rc::gen::set(&SpanPlan::second_owner, uniform(0, shape.organizations)),
                                             rc::gen::set(&SpanPlan::parts, uniform(0, 4)));
  return rc::gen::build<StatementPlan>(rc::gen::set(&StatementPlan::node, uniform(0, 3)),
                                       rc::gen::set(&StatementPlan::effective, uniform(0, 36)),
                                       rc::gen::set(&StatementPlan::spans, some_of(4, span)));
}

rc::Gen<CapacityPlan> capacity_plans() {
  return rc::gen::build<CapacityPlan>(
      rc::gen::set(&CapacityPlan::node, uniform(0, 3)), rc::gen::set(&CapacityPlan::at, uniform(0, 36)),
      rc::gen::set(&CapacityPlan::processors, uniform(0, 9)), rc::gen::set(&CapacityPlan::more, uniform(-3, 6)),
      rc::gen::set(&CapacityPlan::cpus, uniform(-3, 8)), rc::gen::set(&CapacityPlan::memory, uniform(0, 9)),
      rc::gen::set(&CapacityPlan::gpus, uniform(0, 4)),
      rc::gen::set(&CapacityPlan::usable, rc::gen::weightedElement<bool>({{3, true}, {1, false}})));
}

rc::Gen<PlacementPlan> placement_plans() {
  return rc::gen::build<PlacementPlan>(
      rc::gen::set(&PlacementPlan::placement, uniform(1, 4)), rc::gen::set(&PlacementPlan::at, uniform(0, 36)),
      rc::gen::set(&PlacementPlan::ordinal, uniform(0, 2)), rc::gen::set(&PlacementPlan::nodes, uniform(0, 8)));
}

rc::Gen<PeriodPlan> period_plans() {
  return rc::gen::build<PeriodPlan>(
      rc::gen::set(&PeriodPlan::at, uniform(0, 30)),
      rc::gen::set(&PeriodPlan::period,
                   rc::gen::weightedElement<Period>(
                       {{1, Period::none}, {4, Period::monthly}, {2, Period::quarterly}, {1, Period::yearly}})));
}

rc::Gen<DefinitionPlan> definition_plans() {
  return rc::gen::build<DefinitionPlan>(
      rc::gen::set(&DefinitionPlan::at, rc::gen::weightedOneOf<int>({{1, rc::gen::just(-1)}, {1, uniform(0, 36)}})),
      rc::gen::set(&DefinitionPlan::jobs,
                   rc::gen::weightedElement<JobsStart>({{4, JobsStart::whole}, {1, JobsStart::parts}})),
      rc::gen::set(&DefinitionPlan::kinds, some_of(3, uniform(0, 4))));
}

rc::Gen<SettlementPlan> settlement_plans(const Shape& shape) {
  return rc::gen::build<SettlementPlan>(
      rc::gen::set(&SettlementPlan::at, uniform(0, 36)),
      rc::gen::set(&SettlementPlan::from, uniform(0, shape.organizations + 1)),
      rc::gen::set(&SettlementPlan::further, uniform(1, shape.organizations + 1)),
      rc::gen::set(&SettlementPlan::work, uniform(1, 100)),
      rc::gen::set(&SettlementPlan::reversed, rc::gen::weightedElement<bool>({{2, false}, {1, true}})));
}

// Turns plans into events.
class Writer {
 public:
  explicit Writer(const Shape& shape) : shape_(shape) {}

  void add(const JobPlan& plan, JobId job) {
    const int starts = plan.eligible + plan.wait;
    if (plan.tasks > 0) return add_array(plan, job);
    const std::int64_t wanted = 1 + static_cast<std::int64_t>(plan.pieces.size());
    SegmentKey wait{SegmentKind::wait, job, shape_.at(plan.eligible), 0};
    int from = plan.eligible;
    if (plan.waits && plan.changed) {
      open_wait(plan, wait, from, wanted + 1);
      close_wait(wait, from += plan.wait / 2, CloseReason::changed);
      ++wait.ordinal;
    }
    if (plan.waits) add_wait(plan, wait, from, wanted);
    if (!plan.starts) return;
    if (plan.waits) close_wait(wait, starts, CloseReason::started);
    add_runs(plan, job, {}, starts);
  }

  void add(const StatementPlan& plan) {
    OwnershipStated stated{k_nodes[static_cast<std::size_t>(plan.node)], shape_.at(plan.effective), {}};
    for (const SpanPlan& span : plan.spans) {
      OwnershipSpan& s = stated.spans.emplace_back(OwnershipSpan{shape_.at(span.from), {}});
      const std::int64_t parts = span.parts == 3 ? 1'000'000 : 333'333 * span.parts;
      if (span.parts > 0) s.owners.push_back({organization(shape_, span.owner), parts});
      if (span.parts == 1 && span.owner != span.second_owner) {
        s.owners.push_back({organization(shape_, span.second_owner), 500'000});
      }
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.from < b.from; };
    std::stable_sort(stated.spans.begin(), stated.spans.end(), earlier);
    const auto same_begin = [](const auto& a, const auto& b) { return a.from == b.from; };
    stated.spans.erase(std::unique(stated.spans.begin(), stated.spans.end(), same_begin), stated.spans.end());
    events_.push_back(std::move(stated));
  }

  void add(const CapacityPlan& plan) {
    const std::string& node = k_nodes[static_cast<std::size_t>(plan.node)];
    CapacityChanged changed{.node = node, .at = shape_.at(plan.at), .processors = {k_micro * plan.processors}};
    if (shape_.sharing && plan.more >= 0) changed.whole = {k_micro * (plan.processors + plan.more)};
    if (shape_.counting && plan.cpus > 0) {
      changed.cpus = static_cast<std::uint32_t>(plan.cpus);
      changed.memory = plan.memory;
      changed.gres = gpus(plan.gpus);
      changed.usable_cpus = plan.usable ? changed.cpus : 0;
    }
    events_.push_back(std::move(changed));
  }

  void add(const PlacementPlan& plan) {
    std::string nodes;
    for (std::size_t i = 0; i < k_nodes.size(); ++i) {
      if ((plan.nodes >> i & 1) != 0) nodes += (nodes.empty() ? "" : ",") + k_nodes[i];
    }
    const auto ordinal = static_cast<std::uint32_t>(plan.ordinal);
    events_.push_back(PlacementResolved{placement(plan.placement), shape_.at(plan.at), ordinal, nodes});
  }

  void add(const SettlementPlan& plan) {
    const std::string to = organization(shape_, (plan.from + plan.further) % (shape_.organizations + 1));
    const CpuTime work{Int128{1'000'003} * plan.work};
    WorkSettled settled{++adjustments_, shape_.at(plan.at), organization(shape_, plan.from), to, work};
    events_.push_back(settled);
    if (!plan.reversed) return;
    settled.adjustment = ++adjustments_;
    settled.work = -work;
    events_.push_back(settled);
  }

  void add(const DefinitionPlan& plan) {
    HindsightDefined defined{
        Instant{shape_.at(0).value + std::min(plan.at, k_steps) * shape_.step.value}, plan.jobs, {}};
    for (std::size_t i = 0; i < std::min(plan.kinds.size(), k_nodes.size()); ++i) {
      const auto kind = static_cast<std::size_t>(plan.kinds[i]);
      if (kind == 0) continue;
      if (defined.kinds.size() < kind) defined.kinds.resize(kind);
      defined.kinds[kind - 1] += (defined.kinds[kind - 1].empty() ? "" : ",") + k_nodes[i];
    }
    events_.push_back(std::move(defined));
  }

  void add(const PeriodPlan& plan) { events_.push_back(PeriodDeclared{shape_.at(plan.at), plan.period}); }

  void declare_organizations() {
    OrganizationsDeclared declared{shape_.at(0), {}};
    for (int i = shape_.organizations; i-- > 0;) declared.names.push_back(organization(shape_, i));
    events_.push_back(std::move(declared));
  }

  void keep_waiting() {
    for (int i = 0; i < shape_.always_waiting; ++i) {
      const SegmentKey key{SegmentKind::wait, {static_cast<std::uint32_t>(900 + i)}, shape_.at(0), 0};
      events_.push_back(SegmentOpened{key, organization(shape_, i), shape_.at(0), {k_micro}, {}});
    }
  }

  [[nodiscard]] std::vector<Event> events() && { return std::move(events_); }

 private:
  SegmentOpened run(const JobPlan& plan, const SegmentKey& key, Instant begin, const RunPiece& piece) const {
    SegmentOpened opened{key, organization(shape_, plan.organization), begin, {}, {}};
    if (plan.runs_placed) opened.placement = placement(plan.placement);
    for (int n = plan.first_node; n < std::min(plan.first_node + plan.node_count, 3); ++n) {
      const ProcessorMillionths here{plan.fractional ? 333'333 * piece.processors + n : k_micro * piece.processors};
      opened.nodes.push_back({k_nodes[static_cast<std::size_t>(n)], here, static_cast<std::uint32_t>(piece.cpus),
                              piece.memory, gpus(piece.gpus)});
      opened.processors += here;
    }
    return opened;
  }

  void open_wait(const JobPlan& plan, const SegmentKey& key, int begin, std::int64_t processors) {
    SegmentOpened opened{key,
                         organization(shape_, plan.organization),
                         shape_.at(begin),
                         {k_micro * processors},
                         {},
                         placement(plan.placement)};
    if (plan.tasks > 0) opened.tasks = static_cast<std::uint32_t>(processors);
    events_.push_back(std::move(opened));
  }

  void close_wait(const SegmentKey& key, int end, CloseReason reason) {
    events_.push_back(SegmentClosed{key, shape_.at(end), reason, "RUNNING"});
  }

  // What was withdrawn is retracted; what is left has the next key.
  void add_wait(const JobPlan& plan, SegmentKey& key, int begin, std::int64_t processors) {
    if (plan.withdrawn) {
      open_wait(plan, key, begin, processors + 2);
      events_.push_back(SegmentRetracted{key, shape_.at(begin + plan.wait)});
      ++key.ordinal;
    }
    open_wait(plan, key, begin, processors);
  }

  // Its tasks start one after the other out of one wait, which is of one processor for each that is left: jobs of their
  // own except the last one, which keeps the number of the array. One that does not start waits on.
  void add_array(const JobPlan& plan, JobId array) {
    SegmentKey wait{SegmentKind::wait, array, shape_.at(plan.eligible), 0};
    int from = plan.eligible;
    for (int left = plan.tasks + (plan.starts ? 0 : 1); left > 0; --left) {
      if (plan.waits) add_wait(plan, wait, from, left);
      if (left == 1 && !plan.starts) return;
      const int start = from + (from == plan.eligible ? plan.wait : plan.apart);
      if (plan.waits) close_wait(wait, start, left == 1 ? CloseReason::started : CloseReason::changed);
      ++wait.ordinal;
      const JobId task{k_first_task + 4 * array.value + static_cast<std::uint32_t>(left)};
      add_runs(plan, left == 1 ? array : task, left == 1 || !plan.waits ? JobId{} : array, start);
      from = start;
    }
  }

  void say_release(const JobPlan& plan, JobId waited_as, SegmentOpened& run) const {
    if (plan.says == Says::nothing) return;
    const int early = plan.says == Says::earlier ? 1 + plan.apart : 0;
    run.released = shape_.at(std::max(plan.eligible - early, 0));
    run.waited_as = waited_as;
  }

  void add_runs(const JobPlan& plan, JobId job, JobId waited_as, int start) {
    int t = start;
    const Instant anchor = shape_.at(t);
    std::uint32_t ordinal = 0;
    for (const RunPiece& piece : plan.pieces) {
      const SegmentKey key{SegmentKind::run, job, anchor, ordinal++};
      SegmentOpened opened = run(plan, key, shape_.at(t), piece);
      if (key.ordinal == 0) say_release(plan, waited_as, opened);
      events_.push_back(std::move(opened));
      const bool last = ordinal == plan.pieces.size();
      if (!last || plan.ends) {
        t += piece.length;
        const CloseReason reason = last ? CloseReason::ended : CloseReason::suspended;
        events_.push_back(SegmentClosed{key, shape_.at(t), reason, "SUSPENDED"});
      }
      if (last && plan.retracted) events_.push_back(SegmentRetracted{key, shape_.at(t + 1)});
      t += piece.gap;
    }
  }

  Shape shape_;
  std::vector<Event> events_;
  std::uint32_t adjustments_ = 0;
};

template <typename Plan, typename Identity>
std::vector<Plan> without_contradictions(std::vector<Plan> plans, Identity identity) {
  std::vector<Plan> kept;
  for (Plan& plan : plans) {
    if (std::none_of(kept.begin(), kept.end(), [&](const Plan& k) { return identity(k) == identity(plan); })) {
      kept.push_back(std::move(plan));
    }
  }
  return kept;
}

using Plans =
    std::tuple<std::vector<JobPlan>, std::vector<StatementPlan>, std::vector<CapacityPlan>, std::vector<PeriodPlan>,
               std::vector<PlacementPlan>, std::vector<SettlementPlan>, std::vector<DefinitionPlan>>;

Scenario scenario_of(const Shape& shape, const Plans& plans) {
  const auto& [jobs, statements, capacities, periods, placements, settlements, definitions] = plans;
  Writer writer(shape);
  writer.declare_organizations();
  writer.keep_waiting();
  std::uint32_t id = 1;
  for (const JobPlan& plan : jobs) writer.add(plan, JobId{id++});
  const auto place = [](const auto& plan) { return std::pair(plan.node, plan.effective); };
  for (const StatementPlan& plan : without_contradictions(statements, place)) writer.add(plan);
  const auto moment = [](const auto& plan) { return std::pair(plan.node, plan.at); };
  for (const CapacityPlan& plan : without_contradictions(capacities, moment)) writer.add(plan);
  const auto instant = [](const auto& plan) { return plan.at; };
  for (const PeriodPlan& plan : without_contradictions(periods, instant)) writer.add(plan);
  const auto resolution = [](const auto& plan) { return std::tuple(plan.placement, plan.at, plan.ordinal); };
  for (const PlacementPlan& plan : without_contradictions(placements, resolution)) writer.add(plan);
  for (const SettlementPlan& plan : settlements) writer.add(plan);
  for (const DefinitionPlan& plan : without_contradictions(definitions, instant)) writer.add(plan);
  return {std::move(writer).events()};
}

}  // namespace

rc::Gen<Scenario> arbitrary(Shape shape) {
  const auto plans =
      rc::gen::tuple(some_of(14, job_plans(shape)), some_of(7, statement_plans(shape)), some_of(7, capacity_plans()),
                     some_of(shape.declarations, period_plans()), some_of(5, placement_plans()),
                     some_of(3, settlement_plans(shape)), some_of(3, definition_plans()));
  return rc::gen::map(plans, [shape](const Plans& p) { return scenario_of(shape, p); });
}

std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  for (const Event& event : scenario.events) {
    out << event_key(event) << " at " << time_of(event).value - k_begin.value;
    if (const auto* opened = std::get_if<SegmentOpened>(&event)) {
      out << " by " << opened->organization << " of " << opened->processors.value;
      if (!opened->placement.empty()) out << " in " << opened->placement;
      if (opened->released) out << " released at " << opened->released->value - k_begin.value;
      if (opened->waited_as.value != 0) out << " as " << opened->waited_as.value;
      if (opened->tasks != 0) out << " of " << opened->tasks << " tasks";
      for (const NodeShare& share : opened->nodes) {
        out << ' ' << share.node << ':' << share.processors.value << " (" << share.cpus << " CPUs, memory "
            << share.memory << ", GPUs " << (share.gres.empty() ? 0 : share.gres.front().count) << ')';
      }
    }
    if (const auto* node = std::get_if<CapacityChanged>(&event)) {
      out << " offers " << node->processors.value << " of " << node->whole.value << "; " << node->cpus
          << " CPUs, memory " << node->memory << ", GPUs " << (node->gres.empty() ? 0 : node->gres.front().count);
      if (node->usable_cpus) out << ", usable " << *node->usable_cpus;
    }
    if (const auto* settled = std::get_if<WorkSettled>(&event))
      out << " from " << settled->from << " to " << settled->to << ' ' << to_string(settled->work.value);
    if (const auto* placed = std::get_if<PlacementResolved>(&event)) out << " on " << placed->nodes;
    if (const auto* defined = std::get_if<HindsightDefined>(&event)) {
      out << ' ' << name_of(defined->jobs);
      for (const std::string& nodes : defined->kinds) out << " {" << nodes << '}';
    }
    if (const auto* stated = std::get_if<OwnershipStated>(&event)) {
      for (const OwnershipSpan& span : stated->spans) {
        out << " from " << span.from.value - k_begin.value;
        for (const OwnerPart& part : span.owners) out << ' ' << part.organization << ':' << part.parts_per_million;
      }
    }
    out << '\n';
  }
  return out;
}

std::vector<Event> shuffled(std::vector<Event> events) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  rng.shuffle(std::span<Event>(events));
  return events;
}

void apply_all(State& state, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto applied = state.apply(event);
    if (!applied) RC_FAIL(applied.error().what);
    RC_ASSERT(*applied != Applied::needs_replay);
  }
}

std::map<std::string, std::string> rows_as_text(const State& state, const std::vector<Standing>& standings,
                                                std::span<const std::string_view> estimators) {
  std::map<std::string, std::string> rows;
  for (const Standing& s : standings) {
    std::string& row = rows[state.organizations()[s.organization.value]];
    for (const Int128 value :
         {s.psi.value, s.got.value, Int128{s.charged.value}, Int128{s.owned.value}, Int128{s.used.value},
          Int128{s.waiting.value}, Int128{s.lent.value}, Int128{s.borrowed.value}}) {
      row += to_string(value) + ' ';
    }
    for (const std::string_view name : estimators) {
      const EstimatorId e = parse_estimator(name).value();
      row += std::string(name) + ' ' + to_string(s.phi(e).value) + ' ' + to_string(s.given(e).value) + ' ';
    }
  }
  return rows;
}

}  // namespace shapley::accounting::scenario
