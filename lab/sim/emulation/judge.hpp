// The verdict over a window of a trace that ran on a real slurmctld (lab/emulate): how far its schedule is from the
// same rule's on the same jobs, from REF's, and from what is due.
//
// The jobs are those that Slurm recorded: with its submit times, and the durations as they were. A run of q processors
// counts as q sequential jobs, as in the papers' experiments, so that every coalition has a value; or, if the recording
// has kinds of processors, jobs are whole: coalitions and the rule run EASY (scheduling/easy.hpp), and in place of REF
// stands a cluster that ranks by the exact value (scheduling/whole_jobs.hpp). All times are whole seconds after the
// window's begin. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"

namespace shapley::sim {

// A job, or a task of an array, as Slurm recorded it.
struct RecordedRun {
  std::uint32_t organization = 0;
  std::int64_t submit = 0;              // >= 0
  std::optional<std::int64_t> start{};  // none: it waited when the window ended
  std::optional<std::int64_t> end{};    // none: it waited or ran when the window ended
  std::int64_t requested = 1;           // the seconds that its command takes
  std::int64_t processors = 1;          // those that it blocks
  // Where a run is on the node of one organization: that one, and the run's number among all starts, from 1 on.
  std::optional<std::uint32_t> owner{};
  std::int64_t place = 0;
  // Of whole jobs: the kind of processors that it may use, and the seconds that it may take.
  std::uint32_t kind = 0;
  std::int64_t limit = 0;
};
constexpr auto description_of(std::type_identity<RecordedRun>) {
  using R = RecordedRun;
  return describe(member("organization", &R::organization), member("submit", &R::submit), member("start", &R::start),
                  member("end", &R::end), member("requested", &R::requested), member("processors", &R::processors),
                  supplement("owner", &R::owner), supplement("place", &R::place), supplement("kind", &R::kind),
                  supplement("limit", &R::limit));
}

// A window as it ran under one policy.
struct Recording {
  std::string window{};               // its name in reports
  std::string policy{};               // likewise
  std::string rule{};                 // the policy of shapley-sim that decides as Slurm was meant to (registry.hpp)
  std::vector<std::int64_t> owned{};  // processors, by organization
  std::int64_t length = 0;            // of the window
  std::int64_t residual = 0;          // m of the key, as the books had it; 0: it is measured as runs end
  std::int64_t factor = 1;            // by which the trace's time was divided; Fair Tree's half life is, too
  std::int64_t priorities_written = 0;
  std::vector<RecordedRun> runs{};  // those of one submit time in the order of their job numbers
  // Jobs are whole: `owned` by kind and organization, one kind at least. Empty: they are copies.
  std::vector<std::vector<std::uint32_t>> kinds{};
};
constexpr auto description_of(std::type_identity<Recording>) {
  using R = Recording;
  return describe(member("window", &R::window), member("policy", &R::policy), member("rule", &R::rule),
                  member("owned", &R::owned), member("length", &R::length), member("residual", &R::residual),
                  member("factor", &R::factor), member("priorities_written", &R::priorities_written),
                  member("runs", &R::runs), supplement("kinds", &R::kinds));
}

// Distances are in seconds a unit of work, the work of REF's schedule.
struct Verdict {
  std::string window{}, policy{};
  std::size_t runs = 0;    // that were submitted within the window
  std::size_t starts = 0;  // within the window
  std::int64_t work = 0;   // processor seconds
  double unfairness = 0;   // sum |psi - psi of REF|
  double unfairness_simulated = 0;
  double fidelity = 0;  // sum |psi - psi of the same rule, decided again after every start|
  // As far apart are, on average, two schedules of that rule: of these jobs, and of the same jobs of which one in ten
  // lasts a second longer, with processors drawn for them where the rule depends on which they take (direct_contr).
  double sensitivity = 0;
  double due = 0;                         // sum |psi - phi*|, phi* exact, the difference of totals shared equally
  double due_simulated = 0;               // of the same rule
  double due_ref = 0;                     // of REF
  std::size_t before_older = 0;           // starts that came before an older job of the same organization
  std::int64_t longest_before_older = 0;  // by so many seconds, of those the longest
  double written_a_start = 0;             // priorities
};
constexpr auto description_of(std::type_identity<Verdict>) {
  using V = Verdict;
  return describe(member("window", &V::window), member("policy", &V::policy), member("runs", &V::runs),
                  member("starts", &V::starts), member("work", &V::work), member("unfairness", &V::unfairness),
                  member("unfairness_simulated", &V::unfairness_simulated), member("fidelity", &V::fidelity),
                  member("sensitivity", &V::sensitivity), member("due", &V::due),
                  member("due_simulated", &V::due_simulated), member("due_ref", &V::due_ref),
                  member("before_older", &V::before_older), member("longest_before_older", &V::longest_before_older),
                  member("written_a_start", &V::written_a_start));
}

// What the jobs of a recording are to the model. Those that were submitted at the window's end or later are left out. A
// run that had not ended then has its requested duration, or the part that it ran if that is longer.
// Errc::invalid_argument names the run that is wrong, or what validate() finds.
[[nodiscard]] Expected<scheduling::Instance> instance_of(const Recording& recording);

// The same of whole jobs. REQUIRES: the recording has kinds. Errors likewise.
[[nodiscard]] Expected<scheduling::EasyInstance> whole_instance_of(const Recording& recording);

// psi of what really ran, by organization, at the window's end [SR13 Eq. 3]. REQUIRES: instance_of(recording), or
// whole_instance_of.
[[nodiscard]] std::vector<std::int64_t> recorded_psi(const Recording& recording);

// The rule has the processors that Slurm chose, where they are recorded and jobs are copies: direct_contr credits their
// owners. Errors: those of instance_of() and of make_policy(). Errc::not_found when no run started.
[[nodiscard]] Expected<Verdict> judge(const Recording& recording);

}  // namespace shapley::sim
