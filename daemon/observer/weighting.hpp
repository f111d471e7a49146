// From Slurm's counts to weighted micro-processors: the one place where the `weights` of the configuration are applied.
//
// One processor of weight 1 is 1,000,000 micro-processors. What a record asks for or holds is the sum over the weights
// of count * weight; resources without a weight count nothing. Results are bounded by k_max_weighted, so that sums over
// a whole cluster stay within the range of game/utility.hpp whatever a record claims. Immutable; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// A single job or node larger than this (a million weighted processors) is a misread record; it is cut to it.
inline constexpr MicroProcessors k_max_weighted{1'000'000 * k_micro};

// `micro` within 0 and that bound.
[[nodiscard]] MicroProcessors bounded(Int128 micro);

class Weighting {
 public:
  // TRES name -> weight (>= 0), as in config::Configuration::weights.
  explicit Weighting(std::vector<std::pair<std::string, std::int64_t>> weights = {{"cpu", 1}});

  // A node's capacity, usable or not.
  [[nodiscard]] MicroProcessors capacity_of(const protocol::NodeRecord& node) const;

  // The weighted request of one task; of a record that has started, with what was allocated of resources but cpus.
  [[nodiscard]] MicroProcessors task_of(const protocol::JobRecord& job) const;

  // Where a started job runs: cpus and generic resources as Slurm allocated them to each node. What the job's sums have
  // beyond these (resources with a type, whose weight Slurm tells for the job only) in proportion to the nodes' cpus,
  // by largest remainder (ties to the earlier name), so that the parts add up exactly; all of it is spread so where the
  // nodes' counts sum to more than the job's, as those that Slurm does not track do. Ascending by name, each node once,
  // no zero parts.
  [[nodiscard]] std::vector<accounting::NodeShare> shares_of(const protocol::JobRecord& job) const;

 private:
  [[nodiscard]] std::int64_t weight_of(std::string_view tres) const;
  [[nodiscard]] MicroProcessors others_of(const std::vector<protocol::Tres>& tres) const;

  std::vector<std::pair<std::string, std::int64_t>> weights_;
};

}  // namespace shapley::daemon
