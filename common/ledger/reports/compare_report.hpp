// Which of two goes first and why, since when, and what would change it (reports/compare.hpp).
//
// What would change the order. A processor-second that is credited now is worth H seconds more by the time that ranks
// look at (H: the horizon; game/serving_order.hpp), so a difference of keys D is compensated at once by
//     D / H / 3600     hours
// that the one gets more than it gives, or the other gives more than it gets. With H = 0 no amount does that at once:
// then the report has none. A processor that starts now lowers its organization's key by c at once (the rule's third
// term), so the one may start D / c processors before the other's first job. With c = 0 the report has none.
//
// By a rule that brakes (game/braking.hpp) both follow from the first one's key as it falls, and hold for that side
// only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"
#include "reports/compare.hpp"

namespace shapley::ledger {

// Since when the order of two organizations has been as it is: `order` by their ranks, `keys` by their keys alone,
// which a guarantee does not change. At the earliest from the first event of the ledger, or of its oldest archive that
// was read.
struct PairHistory {
  Instant order = {};
  Instant keys = {};
};

// Follows a pair while past books are made (OnInstant of books_then.hpp).
class PairWatch {
 public:
  PairWatch(std::string a, std::string b) : a_(std::move(a)), b_(std::move(b)) {}
  // Moves the books to `next`; until then they change only by themselves.
  void watch(accounting::State& books, Instant next);
  // nullopt: the two were never seen in the books.
  [[nodiscard]] std::optional<PairHistory> history() const { return history_; }

 private:
  struct Standing {
    bool order = false;  // a has the better rank
    bool keys = false;   // a has the greater key
  };
  std::string a_ = {};
  std::string b_ = {};
  std::optional<Standing> last_ = {};
  std::optional<PairHistory> history_ = {};
};

// The pair's history up to question.at; reads all events. Errors: those of books_then().
[[nodiscard]] Expected<std::optional<PairHistory>> pair_history(const Ledger& ledger, const PastQuestion& question,
                                                                const std::string& a, const std::string& b);

// One side of a comparison: a name is an organization or a job; if it is both, it is the organization.
struct Side {
  std::string organization = {};
  std::optional<JobAt> job = {};  // nullopt: the organization itself was asked for
};
// Errors: Errc::invalid_argument if the name is neither; those of job_at().
[[nodiscard]] Expected<Side> side_of(const Moment& moment, const Ledger& ledger, const std::string& name,
                                     QueryBudget budget = {});

// Two sides by name, each an organization or a job.
struct ComparisonAsked {
  std::string a;
  std::string b;
  PastQuestion past;  // for since when: reads all events up to its instant
  // Whether the asker may see the job that job_at() returned for that name; empty: every job is allowed.
  std::function<Expected<void>(const Expected<JobAt>& job, const std::string& name)> check_job = {};
};

// If since when is not known, the report says why instead. Errors: those of side_of() and of check_job.
[[nodiscard]] Expected<CompareReport> compare_report(const Moment& moment, const Ledger& ledger,
                                                     const ComparisonAsked& asked, QueryBudget budget = {});

}  // namespace shapley::ledger
