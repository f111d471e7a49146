// The workflows of organizations with `within_organization: workflow_fairness`: computes levels of their pending jobs
// for the plugin, and a report for people. It reads the same messages as the intake and does not change the books: the
// ledger is the same with it and without it.
//
// Levels are computed once a second at most, after something changed, and every k_refresh_interval in any case, since
// running tasks that take longer than the median weigh more as time goes on. A turn takes up to a second and a half for
// 100,000 jobs, so each k_jobs_a_second jobs add a second between two cycles. Bounds: workflow/tracker.hpp, for each
// organization. Single-threaded; time is passed in.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "ledger/store/ledger.hpp"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"
#include "reports/workflows.hpp"
#include "workflow/tracker.hpp"

namespace shapley::daemon {

class Workflows {
 public:
  static constexpr Duration k_refresh_interval{10};
  static constexpr std::int64_t k_jobs_a_second = 5000;

  // `generation`: of the first table of levels.
  explicit Workflows(std::uint64_t generation) { levels_.generation = generation; }

  // Takes the settings over; true if they have changed. Then all jobs were dropped and completed runs recalled, and a
  // feeder that is connected has to send a snapshot.
  [[nodiscard]] bool configure(const config::Configuration& configuration, const ledger::Ledger& ledger, Instant now);
  // Reads completed runs from the ledger: the newest of the jobs submitted in the week before `now`. Logs a failure.
  void recall(const ledger::Ledger& ledger, Instant now);

  // The feeder's messages, in their order.
  void begin_snapshot();
  void read(const protocol::Observations& frame, const protocol::Classifier& classifier);
  void end_snapshot();
  void end_session() { snapshot_.reset(); }

  // Runs a cycle of the loop if it is due, and a snapshot listed all jobs since the settings were taken over.
  void refresh(Instant now);
  // Whether levels() follows from all jobs; until then it is empty.
  [[nodiscard]] bool ready() const { return organizations_.empty() || ready_; }
  [[nodiscard]] const protocol::Levels& levels() const { return levels_; }
  // Whether an organization is, or was in this process, ordered by its workflows: only then levels are sent to feeders.
  [[nodiscard]] bool in_use() const { return in_use_; }
  // Whether jobs of this user under this account are shown.
  using Sees = std::function<bool(std::uint32_t user_id, std::string_view account)>;
  // `organization` empty: all. Errc::invalid_argument: none of that
  // name is ordered by its workflows. A workflow is listed when all its jobs are shown: one number is of all of them.
  [[nodiscard]] Expected<ledger::WorkflowsReport> report(const std::string& organization, const Sees& sees,
                                                         Instant now) const;

 private:
  [[nodiscard]] Expected<void> read_runs(const ledger::Ledger& ledger, Instant now);
  // The result of a cycle of the loop, for comparison with the next one.
  struct PastCycle {
    Instant at;
    workflow::Fraction degree = 0;
    std::map<std::string, workflow::Fraction> pending;  // W by workflow
  };
  struct Organization {
    workflow::Tracker tracker;
    workflow::Cycle now;
    std::optional<PastCycle> before;  // the last one with another eta
    std::optional<PastCycle>
        highest;  // the greatest eta since fewer than two workflows were active; `pending` is empty
  };

  [[nodiscard]] Duration pause() const;  // least time from one cycle to the next
  struct Submitter {
    std::uint32_t user_id = 0;
    std::string account;
    friend auto operator<=>(const Submitter&, const Submitter&) = default;
  };
  [[nodiscard]] std::uint32_t number_of(std::uint32_t user_id, const std::string& account);
  void read_job(const protocol::JobUpdate& record, const protocol::Classifier& classifier);
  static void run_cycle(Organization& organization, Instant now);
  void publish(Instant now);
  [[nodiscard]] ledger::OrganizationWorkflows describe(const std::string& name, const Organization& organization,
                                                       const Sees& sees) const;

  std::map<std::string, Organization, std::less<>> organizations_;
  std::optional<std::unordered_set<std::uint32_t>> snapshot_;  // jobs seen since its begin
  bool dirty_ = false;
  bool in_use_ = false;
  bool complete_ = false;  // a snapshot came to its end since configure
  bool ready_ = false;     // and a cycle ran after that
  Instant last_cycle_ = k_beginning_of_time;
  protocol::Levels levels_;
  // The submitters of the known jobs: as many as there are associations, for any number of jobs.
  std::map<Submitter, std::uint32_t> numbers_;
  std::vector<Submitter> submitters_;  // by number
};

}  // namespace shapley::daemon
