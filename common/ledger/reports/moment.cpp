#include "ledger/reports/moment.hpp"

#include <algorithm>
#include <utility>

#include "ledger/readers/declarations.hpp"

namespace shapley::ledger {

const RankedRow* Moment::row(const std::string& organization) const {
  const OrganizationRow* row = status.find(organization);
  return row == nullptr ? nullptr : &row->is;
}

std::string Moment::row_name(const std::string& organization) const {
  const auto found = former.find(organization);
  return found == former.end() ? organization : found->second;
}

std::size_t Moment::rank_row(const std::string& organization) const {
  const auto found = std::ranges::find(outlook.rows, organization, &accounting::RankRow::organization);
  return static_cast<std::size_t>(found - outlook.rows.begin());
}

accounting::Outlook Moment::without_what_runs() const {
  accounting::Outlook idle = outlook;
  for (accounting::RankRow& row : idle.rows) row.figures.rate_less_used = {};
  return idle;
}

accounting::EstimatorId ranking_estimator(const accounting::State& state) {
  return accounting::parse_estimator(state.ranking_rule().contribution).value_or(accounting::k_default_estimator);
}

Moment moment_of(accounting::State& state, Instant t, accounting::EstimatorId wanted) {
  return moment_of(state, t, wanted, state.kept());
}

Moment moment_of(accounting::State& state, Instant t, accounting::EstimatorId wanted,
                 const accounting::EstimatorSet& able, const StartableTasks& tasks) {
  StatusReport status = status_report(state, t, wanted, able, tasks);
  const Instant at = state.now();
  const accounting::EstimatorId estimator = accounting::acting(wanted, able);
  std::vector<OpenSegment> open;
  for_each_open_segment(state, [&](const OpenSegment& segment) { open.push_back(segment); });
  std::vector<std::string> names = state.organizations();
  std::map<std::string, std::string, std::less<>> former;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& row = state.organizations()[state.row_of(OrgId{static_cast<std::uint32_t>(i)}).value];
    if (row != names[i]) former.emplace(std::exchange(names[i], row), row);
  }
  return Moment{.at = at,
                .is_past = false,
                .status = std::move(status),
                .outlook = accounting::outlook(state, estimator),
                .elsewhere = shares_elsewhere(state),
                .names = std::move(names),
                .former = std::move(former),
                .adjustments = state.adjustments(),
                .open = std::move(open),
                .tasks = tasks,
                .users = state.user_names(),
                .next_starts = {}};
}

Expected<Moment> past_moment(const Ledger& ledger, const PastQuestion& question) {
  SHAPLEY_TRY_ASSIGN(BooksThen past, books_then(ledger, question));
  past.state.advance(question.at);
  Moment moment = moment_of(past.state, question.at, ranking_estimator(past.state));
  moment.is_past = true;
  SHAPLEY_TRY_ASSIGN(accounting::UserNames later, user_names(ledger));
  moment.users.merge(later);
  moment.next_starts = std::move(past.next_starts);
  return moment;
}

}  // namespace shapley::ledger
