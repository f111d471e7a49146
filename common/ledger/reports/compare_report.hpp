// Who goes first and why, since when, and what would turn it; and when the ranks of each pair turn by themselves. As
// JSON; docs/reference/shapleyctl.md lists every member.
//
// What would turn it. A processor-second that is credited now is worth H seconds more by the time that ranks look at
// (H: the horizon; game/serving_order.hpp), so a difference of keys D is made up for by
//     D / H / 3600     core-hours
// that the one gets more than it gives, or the other gives more than it gets, at once. With H = 0 no amount does at
// once: then the report has none. A processor that starts now lowers its organization's key by c at once (the rule's
// third term), so the one may start D / c processors before the other's first job. With c = 0 the report has none.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Every pair whose order turns by Moment::outlook.until, by time; "order" is that of now.
[[nodiscard]] nlohmann::json forecast_report(const Moment& moment);

// Since when two organizations stand as they do: `order` their ranks, `keys` their keys alone, which a guarantee does
// not change. From the first event of the ledger, or of its oldest archive that was read, at the earliest.
struct PairHistory {
  Instant order;
  Instant keys;
};

// Watches a pair while past books are made (OnInstant of past_books.hpp).
class PairWatch {
 public:
  PairWatch(std::string a, std::string b) : a_(std::move(a)), b_(std::move(b)) {}
  // The books may change by themselves up to `next`; they are moved there.
  void watch(accounting::State& books, Instant next);
  // nullopt: the two were never seen in the books.
  [[nodiscard]] std::optional<PairHistory> history() const { return history_; }

 private:
  struct Standing {
    bool order = false;  // a has the better rank
    bool keys = false;   // a has the greater key
  };
  std::string a_;
  std::string b_;
  std::optional<Standing> last_;
  std::optional<PairHistory> history_;
};

// Since when, up to question.at; reads all events. Errors: those of books_then().
[[nodiscard]] Expected<std::optional<PairHistory>> pair_history(const Ledger& ledger, const PastQuestion& question,
                                                                const std::string& a, const std::string& b);

// One side of a comparison: an organization or a job, by which of the two there is; a name that is both is the
// organization.
struct Side {
  std::string organization;
  nlohmann::json job;  // job_at(); null: the organization itself was asked for
};
// Errors: Errc::invalid_argument says what it is not; those of job_at().
[[nodiscard]] Expected<Side> side_of(const Moment& moment, const Ledger& ledger, const std::string& name,
                                     QueryBudget budget = {});

// `history`: nullopt where it is not known; the report says null then.
[[nodiscard]] nlohmann::json compare_report(const Moment& moment, const Side& a, const Side& b,
                                            const std::optional<PairHistory>& history);

}  // namespace shapley::ledger
