// Who goes first and why, since when, and what would turn it; and when the ranks of each pair turn by themselves.
// docs/reference/shapleyctl.md lists every member.
//
// What would turn it. A processor-second that is credited now is worth H seconds more by the time that ranks look at
// (H: the horizon; game/serving_order.hpp), so a difference of keys D is made up for by
//     D / H / 3600     core-hours
// that the one gets more than it gives, or the other gives more than it gets, at once. With H = 0 no amount does at
// once: then the report has none. A processor that starts now lowers its organization's key by c at once (the rule's
// third term), so the one may start D / c processors before the other's first job. With c = 0 the report has none.
#pragma once

#include <array>
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

namespace shapley::ledger {

// What every report about the order of ranks says of its moment.
struct RanksMoment {
  int report_version = k_report_version;
  Dated at = {};
  OutlookLimit limit = {};
  std::string contribution = {};
  std::string ranked_by = {};
  RankingReport ranking = {};
  std::vector<OtherClusterReport> clusters = {};  // as of StatusReport, without what the daemon adds
};
constexpr auto description_of(std::type_identity<RanksMoment>) {
  return describe(member("report_version", &RanksMoment::report_version), member("at", &RanksMoment::at),
                  flattened(&RanksMoment::limit), member("contribution", &RanksMoment::contribution),
                  member("ranked_by", &RanksMoment::ranked_by), member("ranking", &RanksMoment::ranking),
                  supplement("clusters", &RanksMoment::clusters));
}

struct ForecastRow {
  std::string name = {};
  std::optional<std::size_t> rank = {};
  double standing_core_hours = 0;
  std::optional<double> key_core_hours = {};
  std::optional<bool> below_guarantee = {};
  double rate = 0;  // core-hours that it gives more than it gets, each hour
};
constexpr auto description_of(std::type_identity<ForecastRow>) {
  return describe(member("name", &ForecastRow::name), member("rank", &ForecastRow::rank),
                  member("standing_core_hours", &ForecastRow::standing_core_hours),
                  member("key_core_hours", &ForecastRow::key_core_hours),
                  member("below_guarantee", &ForecastRow::below_guarantee), member("rate", &ForecastRow::rate));
}

// `first` passes `then`.
struct ForecastTurn {
  std::string first = {};
  std::string then = {};
  std::int64_t in_s = 0;
  Dated at = {};
};
constexpr auto description_of(std::type_identity<ForecastTurn>) {
  return describe(member("first", &ForecastTurn::first), member("then", &ForecastTurn::then),
                  member("in_s", &ForecastTurn::in_s), member("at", &ForecastTurn::at));
}

struct ForecastReport {
  RanksMoment of = {};
  std::vector<ForecastRow> organizations = {};  // in the order of their ranks
  std::size_t pairs = 0;
  std::vector<ForecastTurn> turns = {};  // by time
};
constexpr auto description_of(std::type_identity<ForecastReport>) {
  return describe(flattened(&ForecastReport::of), member("organizations", &ForecastReport::organizations),
                  member("pairs", &ForecastReport::pairs), member("turns", &ForecastReport::turns));
}

// Every pair whose order turns by Moment::outlook.until.
[[nodiscard]] ForecastReport forecast_report(const Moment& moment);

// Since when two organizations stand as they do: `order` their ranks, `keys` their keys alone, which a guarantee does
// not change. From the first event of the ledger, or of its oldest archive that was read, at the earliest.
struct PairHistory {
  Instant order = {};
  Instant keys = {};
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
  std::string a_ = {};
  std::string b_ = {};
  std::optional<Standing> last_ = {};
  std::optional<PairHistory> history_ = {};
};

// Since when, up to question.at; reads all events. Errors: those of books_then().
[[nodiscard]] Expected<std::optional<PairHistory>> pair_history(const Ledger& ledger, const PastQuestion& question,
                                                                const std::string& a, const std::string& b);

// One side of a comparison: an organization or a job, by which of the two there is; a name that is both is the
// organization.
struct Side {
  std::string organization = {};
  std::optional<JobAt> job = {};  // nullopt: the organization itself was asked for
};
// Errors: Errc::invalid_argument says what it is not; those of job_at().
[[nodiscard]] Expected<Side> side_of(const Moment& moment, const Ledger& ledger, const std::string& name,
                                     QueryBudget budget = {});

// An organization or a job, with what the books say of its organization: nothing if they do not know it.
struct SideReport {
  std::string organization = {};
  std::optional<JobAt> job = {};
  std::optional<std::size_t> rank = {};
  std::optional<double> standing_core_hours = {};
  std::optional<std::string> sentence = {};
  std::optional<Utility> key = {};
  std::optional<double> key_core_hours = {};
  std::optional<bool> below_guarantee = {};
  std::optional<std::int64_t> lacking = {};
  std::optional<Processors> gives = {};
  std::optional<Processors> owned = {};
  std::optional<Processors> used = {};
  std::optional<Processors> lent = {};
  std::optional<Processors> borrowed = {};
  std::optional<Processors> waiting = {};
  std::optional<std::int64_t> running_jobs = {};
  std::optional<std::int64_t> waiting_jobs = {};
};
constexpr auto description_of(std::type_identity<SideReport>) {
  return describe(member("organization", &SideReport::organization), member("job", &SideReport::job),
                  member("rank", &SideReport::rank), member("standing_core_hours", &SideReport::standing_core_hours),
                  member("sentence", &SideReport::sentence), member("key", &SideReport::key),
                  member("key_core_hours", &SideReport::key_core_hours),
                  member("below_guarantee", &SideReport::below_guarantee), member("lacking", &SideReport::lacking),
                  member("gives", &SideReport::gives), member("owned", &SideReport::owned),
                  member("used", &SideReport::used), member("lent", &SideReport::lent),
                  member("borrowed", &SideReport::borrowed), member("waiting", &SideReport::waiting),
                  member("running_jobs", &SideReport::running_jobs), member("waiting_jobs", &SideReport::waiting_jobs));
}

// From then on `first` goes first.
struct PairTurn {
  std::string first = {};
  Dated at = {};
};
constexpr auto description_of(std::type_identity<PairTurn>) {
  return describe(member("first", &PairTurn::first), member("at", &PairTurn::at));
}

struct PairSince {
  Dated order = {};
  Dated keys = {};
};
constexpr auto description_of(std::type_identity<PairSince>) {
  return describe(member("order", &PairSince::order), member("keys", &PairSince::keys));
}

struct CompareReport {
  RanksMoment of = {};
  bool past = false;
  std::array<SideReport, 2> sides = {};
  bool same_organization = false;
  std::optional<Instant> period_begin = {};
  // Nothing where both are one organization, or one has no rank.
  std::optional<std::string> first = {};
  std::optional<Because> because = {};
  std::optional<bool> by_what_runs = {};
  std::optional<bool> by_other_clusters = {};  // only in a consortium of several clusters
  std::optional<Utility> difference = {};
  std::optional<double> difference_core_hours = {};
  std::optional<std::int64_t> turning_processors = {};
  std::optional<double> turning_core_hours = {};
  std::vector<PairTurn> turns = {};
  std::optional<PairSince> since = {};
  std::optional<std::string> since_unknown = {};  // why
  std::optional<Priorities> priorities = {};      // of a daemon's present

  [[nodiscard]] const SideReport& ahead() const { return sides[first == sides[0].organization ? 0 : 1]; }
  [[nodiscard]] const SideReport& behind() const { return sides[first == sides[0].organization ? 1 : 0]; }
};
constexpr auto description_of(std::type_identity<CompareReport>) {
  return describe(
      flattened(&CompareReport::of), member("past", &CompareReport::past), member("sides", &CompareReport::sides),
      member("same_organization", &CompareReport::same_organization),
      member("period_begin", &CompareReport::period_begin), member("first", &CompareReport::first),
      member("because", &CompareReport::because), member("by_what_runs", &CompareReport::by_what_runs),
      supplement("by_other_clusters", &CompareReport::by_other_clusters),
      member("difference", &CompareReport::difference),
      member("difference_core_hours", &CompareReport::difference_core_hours),
      member("turning_processors", &CompareReport::turning_processors),
      member("turning_core_hours", &CompareReport::turning_core_hours), member("turns", &CompareReport::turns),
      member("since", &CompareReport::since), member("since_unknown", &CompareReport::since_unknown),
      member("priorities", &CompareReport::priorities));
}

// Two sides by name, each an organization or a job.
struct ComparisonAsked {
  std::string a;
  std::string b;
  PastQuestion past;  // since when they stand so: reads all events up to its instant
  // Whether the asker may see a job, as job_at() has it, of that name; none: every job.
  std::function<Expected<void>(const Expected<JobAt>& job, const std::string& name)> check_job = {};
};

// Where it cannot be said since when, the report says why instead. Errors: those of side_of() and of check_job.
[[nodiscard]] Expected<CompareReport> compare_report(const Moment& moment, const Ledger& ledger,
                                                     const ComparisonAsked& asked, QueryBudget budget = {});

}  // namespace shapley::ledger
