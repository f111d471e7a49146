// The pending jobs of all organizations, with facts that are not in the books: their time limits, and the reasons why
// they wait and their rules, which `explain` shows.
//
// Updated by the feeder's messages, in their order. Memory: some 250 bytes per pending job. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/job_name.hpp"
#include "base/types.hpp"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"

namespace shapley::ledger {
struct QueueReport;
}

namespace shapley::daemon {

class PendingJobs {
 public:
  struct Job {
    std::string organization;
    std::int64_t processors = 1;  // of one task
    std::uint32_t tasks = 1;      // of an array's pending rest, those that could start
    std::uint32_t time_limit_s = 0;
    Instant submit;
    protocol::WaitReason wait = protocol::WaitReason::startable;
    bool could_start = true;
    std::optional<protocol::Rule> rule;  // nullopt: none matches
    std::uint32_t array_job = 0;         // 0: no array
    std::optional<std::uint32_t> array_task;
  };

  // The most jobs that an answer lists: those of the lowest ids.
  static constexpr std::size_t k_max_listed = 20'000;

  void begin_snapshot() { snapshot_.emplace(); }
  void read(const protocol::Observations& frame, const protocol::Classifier& classifier);
  void end_snapshot();
  void end_session() { snapshot_.reset(); }

  // The startable jobs (ledger/reports/jobs_report.hpp).
  [[nodiscard]] ledger::QueueReport report() const;
  // nullptr: no such job is pending according to the feeder. Valid until its next message.
  [[nodiscard]] const Job* find(std::uint32_t job) const;
  // The number of the record that has this job: of an array's task that has no record of its own, the array's.
  [[nodiscard]] std::uint32_t number_of(const JobName& name) const;
  // Of the pending rests of arrays by number, how many tasks could start; those with one are left out.
  [[nodiscard]] std::map<std::uint32_t, std::int64_t> startable_tasks() const;

 private:
  std::unordered_map<std::uint32_t, Job> pending_;
  std::optional<std::unordered_set<std::uint32_t>> snapshot_;  // jobs seen since its begin
};

}  // namespace shapley::daemon
