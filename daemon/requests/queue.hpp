// The pending jobs of all organizations, with what the books do not know of them: how long they may run, which
// `shapleyctl advise` plans with, why they wait and by which rule they are whose, which `explain` tells.
//
// Kept up by what the feeder says, in its order. Memory: some 250 bytes a pending job. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json_fwd.hpp>

#include "base/types.hpp"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class Queue {
 public:
  struct Pending {
    std::string organization;
    std::int64_t processors = 1;  // of one task
    std::uint32_t tasks = 1;      // of an array's pending rest, those that could start
    std::uint32_t time_limit_s = 0;
    Instant submit;
    protocol::WaitReason wait = protocol::WaitReason::startable;
    bool could_start = true;
    std::optional<protocol::Rule> rule;  // nullopt: none matches
  };

  // As many jobs an answer lists: the ones of the lowest ids.
  static constexpr std::size_t k_max_listed = 20'000;

  void begin_snapshot() { snapshot_.emplace(); }
  void read(const protocol::Observations& frame, const protocol::Classifier& classifier);
  void end_snapshot();
  void end_session() { snapshot_.reset(); }

  // {"jobs": [{"job", "organization", "processors", "tasks", "submit", "time_limit_s"}], "truncated"}, by job id.
  // `organization` is "guests" for nobody's; `time_limit_s` is null for a job without a limit of its own.
  // Of those that could start.
  [[nodiscard]] nlohmann::json report() const;
  // nullptr: no such job is pending, as far as the feeder said. Valid until it says more.
  [[nodiscard]] const Pending* find(std::uint32_t job) const;

 private:
  std::unordered_map<std::uint32_t, Pending> pending_;
  std::optional<std::unordered_set<std::uint32_t>> snapshot_;  // jobs seen since its begin
};

}  // namespace shapley::daemon
