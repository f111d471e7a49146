#include "ledger/reports/node_use.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "accounting/state/state.hpp"
#include "base/contract.hpp"

namespace shapley::ledger {

namespace {

using accounting::LiveSegment;
using accounting::NodeShare;
using accounting::NodeStretch;

std::int64_t gpus_of(const std::vector<Resource>& resources) {
  const auto gpu = std::ranges::find(resources, "gres/gpu", &Resource::name);
  return gpu == resources.end() ? 0 : gpu->count;
}

// Releases that did not record what a run or a node has, recorded no CPUs either.
bool is_recorded(const NodeShare& share) {
  return share.cpus > 0;
}

// Whose parts of a node, in the order of time.
struct OwnersThen {
  Instant begin, end;
  std::vector<std::pair<OrgId, std::int64_t>> owners;
};

// Adds up what the runs of some time had, node by node.
class Uses {
 public:
  Uses(NodeUse& use, Instant from, Instant until) : use_(use), from_(from), until_(until) {}

  void add(const NodeStretch& node) {
    const Duration length = node.end - node.begin;
    node.split(node.whole, [&](OrgId owner, ProcessorMillionths part) { use_.whole[owner.value] += part * length; });
    const bool is_unknown = node.known != nullptr && node.known->cpus == 0 && node.known->whole.value == 0 &&
                            node.known->processors.value == 0;
    const Int128 gpus = node.known == nullptr ? 0 : gpus_of(node.known->gres);
    for (const auto& [owner, part] : node.owners) {
      if (is_unknown) use_.whole_not_known[owner.value] = true;
      use_.gpus[owner.value].configured += gpus * part * length.value;
    }
    owners_[node.node].push_back({node.begin, node.end, node.owners});
  }

  void add(const LiveSegment& run, OrgId organization) {
    for (const NodeShare& share : run.opened.nodes) {
      const auto known = owners_.find(share.node);
      if (known == owners_.end()) continue;
      const Int128 gpus = gpus_of(share.gres);
      for (const OwnersThen& then : known->second) {
        const Int128 length =
            (std::min(run.end.value_or(k_end_of_time), then.end) - std::max(run.opened.begin, then.begin)).value;
        if (length <= 0) continue;
        for (const auto& [owner, part] : then.owners) {
          if (!is_recorded(share)) use_.gpus_not_known[owner.value] = use_.gpus_not_known[organization.value] = true;
          const Int128 time = gpus * part * length;
          if (owner == organization) {
            use_.gpus[owner.value].own += time;
          } else {
            use_.gpus[owner.value].lent += time;
            use_.gpus[organization.value].borrowed += time;
          }
        }
      }
    }
  }

  [[nodiscard]] Expected<void> add_wait(PastBooks& books, const LiveSegment& run, OrgId organization) {
    const accounting::SegmentOpened& opened = run.opened;
    if (opened.begin < from_ || opened.begin >= until_) return {};
    // What follows a suspension or a change of size has another begin than the run.
    if (!opened.released && opened.begin != opened.key.anchor) return {};
    SHAPLEY_TRY_ASSIGN(std::string partition, books.partition_of(opened.key.job, opened.key.anchor));
    Waits& waits = use_.waits[{organization, std::move(partition), size_of(opened)}];
    if (opened.released)
      waits.seconds.push_back((opened.begin - *opened.released).value);
    else
      ++waits.not_known;
    return {};
  }

 private:
  // By the CPUs that it was given, or, where they are not recorded, by what it was charged.
  static std::size_t size_of(const accounting::SegmentOpened& run) {
    std::uint64_t cpus = 0;
    for (const NodeShare& share : run.nodes) cpus += share.cpus;
    if (!std::ranges::all_of(run.nodes, is_recorded))
      cpus = static_cast<std::uint64_t>((run.processors.value + k_micro - 1) / k_micro);
    return static_cast<std::size_t>(std::ranges::lower_bound(k_run_sizes, cpus) - k_run_sizes.begin());
  }

  NodeUse& use_;
  Instant from_, until_;
  std::map<std::string, std::vector<OwnersThen>, std::less<>> owners_ = {};
};

}  // namespace

std::string run_size_text(std::size_t size) {
  SHAPLEY_REQUIRE(size <= k_run_sizes.size());
  const std::string from = std::to_string(size == 0 ? 1 : k_run_sizes[size - 1] + 1);
  if (size == k_run_sizes.size()) return from + '-';
  const std::string to = std::to_string(k_run_sizes[size]);
  return from == to ? from : from + '-' + to;
}

Expected<void> NodeUse::collect(PastBooks& books, Instant from, Instant until) {
  const accounting::State& state = books.state();
  const std::size_t organizations = state.organizations().size();
  whole.resize(organizations);
  whole_not_known.resize(organizations);
  gpus.resize(organizations);
  gpus_not_known.resize(organizations);
  Uses uses(*this, from, until);
  state.visit_nodes(from, until, [&](const NodeStretch& node) { uses.add(node); });
  Expected<void> read;
  state.visit_runs(from, until, [&](const LiveSegment& run, OrgId organization) {
    uses.add(run, organization);
    if (read) read = uses.add_wait(books, run, organization);
  });
  return read;
}

}  // namespace shapley::ledger
