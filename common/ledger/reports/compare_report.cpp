#include "ledger/reports/compare_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.hpp"

namespace shapley::ledger {

namespace {

using accounting::Outlook;

std::optional<std::size_t> row_of(const Outlook& outlook, const std::string& organization) {
  const auto found = std::ranges::find(outlook.rows, organization, &accounting::RankRow::organization);
  if (found == outlook.rows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - outlook.rows.begin());
}

// The outlook as if none had anything to start, and so none were below its guarantee, and with guests ranked: ordered
// by keys alone. (The guarantee itself is a part of a key that brakes.)
Outlook by_keys_alone(Outlook outlook) {
  for (accounting::RankRow& row : outlook.rows) {
    row.waiting = {};
    row.last = false;
  }
  return outlook;
}

// The last instant of [outlook.at, outlook.until) since which the present order has held; `last` becomes the order at
// its end.
void follow(const Outlook& outlook, std::size_t a, std::size_t b, std::optional<bool>& last, Instant& since) {
  const bool at_first = accounting::goes_first(outlook, a, b, Duration{0});
  if (last != at_first) since = outlook.at;
  last = at_first;
  for (const Instant turn : accounting::turns(outlook, a, b)) {
    since = turn;
    last = !*last;
  }
}

SideReport side_report(const Moment& moment, const Side& side) {
  SideReport report{.organization = side.organization, .job = side.job};
  const OrganizationRow* row = moment.status.find(side.organization);
  if (row == nullptr) return report;
  const RankedRow& is = row->is;
  report.rank = is.rank;
  report.standing_core_hours = is.standing_core_hours;
  report.sentence = is.sentence;
  report.key = row->key;
  report.key_core_hours = is.key_core_hours;
  report.below_guarantee = is.below_guarantee;
  report.lacking = is.lacking;
  report.gives = is.gives;
  report.owned = is.owned;
  report.used = is.used;
  report.lent = is.lent;
  report.borrowed = is.borrowed;
  report.waiting = is.waiting;
  report.running_jobs = is.running_jobs;
  report.waiting_jobs = is.waiting_jobs;
  return report;
}

}  // namespace

void PairWatch::watch(accounting::State& books, Instant next) {
  // What is declared for all times ("this node is physics'") has the beginning of time as its instant.
  if (books.period_begin() == k_beginning_of_time) return;
  const accounting::EstimatorId estimator = ranking_estimator(books);
  for (Instant t = std::max(books.now(), books.period_begin()); t < next;) {
    Outlook outlook = accounting::outlook(books.advance(t), estimator);
    const Instant end = std::min(next, outlook.until);
    outlook.until = end;
    const auto a = row_of(outlook, a_);
    const auto b = row_of(outlook, b_);
    if (a && b && *a != *b) {
      if (!history_) history_ = PairHistory{t, t};
      std::optional<bool> order = last_ ? std::optional(last_->order) : std::nullopt;
      std::optional<bool> keys = last_ ? std::optional(last_->keys) : std::nullopt;
      follow(outlook, *a, *b, order, history_->order);
      follow(by_keys_alone(outlook), *a, *b, keys, history_->keys);
      last_ = Standing{*order, *keys};
    }
    t = end;
  }
}

Expected<std::optional<PairHistory>> pair_history(const Ledger& ledger, const PastQuestion& question,
                                                  const std::string& a, const std::string& b) {
  PairWatch watch(a, b);
  SHAPLEY_TRY(books_then(ledger, question, [&](accounting::State& books, Instant next) { watch.watch(books, next); }));
  return watch.history();
}

Expected<Side> side_of(const Moment& moment, const Ledger& ledger, const std::string& name, QueryBudget budget) {
  if (moment.rank_row(name) < moment.outlook.rows.size()) return Side{name};
  const auto job = parse_job_name(name);
  if (!job) {
    std::vector<std::string> known;
    for (const OrganizationRow& row : moment.status.organizations) {
      if (row.is.rank) known.push_back(row.is.name);
    }
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is no organization with a rank{} and no job (4711, 4711_3, or 4711+1); ranks have {}",
                            name, did_you_mean(name, known), listed_names(known, 30)));
  }
  SHAPLEY_TRY_ASSIGN(JobAt described, job_at(moment, ledger, *job, budget));
  std::string organization = described.is.organization;
  return Side{std::move(organization), std::move(described)};
}

namespace {

CompareReport compared(const Moment& moment, const Side& a, const Side& b) {
  const Outlook& outlook = moment.outlook;
  CompareReport report{.at = moment.at,
                       .limit = limit_of(outlook),
                       .contribution = moment.status.contribution,
                       .ranked_by = moment.status.ranked_by,
                       .ranking = moment.status.ranking,
                       .clusters = moment.status.clusters,
                       .past = moment.is_past,
                       .in = moment.status.in};
  report.sides = {side_report(moment, a), side_report(moment, b)};
  report.same_organization = a.organization == b.organization;
  if (const Dated& begin = moment.status.period.begin; begin.is_known()) report.period_begin = begin;
  const std::size_t one = moment.rank_row(a.organization);
  const std::size_t two = moment.rank_row(b.organization);
  if (one == two || std::max(one, two) >= outlook.rows.size()) return report;

  const bool a_is_first = accounting::goes_first(outlook, one, two, Duration{0});
  const std::size_t first = a_is_first ? one : two;
  const std::size_t second = a_is_first ? two : one;
  const Utility difference{accounting::key_after(outlook, first, Duration{0}).value -
                           accounting::key_after(outlook, second, Duration{0}).value};
  report.first = a_is_first ? a.organization : b.organization;
  const SideReport& ahead = report.ahead();
  const SideReport& behind = report.behind();
  if (outlook.rows[second].last) {
    report.because = Because::guests;
  } else if (ahead.below_guarantee != behind.below_guarantee) {
    report.because = Because::guarantee;
  } else {
    report.because = difference.value == 0 ? Because::order : Because::key;
  }
  const auto would_turn = [&](const Outlook& otherwise) {
    return report.because == Because::key && accounting::goes_first(otherwise, second, first, Duration{0});
  };
  report.by_what_runs = would_turn(moment.without_what_runs());
  if (!report.clusters.empty()) {
    if (report.because == Because::key)
      report.deciding_clusters = deciding_clusters(outlook, moment.elsewhere, first, second);
    report.by_other_clusters = !report.deciding_clusters.empty();
  }
  report.difference = difference;
  report.difference_core_hours = ahead.key_core_hours.value_or(0) - behind.key_core_hours.value_or(0);
  if (outlook.terms.brakes && report.because != Because::guests) {
    const Int128 level = accounting::key_after(outlook, second, Duration{0}).value;
    game::FallingKey falling = accounting::falling_key(outlook.rows[first], outlook.terms);
    report.turning_processors = game::startable_until(falling, level) / k_micro;
    // The same for hours that it gets more than it gives: each is done by now, and ages for m.
    constexpr std::int64_t k_hour = 3600;
    falling.factor = k_hour * falling.residual;
    falling.residual = k_hour;
    report.turning_core_hours =
        static_cast<double>(game::startable_until(falling, level)) / static_cast<double>(k_micro);
  } else if (outlook.terms.running_factor > 0 && report.because != Because::guests) {
    const Int128 processor = Int128{outlook.terms.running_factor} * k_micro;
    report.turning_processors = static_cast<std::int64_t>(
        std::min<Int128>(floor_of_quotient(difference.value, processor), accounting::k_longest_lead));
  }
  if (!outlook.terms.brakes && outlook.terms.horizon.value > 0 && report.because != Because::guests) {
    report.turning_core_hours = static_cast<double>(difference.value) / static_cast<double>(k_micro) /
                                static_cast<double>(outlook.terms.horizon.value) / 3600.0;
  }
  bool is_a = a_is_first;
  for (const Instant turn : accounting::turns(outlook, one, two)) {
    is_a = !is_a;
    report.turns.push_back({is_a ? a.organization : b.organization, turn});
  }
  return report;
}

Expected<Side> checked_side(const Moment& moment, const Ledger& ledger, const ComparisonAsked& asked,
                            const std::string& name, QueryBudget budget) {
  auto side = side_of(moment, ledger, name, budget);
  // A name that is neither a job's nor an organization's reveals nothing.
  const bool is_job = parse_job_name(name).has_value() && (!side || side->job);
  if (!is_job || !asked.check_job) return side;
  const Expected<JobAt> job = side ? Expected<JobAt>(*side->job) : tl::unexpected(side.error());
  SHAPLEY_TRY(asked.check_job(job, name));
  return side;
}

}  // namespace

Expected<CompareReport> compare_report(const Moment& moment, const Ledger& ledger, const ComparisonAsked& asked,
                                       QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const Side a, checked_side(moment, ledger, asked, asked.a, budget));
  SHAPLEY_TRY_ASSIGN(const Side b, checked_side(moment, ledger, asked, asked.b, budget));
  CompareReport report = compared(moment, a, b);
  if (a.organization == b.organization) return report;
  const auto history = pair_history(ledger, asked.past, a.organization, b.organization);
  if (!history) {
    report.since_unknown = history.error().what;
  } else if (*history && report.first) {
    report.since = PairSince{(*history)->order, (*history)->keys};
  }
  return report;
}

}  // namespace shapley::ledger
