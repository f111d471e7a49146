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
    facts.ownership[facts.nodes.number_of(e.node)][e.effective] = e.spans;
  }
  void operator()(const accounting::CapacityChanged& e) const {
    facts.whole_nodes[facts.nodes.number_of(e.node)][{e.at, e.ordinal}] = e.whole.value;
  }
  void operator()(const accounting::PeriodDeclared& e) const { facts.periods[e.at] = e.period; }
  void operator()(const accounting::ConfigurationLoaded& e) const { facts.configurations[e.at] = e.text; }
  void operator()(const accounting::JobDescribed& e) const {
    if (e.array_job != 0 && e.array_task) facts.array_tasks[{e.array_job, *e.array_task}] = e.job;
  }
  // Other kinds (the order of organizations) have no part in psi, phi by direct_contr or Slurm's
  // records.
  template <typename Fact>
  void operator()(const Fact& /*e*/) const {}
};

}  // namespace

void Facts::add(const accounting::Event& event) {
  std::visit(Add{*this}, event);
}

}  // namespace shapley::ledger
