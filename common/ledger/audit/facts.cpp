#include "ledger/audit/facts.hpp"

#include <algorithm>
#include <variant>

namespace shapley::ledger {

namespace {

struct Add {
  Facts& facts;

  void operator()(const accounting::SegmentOpened& e) const {
    SegmentFacts& segment = facts.segments[e.key];
    segment.begin = e.begin;
    segment.organization = facts.organizations.number_of(e.organization);
    segment.processors = e.processors;
    for (const accounting::NodeShare& share : e.nodes) {
      segment.nodes.emplace_back(facts.nodes.number_of(share.node), share.processors);
    }
    const auto known = [](const accounting::NodeShare& share) { return share.cpus > 0; };
    if (!std::all_of(e.nodes.begin(), e.nodes.end(), known)) return;
    for (const accounting::NodeShare& share : e.nodes) segment.cpus += share.cpus;
  }
  void operator()(const accounting::SegmentClosed& e) const {
    SegmentFacts& segment = facts.segments[e.key];
    segment.end = e.end;
    segment.reason = e.reason;
  }
  void operator()(const accounting::SegmentRetracted& e) const { facts.segments[e.key].retracted = e.at; }
  void operator()(const accounting::OwnershipStated& e) const {
    const std::uint32_t node = facts.nodes.number_of(e.node);
    const auto known = facts.revisions.find({node, e.effective});
    if (known != facts.revisions.end() && known->second > e.revision) return;
    facts.revisions[{node, e.effective}] = e.revision;
    facts.ownership[node][e.effective] = e.spans;
  }
  void operator()(const accounting::AdjustmentMade& e) const { facts.adjustments[e.number] = e; }
  void operator()(const accounting::WorkSettled& e) const { facts.settled[e.adjustment] = e; }
  void operator()(const accounting::CapacityChanged& e) const {
    facts.whole_nodes[facts.nodes.number_of(e.node)][{e.at, e.ordinal}] = e.whole.value;
  }
  void operator()(const accounting::PeriodDeclared& e) const { facts.periods[e.at] = e.period; }
  void operator()(const accounting::ConfigurationLoaded& e) const { facts.configurations[e.at] = e.text; }
  void operator()(const accounting::ObservationGap& e) const {
    if (e.cause != accounting::GapCause::slurmctld_down) facts.gaps.push_back(e);
  }
  void operator()(const accounting::StateLost& e) const { facts.losses.push_back(e); }
  void operator()(const accounting::JobDescribed& e) const {
    if (e.array_job != 0 && e.array_task) facts.array_tasks[{e.array_job, *e.array_task}] = e.job;
  }
  void operator()(const accounting::JobChanged& e) const {
    if (e.array_job != 0 && e.array_task) facts.array_tasks[{e.array_job, *e.array_task}] = e.job;
  }
  // Other kinds (the order of organizations) have no part in psi, phi by direct_contr or Slurm's
  // records.
  template <typename Fact>
  void operator()(const Fact& /*e*/) const {}
};

bool is_run(const accounting::SegmentKey& key) {
  return key.kind == accounting::SegmentKind::run;
}

struct Survey {
  Facts& facts;

  void operator()(const accounting::SegmentOpened& e) const {
    facts.organizations.number_of(e.organization);
    for (const accounting::NodeShare& share : e.nodes) facts.nodes.number_of(share.node);
  }
  void operator()(const accounting::SegmentRetracted& e) const {
    if (is_run(e.key)) Add{facts}(e);
  }
  void operator()(const accounting::CapacityChanged& e) const { facts.nodes.number_of(e.node); }
  void operator()(const accounting::OwnershipStated& e) const { Add{facts}(e); }
  void operator()(const accounting::PeriodDeclared& e) const { Add{facts}(e); }
  void operator()(const accounting::ObservationGap& e) const {
    if (e.cause == accounting::GapCause::events_lost) Add{facts}(e);
  }
  void operator()(const accounting::AdjustmentMade& e) const {
    if (!e.organization.empty()) facts.organizations.number_of(e.organization);
    if (!e.into.empty()) facts.organizations.number_of(e.into);
    Add{facts}(e);
  }
  void operator()(const accounting::WorkSettled& e) const {
    facts.organizations.number_of(e.from);
    facts.organizations.number_of(e.to);
    Add{facts}(e);
  }
  template <typename Fact>
  void operator()(const Fact& /*e*/) const {}
};

struct Follow {
  Facts& facts;

  void operator()(const accounting::SegmentOpened& e) const {
    if (is_run(e.key)) Add{facts}(e);
  }
  void operator()(const accounting::SegmentClosed& e) const {
    if (is_run(e.key)) Add{facts}(e);
  }
  void operator()(const accounting::CapacityChanged& e) const { Add{facts}(e); }
  template <typename Fact>
  void operator()(const Fact& /*e*/) const {}
};

// Whether no event after `settled` can be about the segment, and it holds nothing from then on.
bool is_over(const accounting::SegmentKey& key, const SegmentFacts& segment, Instant settled) {
  if (segment.begin && segment.retracted && *segment.retracted <= settled) return true;
  if (!segment.end) return false;
  // An end without a begin is kept until no segment of its key can begin any more.
  return segment.begin ? *segment.end <= settled : *segment.end < settled && key.anchor < settled;
}

}  // namespace

void Facts::survey(const accounting::Event& event) {
  std::visit(Survey{*this}, event);
}

Facts Facts::surveyed() const {
  Facts facts;
  facts.organizations = organizations;
  facts.nodes = nodes;
  facts.ownership = ownership;
  facts.revisions = revisions;
  facts.adjustments = adjustments;
  facts.settled = settled;
  facts.periods = periods;
  for (const auto& [key, segment] : segments) {
    if (is_run(key) && segment.retracted) facts.segments[key].retracted = segment.retracted;
  }
  return facts;
}

void Facts::follow(const accounting::Event& event) {
  std::visit(Follow{*this}, event);
}

void Facts::forget_before(Instant horizon) {
  std::erase_if(segments, [&](const auto& entry) { return is_over(entry.first, entry.second, horizon); });
  for (auto& [node, worths] : whole_nodes) {
    const auto later = worths.lower_bound({horizon, 0});
    if (later != worths.begin()) worths.erase(worths.begin(), std::prev(later));
  }
}

void Facts::add(const accounting::Event& event) {
  std::visit(Add{*this}, event);
}

}  // namespace shapley::ledger
