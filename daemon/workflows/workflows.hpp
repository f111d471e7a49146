// The workflows of the organizations that order theirs by fairness (`within_organization: workflow_fairness`): levels
// of their pending jobs, for the plugin, and the report of it, for people. It reads what the intake reads and touches
// no book: the ledger and what it says are the same with it and without.
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

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "ledger/store/ledger.hpp"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"
#include "workflow/tracker.hpp"

namespace shapley::daemon {

class Workflows {
 public:
  static constexpr Duration k_refresh_interval{10};
  static constexpr std::int64_t k_jobs_a_second = 5000;

  // `generation`: of the first table of levels.
  explicit Workflows(std::uint64_t generation) { levels_.generation = generation; }

  // Takes the settings over; true if they are others than before. Then nothing is known any more: call recall, and ask
  // the feeder for a snapshot.
  bool configure(const config::Configuration& configuration);
  // Remembers completed runs from the ledger: of the jobs submitted in the week before `now`, the newest.
  [[nodiscard]] Expected<void> recall(const ledger::Ledger& ledger, Instant now);

  // What the feeder says, in its order.
  void begin_snapshot();
  void read(const protocol::Observations& frame, const protocol::Classifier& classifier);
  void end_snapshot();
  void end_session() { snapshot_.reset(); }

  // Runs a cycle of the loop if it is due, and a snapshot has told of all jobs since the settings were taken over.
  void refresh(Instant now);
  // Whether levels() follows from all jobs; until then it is empty.
  [[nodiscard]] bool ready() const { return organizations_.empty() || ready_; }
  [[nodiscard]] const protocol::Levels& levels() const { return levels_; }
  // Whether an organization is, or was in this process, ordered by its workflows: only then feeders are told of levels.
  [[nodiscard]] bool in_use() const { return in_use_; }
  // Whether jobs of this user under this account are shown.
  using Sees = std::function<bool(std::uint32_t user_id, std::string_view account)>;
  // docs/reference/shapleyctl.md lists the members. `organization` empty: all. Errc::invalid_argument: none of that
  // name is ordered by its workflows. A workflow is listed when all its jobs are shown: one number is of all of them.
  [[nodiscard]] Expected<nlohmann::json> report(const std::string& organization, const Sees& sees, Instant now) const;

 private:
  // What a cycle of the loop left behind, to compare the next with.
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
  void read_job(const protocol::JobRecord& record, const protocol::Classifier& classifier);
  static void run_cycle(Organization& organization, Instant now);
  void publish(Instant now);
  [[nodiscard]] nlohmann::json describe(const std::string& name, const Organization& organization,
                                        const Sees& sees) const;

  std::map<std::string, Organization, std::less<>> organizations_;
  std::optional<std::unordered_set<std::uint32_t>> snapshot_;  // jobs seen since its begin
  bool dirty_ = false;
  bool in_use_ = false;
  bool complete_ = false;  // a snapshot came to its end since configure
  bool ready_ = false;     // and a cycle ran after that
  Instant last_cycle_ = k_beginning_of_time;
  protocol::Levels levels_;
  // Who submitted what is known: as many as there are associations, whatever the number of jobs.
  std::map<Submitter, std::uint32_t> numbers_;
  std::vector<Submitter> submitters_;  // by number
};

}  // namespace shapley::daemon
