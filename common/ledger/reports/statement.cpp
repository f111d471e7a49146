#include "ledger/reports/statement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/utilization.hpp"

namespace shapley::ledger {

namespace {

using accounting::EstimatorId;
using accounting::Standing;

BooksThenRow books_of(const Standing& standing, EstimatorId estimator, Duration elapsed) {
  return {.standing_core_hours = standing_core_hours(standing.balance(estimator), elapsed),
          .phi_minus_psi = standing.balance(estimator),
          .difference = {standing.given(estimator) - standing.got}};
}

// The organizations that are asked for, in the configuration's order.
Expected<std::vector<OrgId>> chosen(const accounting::State& state, const std::vector<std::string>& only) {
  std::vector<OrgId> order = state.configured_order();
  for (const std::string& name : only) {
    if (state.find_organization(name)) continue;
    std::vector<std::string> known;
    for (const OrgId id : order) known.push_back(state.organizations()[id.value]);
    return unknown_organization(name, known);
  }
  if (!only.empty()) {
    std::vector<OrgId> asked;
    for (const std::string& name : only) asked.push_back(*state.find_organization(name));
    std::erase_if(order, [&](OrgId id) { return std::ranges::find(asked, id) == asked.end(); });
  }
  return order;
}

// What happened to a row from one instant of a period to a later one: jobs got and gave, and amounts were settled.
struct Change {
  CpuTime got;
  CpuTime given;
  CpuTime settled;  // given less got
};

Change change_between(const Standing& opening, const Standing& closing, EstimatorId estimator) {
  const CpuTime settled_got = closing.settled_got - opening.settled_got;
  const CpuTime settled_given = closing.settled_given - opening.settled_given;
  return {.got = closing.got - opening.got - settled_got,
          .given = closing.given(estimator) - opening.given(estimator) - settled_given,
          .settled = settled_given - settled_got};
}

struct UserWork {
  CpuTime got;
  CpuTime own;
};

// The sums over the whole requested time.
class Totals {
 public:
  void add(const Stretch& stretch) {
    got_.resize(stretch.closing.size());
    for (std::vector<CpuTime>* const by_organization : {&waited_, &offered_, &idle_wanted_})
      by_organization->resize(stretch.closing.size());
    for (std::size_t i = 0; i < stretch.closing.size(); ++i)
      got_[i] += change_between(stretch.opening[i], stretch.closing[i], accounting::k_default_estimator).got;
    for (std::size_t i = 0; i < stretch.waited.size(); ++i) {
      waited_[i] += stretch.waited[i];
      offered_[i] += stretch.offered[i];
      idle_wanted_[i] += stretch.idle_wanted[i];
    }
    for (const auto& [key, work] : stretch.held) held_[key] += work;
    exact_ = exact_ && is_exact(stretch);
  }

  // What was given may be corrected later.
  void add_given(const Stretch& stretch, EstimatorId estimator) {
    given_.resize(std::max(given_.size(), stretch.closing.size()));
    settled_.resize(given_.size());
    for (std::size_t i = 0; i < stretch.closing.size(); ++i) {
      const Change change = change_between(stretch.opening[i], stretch.closing[i], estimator);
      given_[i] += change.given;
      settled_[i] += change.settled;
    }
  }

  [[nodiscard]] bool exact() const { return exact_; }

  [[nodiscard]] std::vector<AccountRow> rows(const std::vector<OrgId>& order, PastBooks& books,
                                             const std::vector<std::string>& names) const {
    const accounting::UserNames users = books.user_names();
    const OwnerMatrix matrix = matrix_of(held_, names.size());
    std::vector<AccountRow> rows;
    for (const OrgId organization : order) {
      rows.push_back(row(organization, matrix, names));
      rows.back().users = users_of(organization, books, users);
    }
    return rows;
  }

 private:
  [[nodiscard]] AccountRow row(OrgId organization, const OwnerMatrix& matrix,
                               const std::vector<std::string>& names) const {
    const std::size_t id = organization.value;
    AccountRow row{.name = names[id],
                   .got = {at(got_, id)},
                   .given = {at(given_, id)},
                   .settled = {at(settled_, id)},
                   .own = {matrix[id][id]},
                   .lent = {},
                   .borrowed = {},
                   .waited = {at(waited_, id)},
                   .capacity = {at(offered_, id)},
                   .idle_wanted = {at(idle_wanted_, id)},
                   .idle_unwanted = {},
                   .lent_to = {},
                   .borrowed_from = {},
                   .users = {}};
    for (std::size_t other = 0; other < names.size(); ++other) {
      if (other == id) continue;
      row.lent.work += matrix[other][id];
      row.borrowed.work += matrix[id][other];
      add_pair(row.lent_to, names[other], matrix[other][id]);
      add_pair(row.borrowed_from, names[other], matrix[id][other]);
    }
    row.idle_unwanted = {row.capacity.work - row.own.work - row.lent.work - row.idle_wanted.work};
    return row;
  }

  static CpuTime at(const std::vector<CpuTime>& amounts, std::size_t id) {
    return id < amounts.size() ? amounts[id] : CpuTime{};
  }

  static void add_pair(std::vector<LentPair>& pairs, const std::string& other, CpuTime work) {
    if (work.value != 0) pairs.push_back({other, core_hours(work), work});
  }

  [[nodiscard]] std::vector<UserRow> users_of(OrgId organization, const PastBooks& books,
                                              const accounting::UserNames& names) const {
    std::map<std::pair<std::string, std::uint32_t>, UserWork> users;
    const HeldKey first{organization, OrgId{}};
    for (auto held = held_.lower_bound(first); held != held_.end(); ++held) {
      const auto& [key, work] = *held;
      if (key.organization != organization) break;
      UserWork& user = users[{books.accounts().name_of(key.account), key.user_id}];
      user.got += work;
      if (key.owner == organization) user.own += work;
    }
    std::vector<UserRow> rows;
    for (const auto& [key, work] : users) {
      const auto name = names.find(key.second);
      rows.push_back({key.first,
                      key.second,
                      {work.got},
                      {work.own},
                      {work.got - work.own},
                      name == names.end() ? std::string() : name->second});
    }
    return rows;
  }

  std::vector<CpuTime> got_, given_, settled_, waited_, offered_, idle_wanted_;
  Held held_;
  bool exact_ = true;
};

PeriodPart part_of(const Stretch& stretch, EstimatorId estimator, const std::vector<OrgId>& order,
                   const std::vector<std::string>& names, const AmountUnit& in) {
  PeriodPart part{.begin = std::max(stretch.begin, stretch.period_begin),  // the ledger may begin within the stretch
                  .end = stretch.end,
                  .period_begin = stretch.period_begin,
                  .opens_period = stretch.opens_period,
                  .closes_period = stretch.closes_period,
                  .organizations = {},
                  .worth = {}};
  for (const OrgId id : order) {
    if (id.value >= stretch.closing.size()) continue;  // it joined the books later
    const Standing& opening = stretch.opening[id.value];
    const Standing& closing = stretch.closing[id.value];
    const Change change = change_between(opening, closing, estimator);
    PeriodRow row{.name = names[id.value],
                  .opening = books_of(opening, estimator, stretch.begin - stretch.period_begin),
                  .got = {change.got},
                  .given = {change.given},
                  .settled = {change.settled},
                  .closing = books_of(closing, estimator, stretch.end - stretch.period_begin),
                  .sentence = {}};
    row.sentence = difference_sentence(signed_text(row.closing.difference.core_hours()),
                                       signed_text(row.closing.standing_core_hours), in);
    part.organizations.push_back(std::move(row));
  }
  return part;
}

IntervalHeading heading(const IntervalAsked& asked) {
  return {.since = asked.since,
          .until = asked.until,
          .contribution = std::string(accounting::name_of(asked.estimator)),
          .books_begin = {},
          .recorded_until = {},
          .in = {},
          .former_contribution = {}};
}

// `since`: of the first period, from which amounts are carried into the time.
AmountUnit unit_from(PastBooks& books, Instant since, const IntervalAsked& asked) {
  return unit_of(books.state().charges(), std::min(since, asked.since), asked.until);
}

// The books at the interval's end, and what happened in it.
HistoryRow history_row(const Stretch& stretch, std::size_t id, EstimatorId estimator, const OwnerMatrix& matrix,
                       const std::string& name) {
  const Standing& opening = stretch.opening[id];
  const Standing& closing = stretch.closing[id];
  const Change change = change_between(opening, closing, estimator);
  CpuTime lent;
  CpuTime borrowed;
  for (std::size_t other = 0; other < matrix.size(); ++other) {
    if (other == id) continue;
    lent += matrix[other][id];
    borrowed += matrix[id][other];
  }
  return {.begin = stretch.begin,
          .end = stretch.end,
          .period_begin = stretch.period_begin,
          .opens_period = stretch.opens_period,
          .organization = name,
          .standing_core_hours = standing_core_hours(closing.balance(estimator), stretch.end - stretch.period_begin),
          .psi = closing.psi,
          .phi = closing.phi(estimator),
          .got_core_hours = core_hours(change.got),
          .given_core_hours = core_hours(change.given),
          .settled_core_hours = core_hours(change.settled),
          .lent_core_hours = core_hours(lent),
          .borrowed_core_hours = core_hours(borrowed),
          .waited_core_hours = core_hours(id < stretch.waited.size() ? stretch.waited[id] : CpuTime{}),
          .owned = Processors(closing.owned).number(),
          .used = Processors(closing.used).number(),
          .lent = Processors(closing.lent).number(),
          .borrowed = Processors(closing.borrowed).number(),
          .waiting = Processors(closing.waiting).number(),
          .got = change.got,
          .given = change.given,
          .settled = change.settled};
}

tl::unexpected<Error> within_a_period(Instant t) {
  return fail(Errc::invalid_argument,
              fmt::format("what is known now of a time that is over is kept of whole closed periods only, and at {} "
                          "none begins or ends; ask for whole ones, or without --as-of",
                          format_instant(t)));
}

// The worth of cooperation in closed periods, by everything that became known later.
//
// Books forget what coalitions did in a period when nothing can change it any more. So they are asked before each time
// that they forget, and their last answer is kept.
class ClosedWorths {
 public:
  // For the periods that end after `since`.
  explicit ClosedWorths(Instant since) : since_(since) {}

  // REQUIRES: the same books each time, before they forget what is after the instant of the last look.
  void look(accounting::State& books) {
    std::vector<Instant> ends;
    for (const accounting::ClosedPeriod& period : books.closed_periods()) ends.push_back(period.end);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] <= since_) continue;
      Known& known = known_[ends[i]];
      if (known.is_final) continue;
      auto worth = books.closed_worth(i);
      known.is_final = !worth;
      if (worth) known.worth = std::move(worth);
    }
  }
  // nullptr: no look found one, or no period ends then. Valid until the next look.
  [[nodiscard]] const accounting::CooperationWorth* of_period_until(Instant end) const {
    const auto known = known_.find(end);
    return known == known_.end() || !known->second.worth ? nullptr : &*known->second.worth;
  }

 private:
  struct Known {
    std::optional<accounting::CooperationWorth> worth;
    bool is_final = false;  // nothing changes it any more, or it was not available at the first look
  };

  Instant since_;
  std::map<Instant, Known> known_;  // by the period's end
};

// Sets the figures of closed periods to those known at `as_of`. `books` are at the end of the last stretch.
Expected<void> restate(PastBooks& books, Instant as_of, std::vector<Stretch>& stretches, ClosedWorths& worths) {
  for (const Stretch& stretch : stretches) {
    if (!stretch.opens_period) return within_a_period(stretch.begin);
    if (!stretch.closes_period && stretch.end < as_of) return within_a_period(stretch.end);
  }
  for (Instant t = stretches.back().end; t < as_of;) {
    t = std::min(day_begin(t) + Duration{k_day_s}, as_of);
    SHAPLEY_TRY(books.advance_to(t));
    worths.look(books.state());
    SHAPLEY_TRY(books.forget());
  }
  const std::vector<accounting::ClosedPeriod>& closed = books.state().closed_periods();
  for (Stretch& stretch : stretches) {
    const auto period = std::ranges::find(closed, stretch.end, &accounting::ClosedPeriod::end);
    if (period == closed.end()) continue;  // it goes on
    stretch.closing = period->standings;
    for (std::size_t o = stretch.opening.size(); o < stretch.closing.size(); ++o)
      stretch.opening.emplace_back().organization = {static_cast<std::uint32_t>(o)};
  }
  return {};
}

}  // namespace

Expected<AccountReport> statement_report(PastBooks& books, const IntervalAsked& asked) {
  Totals totals;
  std::vector<Stretch> stretches;
  std::vector<std::optional<accounting::CooperationWorth>> worths;
  ClosedWorths closed_worths(asked.since);
  const auto take = [&](const Stretch& stretch, PastBooks& then) {
    totals.add(stretch);
    stretches.push_back(stretch);
    stretches.back().held.clear();
    accounting::State& state = then.state();
    const std::size_t closed = state.closed_periods().size();
    worths.push_back(stretch.closes_period ? state.closed_worth(closed - 1) : state.advance(stretch.end).worth());
  };
  const auto look = [&](PastBooks& then) { closed_worths.look(then.state()); };
  SHAPLEY_TRY(for_each_stretch(books, {.since = asked.since, .until = asked.until, .with_until = asked.with_until},
                               take, asked.as_of ? look : BeforeForgetting{}));
  const std::vector<std::string> names = books.state().organizations();
  SHAPLEY_TRY_ASSIGN(const std::vector<OrgId> order, chosen(books.state(), asked.only));
  if (asked.as_of) SHAPLEY_TRY(restate(books, *asked.as_of, stretches, closed_worths));
  AccountReport report{
      .of = heading(asked),
      .as_of = asked.as_of,
      .periods = {},
      .organizations = {},
      .adjustments = adjustments_of(books.adjustments(), asked.since, asked.until + Duration{asked.with_until ? 1 : 0}),
      .exact = totals.exact()};
  report.of.in = unit_from(books, stretches.empty() ? asked.since : stretches.front().period_begin, asked);
  std::vector<std::string> shown;
  for (const OrgId id : order) shown.push_back(names[id.value]);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    totals.add_given(stretches[i], asked.estimator);
    PeriodPart& part = report.periods.emplace_back(part_of(stretches[i], asked.estimator, order, names, report.of.in));
    const accounting::CooperationWorth* later = closed_worths.of_period_until(stretches[i].end);
    part.worth = worth_report(books.state(), later == nullptr ? worths[i] : *later);
    if (part.worth && !asked.only.empty()) keep_only(*part.worth, shown);
  }
  report.organizations = totals.rows(order, books, names);
  return report;
}

namespace {

constexpr std::int64_t k_hour_s = 3600;
// In seconds; 0: months, whose lengths differ.
constexpr std::int64_t length_of(Interval interval) {
  constexpr std::array<std::int64_t, k_intervals.size()> k_lengths{10, 60, 600, k_hour_s, 6 * k_hour_s, k_day_s, 0};
  return k_lengths[static_cast<std::size_t>(interval)];
}

constexpr std::int64_t k_most_short_intervals = 2'000;

}  // namespace

std::optional<Interval> parse_interval(std::string_view name) {
  const auto known = std::ranges::find_if(k_intervals, [&](Interval interval) { return name_of(interval) == name; });
  return known == k_intervals.end() ? std::nullopt : std::optional(*known);
}

std::string interval_names() {
  std::string names;
  for (const Interval interval : k_intervals) {
    names += interval == k_intervals.front() ? "" : interval == k_intervals.back() ? " or " : ", ";
    names += name_of(interval);
  }
  return names;
}

Interval shortest_interval(Duration span, std::int64_t most) {
  const auto fits = [&](Interval interval) { return span.value <= most * length_of(interval); };
  const auto shortest = std::ranges::find_if(k_intervals, fits);
  return shortest == k_intervals.end() ? Interval::day : *shortest;
}

std::vector<Instant> begins_between(Interval interval, Instant since, Instant until) {
  const Duration length{interval == Interval::month ? k_day_s : length_of(interval)};
  std::vector<Instant> begins;
  Instant next = interval == Interval::month ? period_end(Period::monthly, since)
                                             : Instant{since.value - since.value % length.value} + length;
  while (next < until) {
    begins.push_back(next);
    next = interval == Interval::month ? period_end(Period::monthly, next) : next + length;
  }
  return begins;
}

namespace {

// Whether only organizations were declared: nothing was owned, run or asked for.
bool is_before_anything(const Stretch& stretch) {
  const auto is_zero = [](const accounting::Standing& standing) {
    return standing.owned == ProcessorMillionths{} && standing.used == ProcessorMillionths{} &&
           standing.waiting == ProcessorMillionths{} && standing.got == CpuTime{};
  };
  return stretch.held.empty() && std::ranges::all_of(stretch.closing, is_zero);
}

}  // namespace

Expected<HistoryReport> history_report(PastBooks& books, const IntervalAsked& asked, Interval by,
                                       bool with_utilization) {
  const std::int64_t length = length_of(by);
  if (length > 0 && length < k_hour_s && (asked.until - asked.since).value > k_most_short_intervals * length) {
    return fail(Errc::invalid_argument,
                fmt::format("a history by {} has at most {} intervals; ask for a shorter time, or for longer intervals",
                            name_of(by), k_most_short_intervals));
  }
  HistoryReport report{.of = heading(asked), .by = std::string(name_of(by)), .rows = {}};
  if (with_utilization) report.utilization = UtilizationReport{.not_known = {"drained", "reserved"}};
  bool begun = false;
  const auto add = [&](const Stretch& stretch, PastBooks& then) {
    begun = begun || !is_before_anything(stretch);
    if (!begun) return;
    const std::vector<std::string>& names = then.state().organizations();
    const OwnerMatrix matrix = matrix_of(stretch.held, names.size());
    report.exact = report.exact && is_exact(stretch);
    std::vector<std::pair<OrgId, std::string>> shown;
    for (const OrgId id : then.state().configured_order()) {
      const std::string& name = names[id.value];
      if (id.value >= stretch.closing.size()) continue;
      const auto is_asked = [&](const std::string& only) { return then.state().find_organization(only) == id; };
      if (!asked.only.empty() && std::ranges::none_of(asked.only, is_asked)) continue;
      report.rows.push_back(history_row(stretch, id.value, asked.estimator, matrix, name));
      shown.emplace_back(id, name);
    }
    if (report.utilization) add_utilization(*report.utilization, stretch, matrix, shown);
  };
  SHAPLEY_TRY(for_each_stretch(books,
                               {.since = asked.since,
                                .until = asked.until,
                                .cuts = begins_between(by, asked.since, asked.until),
                                .with_until = asked.with_until,
                                .with_use = with_utilization},
                               add));
  SHAPLEY_TRY(chosen(books.state(), asked.only));
  report.of.in =
      unit_from(books, report.rows.empty() ? asked.since : Instant{report.rows.front().period_begin.value}, asked);
  return report;
}

}  // namespace shapley::ledger
