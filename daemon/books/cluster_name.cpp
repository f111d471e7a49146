#include "daemon/books/cluster_name.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace shapley::daemon {

using accounting::ClusterNamed;

Expected<void> ClusterName::admit(const protocol::Hello& hello, bool is_connected, Instant now) {
  if (name().empty()) first_ = hello.cluster;
  if (!is_ours(hello.cluster)) return refuse(hello, false, now);
  if (is_second(hello, is_connected, now)) return refuse(hello, true, now);
  note_let_in(hello);
  return {};
}

void ClusterName::note_let_in(const protocol::Hello& hello) {
  KeptFeeder let_in{hello.state_location, hello.state_location_id};
  if (let_in.state_location_id.empty()) return;
  is_recalled_ = false;
  seconds_.erase(let_in.state_location_id);
  if (feeder_.value() == let_in) return;
  feeder_.set(std::move(let_in));
  (void)feeder_.write();  // the next attempt reports why it failed
}

bool ClusterName::is_second(const protocol::Hello& hello, bool is_connected, Instant now) {
  constexpr std::size_t k_most_seconds = 100;
  const std::string& id = hello.state_location_id;
  const auto& first = feeder_.value();
  if (id.empty() || !first || id == first->state_location_id) return false;
  // The host may have booted meanwhile, and numbers its devices otherwise.
  if (is_recalled_) return hello.state_location != first->state_location && now < started_at_ + k_patience;
  if (is_connected) {
    if (seconds_.size() >= k_most_seconds) seconds_.clear();
    seconds_[id] = now;
    return true;
  }
  const auto known = seconds_.find(id);
  return known != seconds_.end() && now < known->second + k_patience;
}

tl::unexpected<Error> ClusterName::refuse(const protocol::Hello& hello, bool is_second, Instant now) {
  std::string why =
      is_second ? fmt::format(
                      "the slurmctld of cluster '{}' whose StateSaveLocation is {} feeds these books; this is a second "
                      "one, whose StateSaveLocation is {}: give this slurmctld a shapleyd of its own, or take the "
                      "plugin out of its slurm.conf; where it replaces the first one, it is admitted {} minutes after "
                      "that one has gone, or at a start of shapleyd without {}",
                      name(), feeder_.value()->state_location, hello.state_location, k_patience.value / 60,
                      feeder_.path().string())
                : fmt::format(
                      "these are the books of cluster '{}', not of '{}': give its slurmctld a shapleyd of its own, or "
                      "take the plugin out of its slurm.conf; if the cluster was renamed: shapleyctl rename-cluster",
                      name(), hello.cluster);
  const std::string location = is_second ? hello.state_location : std::string();
  if (!refused_ || refused_->cluster != hello.cluster || refused_->state_location != location) {
    refused_ = Refused{.cluster = hello.cluster, .state_location = location, .times = 0, .first = now, .last = now};
  }
  constexpr std::size_t k_most_logged = 100;
  const std::string who = hello.cluster + '\n' + (is_second ? hello.state_location_id : std::string());
  if (logged_.size() < k_most_logged && logged_.insert(who).second) {
    spdlog::warn("server: a feeder was refused: {}; this is said once of each", why);
  }
  ++refusals_;
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
  if (named.cluster == name())
    return fail(Errc::invalid_argument, fmt::format("the cluster is called '{}' already", name()));
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
