#include "daemon/books/cluster_name.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace shapley::daemon {

using accounting::ClusterNamed;

Expected<void> ClusterName::admit(const std::string& cluster, Instant now) {
  if (name().empty()) first_ = cluster;
  if (is_ours(cluster)) return {};
  std::string why = fmt::format(
      "these are the books of cluster '{}', not of '{}': give its slurmctld a shapleyd of its own, or take the plugin "
      "out of its slurm.conf; if the cluster was renamed: shapleyctl rename-cluster",
      name(), cluster);
  if (!refused_ || refused_->cluster != cluster) {
    refused_ = Refused{.cluster = cluster, .times = 0, .first = now, .last = now};
  }
  constexpr std::size_t k_most_names = 100;
  if (logged_.size() < k_most_names && logged_.insert(cluster).second) {
    spdlog::warn("server: a feeder was refused: {}; this is said once of each cluster", why);
  }
  ++refused_->times;
  refused_->last = now;
  return fail(Errc::denied, std::move(why));
}

Expected<void> ClusterName::state_first(Instant now) {
  if (first_.empty() || books_.state().cluster() != nullptr) return {};
  return books_.commit(std::vector<accounting::Event>{ClusterNamed{now, first_, "the first feeder", ""}}, now);
}

Expected<void> ClusterName::rename(ClusterNamed named) {
  if (named.cluster.empty()) return fail(Errc::invalid_argument, "the cluster needs a name");
  if (named.reason.empty()) return fail(Errc::invalid_argument, "a reason is needed; the ledger keeps it");
  if (named.cluster == name()) return fail(Errc::invalid_argument, "the cluster is called '" + name() + "' already");
  const ClusterNamed* last = books_.state().cluster();
  if (last != nullptr && last->at >= named.at) named.at = last->at + Duration{1};
  SHAPLEY_TRY(books_.commit(std::vector<accounting::Event>{named}, named.at));
  refused_.reset();
  logged_.clear();
  return {};
}

const std::string& ClusterName::name() const {
  const ClusterNamed* named = books_.state().cluster();
  return named == nullptr ? first_ : named->cluster;
}

}  // namespace shapley::daemon
