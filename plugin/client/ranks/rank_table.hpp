// Ranks, rules and levels in the form that priority_p_set reads, and the order that follows from them.
//
// The tables are immutable. RankBoard holds the current ones; the feeder thread writes, any thread reads. Its mutex is
// held for the swap of a pointer or one classification, never for I/O or allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "plugin/client/places/places.hpp"
#include "plugin/client/shapley_client.h"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

// The levels of jobs, by id, as priority_p_set looks them up under slurmctld's locks: a flat open-addressing table, at
// most half full, so a lookup is one cache miss or two. Immutable; bounded by protocol::k_max_level_jobs (4 MiB).

class LevelTable {
 public:
  // All jobs have level 0.
  LevelTable() = default;
  // Errc::protocol for what no shapleyd sends: too many jobs, ids that are 0 or do not ascend, levels out of range.
  [[nodiscard]] static Expected<LevelTable> of(const std::vector<protocol::JobLevel>& jobs);

  // 0 for a job that is not listed. Does not allocate.
  [[nodiscard]] std::uint32_t level_of(std::uint32_t job_id) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  bool operator==(const LevelTable&) const = default;

 private:
  std::vector<protocol::JobLevel> slots_;  // a power of two or none; job_id 0: free
  std::size_t size_ = 0;
};

class RankTable {
 public:
  RankTable() = default;
  RankTable(const std::vector<protocol::Rule>& rules, const protocol::Ranks& ranks);

  // Position of the job's organization, 0 first; the last one if the organization is not in the list. Of several that
  // it may run for, by its requested partitions, the worst. Does not allocate.
  [[nodiscard]] std::uint32_t position_of(const protocol::JobTraits& job) const { return find(job).rank; }
  // The index of that organization among contenders().
  [[nodiscard]] std::uint32_t index_of(const protocol::JobTraits& job) const { return find(job).index; }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(contenders_.size()); }
  // In the order of the organizations' names, so that an index keeps its meaning as long as these stay.
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  // Of these nodes, by the same indices.
  [[nodiscard]] NodeOwners owners(const std::vector<protocol::OwnedNodes>& owned) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  struct Found {
    std::uint32_t rank = 0;
    std::uint32_t index = 0;
  };
  [[nodiscard]] Found find(const protocol::JobTraits& job) const;

  protocol::Classifier classifier_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> indices_;
  std::vector<Contender> contenders_;
  Found last_;
};

class RankBoard {
 public:
  struct Policy {
    bool act = false;
    bool strict = false;
    std::uint32_t weight = 0;
    bool operator==(const Policy&) const = default;
  };

  // Feeder thread. Each returns whether a job's site factor may have changed.
  bool set_policy(Policy policy);
  bool set_ranks(protocol::Ranks ranks);
  bool set_rules(std::vector<protocol::Rule> rules);
  bool set_charge_rule(protocol::ChargeRule rule);
  bool set_owners(std::vector<protocol::OwnedNodes> owners);
  // Only the feeder thread changes the levels, so it compares them without the mutex, for which readers would wait.
  bool set_levels(LevelTable levels) SHAPLEY_THREAD_ATTRIBUTE(no_thread_safety_analysis);
  bool set_stale(bool stale);
  [[nodiscard]] bool is_stale() const { return stale_; }
  [[nodiscard]] const std::vector<std::string>& organizations() const { return ranks_.organizations; }

  // Any thread.
  [[nodiscard]] shapley_order_t order() const;
  [[nodiscard]] std::uint32_t rank(const protocol::JobTraits& job) const;
  [[nodiscard]] std::uint32_t organization(const protocol::JobTraits& job) const;
  [[nodiscard]] Ranking ranking() const;
  [[nodiscard]] std::uint32_t level(std::uint32_t job_id) const;
  // The rule by which the daemon charges jobs, each once: nullopt if it is as it was.
  [[nodiscard]] std::optional<protocol::ChargeRule> take_charge_rule();

 private:
  // `sorting`: whether jobs may belong to other organizations afterwards.
  void rebuild(bool sorting);
  void publish_locked() SHAPLEY_HOLDS(mutex_);

  // Feeder thread only.
  protocol::Ranks ranks_;
  std::vector<protocol::Rule> rules_;
  protocol::ChargeRule charge_rule_;
  std::vector<protocol::OwnedNodes> owned_;
  bool owners_changed_ = false;
  bool has_ranks_ = false;
  bool has_rules_ = false;
  bool has_policy_ = false;
  bool stale_ = false;
  Policy policy_;
  // Whether levels were ever received. It stays true, so that steps between ranks do not change whenever the last job
  // with a level starts.
  bool levels_used_ = false;

  mutable Mutex mutex_;
  std::unique_ptr<const RankTable> table_ SHAPLEY_GUARDED_BY(mutex_) = std::make_unique<RankTable>();
  std::shared_ptr<const NodeOwners> owners_ SHAPLEY_GUARDED_BY(mutex_) = std::make_shared<const NodeOwners>();
  LevelTable levels_ SHAPLEY_GUARDED_BY(mutex_);
  std::optional<protocol::ChargeRule> new_charge_rule_ SHAPLEY_GUARDED_BY(mutex_);
  shapley_order_t order_ SHAPLEY_GUARDED_BY(mutex_){};
};

}  // namespace shapley::client
