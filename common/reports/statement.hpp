// The figures of a month's statement and of a history.
//
// Two amounts, which must not be confused. The *difference* is a sum, work given - work got since the period began, so
// that in every period
//     difference at the end = difference at the begin + given - got + settled         [processor-seconds, exact]
// with what jobs got and gave; what was settled (accounting::WorkSettled) is an amount of its own.
// The *standing* is what `shapleyctl status` shows: the difference on average over the period so far (status.hpp). Both
// start again from zero where a period begins. docs/reference/shapleyctl/statement.md and history.md list every member;
// ledger/reports/statement.hpp makes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/adjustments.hpp"
#include "reports/amounts.hpp"
#include "reports/status.hpp"
#include "reports/utilization.hpp"
#include "reports/worth.hpp"

namespace shapley::ledger {

// The time, and the estimator.
struct IntervalHeading {
  int report_version = k_report_version;
  Dated since = {};
  Dated until = {};
  std::string contribution = {};
  // Set if the books do not cover all of the requested time.
  Dated books_begin = {};
  Dated recorded_until = {};
  AmountUnit in = {};  // from the begin of the first period on, from which its amounts are carried
  // Set if ranks were made at the end by an estimator that this version does not have.
  std::string former_contribution = {};
};
SHAPLEY_DESCRIBE(IntervalHeading, report_version, since, until, contribution, books_begin, recorded_until,
                 (flattened, in), (supplement, former_contribution));

// The books at one end of a period's part.
struct BooksThenRow {
  double standing_core_hours = 0;
  Utility phi_minus_psi = {};
  Amount difference = {};
};
SHAPLEY_DESCRIBE(BooksThenRow, standing_core_hours, phi_minus_psi, difference);

struct PeriodRow {
  std::string name = {};
  BooksThenRow opening = {};
  Amount got = {};
  Amount given = {};
  Amount settled = {};  // given less got
  BooksThenRow closing = {};
  std::string sentence = {};  // the difference and the standing at its end
};
SHAPLEY_DESCRIBE(PeriodRow, name, opening, got, given, settled, closing, sentence);

// The part of one period that lies in the requested time.
struct PeriodPart {
  Dated begin = {};
  Dated end = {};
  Dated period_begin = {};
  bool opens_period = false;
  bool closes_period = false;
  std::vector<PeriodRow> organizations = {};
  std::optional<WorthReport> worth = {};
};
SHAPLEY_DESCRIBE(PeriodPart, begin, end, period_begin, opens_period, closes_period, organizations, worth);

// What was lent to another organization, or borrowed from it.
struct LentPair {
  std::string organization = {};
  double core_hours = 0;
  CpuTime work = {};

  [[nodiscard]] Amount amount() const { return {work}; }
};
SHAPLEY_DESCRIBE(LentPair, organization, core_hours, (named, work, "processor_seconds"));

// One account's user: what its jobs got, and how much of that on its organization's own processors.
struct UserRow {
  std::optional<std::string> account = {};    // nullopt: the sum of the rows that are private to the asker
  std::optional<std::uint32_t> user_id = {};  // likewise
  Amount got = {};
  Amount own = {};
  Amount borrowed = {};
  std::string user = {};  // the name by the ledger; empty: it has none
};
SHAPLEY_DESCRIBE(UserRow, account, user_id, got, own, borrowed, (supplement, user));

// An organization's figures for the whole time.
struct AccountRow {
  std::string name = {};
  Amount got = {};
  Amount given = {};
  Amount settled = {};  // given less got
  Amount own = {};
  Amount lent = {};
  Amount borrowed = {};
  Amount waited = {};
  // What its processors could have done = own + lent + both of the following: idle while startable jobs asked for as
  // much (ledger/reports/stretches.hpp), and the rest.
  Amount capacity = {};
  Amount idle_wanted = {};
  Amount idle_unwanted = {};
  std::vector<LentPair> lent_to = {};
  std::vector<LentPair> borrowed_from = {};
  std::vector<UserRow> users = {};
};
SHAPLEY_DESCRIBE(AccountRow, name, got, given, settled, own, lent, borrowed, waited, capacity, idle_wanted,
                 idle_unwanted, lent_to, borrowed_from, users);

struct AccountReport {
  IntervalHeading of = {};
  Dated as_of = {};
  std::vector<PeriodPart> periods = {};
  std::vector<AccountRow> organizations = {};
  std::vector<ListedAdjustment> adjustments = {};
  bool exact = true;        // what was held agrees with the books
  bool is_private = false;  // what others used is hidden
};
SHAPLEY_DESCRIBE(AccountReport, (flattened, of), as_of, periods, organizations, adjustments, exact,
                 (supplement, is_private, "private"));

enum class Interval { ten_seconds, minute, ten_minutes, hour, six_hours, day, month };
inline constexpr std::array k_intervals{Interval::ten_seconds, Interval::minute, Interval::ten_minutes, Interval::hour,
                                        Interval::six_hours,   Interval::day,    Interval::month};
constexpr auto values_of(std::type_identity<Interval>) {
  return k_intervals;
}
constexpr std::string_view name_of(Interval interval) {
  return std::array{"10s", "minute", "10min", "hour", "6h", "day", "month"}[static_cast<std::size_t>(interval)];
}

// The books at the end of an interval, and what happened in it: got and given by jobs, as a statement has them.
struct HistoryRow {
  Dated begin = {};
  Dated end = {};
  Dated period_begin = {};
  bool opens_period = false;
  std::string organization = {};
  double standing_core_hours = 0;
  Utility psi = {};
  Utility phi = {};
  double got_core_hours = 0;
  double given_core_hours = 0;
  double settled_core_hours = 0;  // given less got
  double lent_core_hours = 0;
  double borrowed_core_hours = 0;
  double waited_core_hours = 0;
  double owned = 0;  // processors at its end; the following members are what they do
  double used = 0;
  double lent = 0;
  double borrowed = 0;
  double waiting = 0;
  CpuTime got = {};  // the same work as above, exact
  CpuTime given = {};
  CpuTime settled = {};
};
SHAPLEY_DESCRIBE(HistoryRow, begin, end, period_begin, opens_period, organization, standing_core_hours, psi, phi,
                 got_core_hours, given_core_hours, settled_core_hours, lent_core_hours, borrowed_core_hours,
                 waited_core_hours, owned, used, lent, borrowed, waiting, (named, got, "got_processor_seconds"),
                 (named, given, "given_processor_seconds"), (named, settled, "settled_processor_seconds"));

struct HistoryReport {
  IntervalHeading of = {};
  std::string by = {};
  std::vector<HistoryRow> rows = {};
  bool exact = true;
  std::optional<UtilizationReport> utilization = {};  // where it was asked for
};
SHAPLEY_DESCRIBE(HistoryReport, (flattened, of), by, rows, exact, (supplement, utilization));

}  // namespace shapley::ledger
