#include "ledger/reports/adjustment_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/events/event_check.hpp"
#include "ledger/reports/moment.hpp"
#include "reports/requests.hpp"

namespace shapley::ledger {

namespace {

using accounting::AdjustmentKind;
using accounting::AdjustmentMade;
using accounting::Event;
using accounting::State;
using nlohmann::json;

// The name of the first member without a text; nullptr: all have one.
const char* empty_member(const AttributionAsked& asked) {
  if (asked.account && asked.account->empty()) return "account";
  return asked.into.empty() ? "into" : nullptr;
}

const char* empty_member(const OwnershipAsked& asked) {
  const auto has_no_name = [](const accounting::OwnerPart& owner) { return owner.organization.empty(); };
  if (std::ranges::any_of(asked.owners, has_no_name)) return "organization";
  return asked.nodes.empty() ? "nodes" : nullptr;
}

const char* empty_member(const JoinAsked& asked) {
  if (asked.organization.empty()) return "organization";
  return asked.into.empty() ? "into" : nullptr;
}

const char* empty_member(const SettlementAsked& asked) {
  if (asked.from.empty()) return "from";
  return asked.to.empty() ? "to" : nullptr;
}

const char* empty_member(const ReversalAsked& /*asked*/) {
  return nullptr;
}

// The rows of organizations at the instant, by name.
std::map<std::string, RankedRow> rows_at(State& books, Instant t, accounting::EstimatorId estimator) {
  std::map<std::string, RankedRow> rows;
  for (OrganizationRow& row : status_report(books, t, estimator).organizations)
    rows.emplace(row.is.name, std::move(row.is));
  return rows;
}

struct ClosedFigures {
  double standing = 0;
  double got = 0;
  double given = 0;
  friend bool operator==(const ClosedFigures&, const ClosedFigures&) = default;
};

struct ClosedBooks {
  Instant begin;
  std::map<std::string, ClosedFigures> organizations;
};

// The closed periods, by their ends.
std::map<Instant, ClosedBooks> closed_books(const State& books, accounting::EstimatorId estimator) {
  std::map<Instant, ClosedBooks> closed;
  for (const accounting::ClosedPeriod& period : books.closed_periods()) {
    ClosedBooks& of = closed[period.end];
    of.begin = period.begin;
    for (const accounting::Standing& row : period.standings) {
      of.organizations[books.organizations()[row.organization.value]] = {
          standing_core_hours(row.balance(estimator), period.end - period.begin), core_hours(row.got),
          core_hours(row.given(estimator))};
    }
  }
  return closed;
}

std::vector<RestatedPeriod> restated(const std::map<Instant, ClosedBooks>& before,
                                     std::map<Instant, ClosedBooks> after) {
  std::vector<RestatedPeriod> periods;
  for (const auto& [end, earlier] : before) {
    RestatedPeriod period{.begin = earlier.begin, .end = end};
    for (const auto& [name, then] : earlier.organizations) {
      const ClosedFigures& now = after[end].organizations[name];
      if (now != then)
        period.organizations.push_back({name, then.standing, now.standing, then.got, now.got, then.given, now.given});
    }
    if (!period.organizations.empty()) periods.push_back(std::move(period));
  }
  return periods;
}

// nullopt: a part of it is older than these books remember.
Expected<std::optional<State>> applied_to(State books, const std::vector<Event>& events) {
  for (const Event& event : events) {
    SHAPLEY_TRY_ASSIGN(const accounting::Applied applied, books.apply(event));
    if (applied == accounting::Applied::needs_replay) return std::nullopt;
  }
  return books;
}

// The books of all events of the ledger and of `events`, in the order of time.
Expected<State> books_with(const Ledger& ledger, const std::vector<Event>& events) {
  SHAPLEY_TRY_ASSIGN(Recovered books, ledger.opening());
  std::vector<Event> all;
  SHAPLEY_TRY(ledger.for_each_event(books.last_sequence, [&](const StoredEvent& stored) {
    all.push_back(stored.event);
    return Expected<void>{};
  }));
  all.insert(all.end(), events.begin(), events.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
  for (const Event& event : all) SHAPLEY_TRY(apply_in_order(books.state, event));
  return std::move(books.state);
}

}  // namespace

Expected<AdjustmentAsked> adjustment_asked(const AdjustRequest& request) {
  AdjustmentAsked asked{.what = {}, .author = {}, .reason = request.reason};
  int ways = 0;
  const auto take = [&](const auto& way, auto make) {
    if (!way) return;
    ++ways;
    asked.what = make(*way);
  };
  const auto same = [](const auto& way) { return way; };
  const auto join = [](AdjustmentKind kind) {
    return [kind](const JoinRequest& way) { return JoinAsked{kind, way.organization, way.into}; };
  };
  take(request.attribute, same);
  take(request.own, same);
  take(request.rename, join(AdjustmentKind::rename));
  take(request.merge, join(AdjustmentKind::merge));
  take(request.settle, same);
  take(request.reverse, [](std::uint32_t number) { return ReversalAsked{number}; });
  if (ways != 1)
    return fail(Errc::invalid_argument, "adjust: name one of attribute, own, rename, merge, settle and reverse");
  const char* empty = std::visit([](const auto& what) { return empty_member(what); }, asked.what);
  if (empty != nullptr) return fail(Errc::invalid_argument, fmt::format("adjust: {} must not be empty", empty));
  return asked;
}

AdjustmentRow adjustment_row(const AdjustmentMade& made) {
  return {.number = made.number,
          .at = made.at,
          .kind = made.kind,
          .what = made.what,
          .organization = made.organization,
          .into = made.into,
          .runs = made.runs,
          .facts = made.facts,
          .reverses = made.reverses == 0 ? std::nullopt : std::optional(made.reverses),
          .author = made.author,
          .reason = made.reason};
}

std::vector<ListedAdjustment> adjustments_of(const std::vector<PastAdjustment>& all, Instant since, Instant until) {
  std::vector<ListedAdjustment> rows;
  for (const PastAdjustment& adjustment : all) {
    if (!adjustment.concerns(since, until)) continue;
    ListedAdjustment row{.is = adjustment_row(adjustment.made), .reversed_by = {}, .later = {}, .work = {}};
    for (const PastAdjustment& other : all) {
      if (other.made.reverses == adjustment.made.number) row.reversed_by = other.made.number;
    }
    row.later = adjustment.made_after(until);
    row.work.emplace();
    if (adjustment.work) *row.work = Amount{*adjustment.work};
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> booked_names(const State& books, const std::vector<std::string>& organizations) {
  std::vector<std::string> names;
  for (const std::string& name : books.organizations()) {
    const auto is_of = [&](const std::string& organization) {
      return books.find_organization(organization) == books.find_organization(name);
    };
    if (std::any_of(organizations.begin(), organizations.end(), is_of)) names.push_back(name);
  }
  return names;
}

AdjustmentsReport adjustments_report(const State& books) {
  const std::vector<AdjustmentMade> all = books.adjustments();
  AdjustmentsReport report;
  for (const AdjustmentMade& made : all) {
    ListedAdjustment row{.is = adjustment_row(made), .reversed_by = {}, .later = {}, .work = {}};
    for (const AdjustmentMade& later : all) {
      if (later.reverses == made.number) row.reversed_by = later.number;
    }
    report.adjustments.push_back(std::move(row));
  }
  return report;
}

std::vector<std::string> clusters_with_former_name(const accounting::State& books,
                                                   const accounting::AdjustmentMade& made) {
  std::vector<std::string> clusters;
  const bool joins = made.kind == accounting::AdjustmentKind::rename || made.kind == accounting::AdjustmentKind::merge;
  const accounting::ConsortiumDeclared* consortium = books.consortium();
  if (!joins || consortium == nullptr) return clusters;
  for (const accounting::OtherCluster& other : consortium->clusters) clusters.push_back(other.cluster);
  return clusters;
}

Expected<PreviewReport> preview_report(const Ledger& ledger, const AdjustmentAsked& asked, Instant now) {
  SHAPLEY_TRY_ASSIGN(Recovered recovered, ledger.recover());
  const accounting::EstimatorId estimator = ranking_estimator(recovered.state);
  SHAPLEY_TRY_ASSIGN(const AdjustmentPlan plan, plan_adjustment(ledger, recovered.state, asked, now));
  const Instant t = std::max(now, recovered.state.now());
  const std::map<std::string, RankedRow> before = rows_at(recovered.state, t, estimator);
  const std::map<Instant, ClosedBooks> closed_before = closed_books(recovered.state, estimator);
  const std::vector<Event> events = plan.events();
  SHAPLEY_TRY_ASSIGN(std::optional<State> with, applied_to(std::move(recovered.state), events));
  if (!with) {
    SHAPLEY_TRY_ASSIGN(with, books_with(ledger, events));
  }
  const std::map<std::string, RankedRow> after = rows_at(*with, t, estimator);
  PreviewReport report{.adjustment = adjustment_row(plan.made),
                       .core_hours = core_hours(plan.work),
                       .contribution = std::string(accounting::name_of(estimator)),
                       .organizations = {},
                       .closed = {},
                       .elsewhere = clusters_with_former_name(*with, plan.made)};
  for (const auto& [name, row] : before) {
    StandingsRow& changes = report.organizations.emplace_back(
        StandingsRow{.name = name, .before = row.standing_core_hours, .key_before = row.key_core_hours});
    const auto found = after.find(name);
    if (found == after.end()) continue;
    changes.after = found->second.standing_core_hours;
    changes.key_after = found->second.key_core_hours;
  }
  const bool joins = plan.made.kind == AdjustmentKind::rename || plan.made.kind == AdjustmentKind::merge;
  if (!joins) report.closed = restated(closed_before, closed_books(*with, estimator));
  const Instant since = report.closed.empty() ? with->period_begin() : Instant{report.closed.front().begin.value};
  report.in = unit_of(with->charges(), since, t);
  return report;
}

}  // namespace shapley::ledger
