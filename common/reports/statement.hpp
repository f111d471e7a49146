// The figures of a month's statement and of a history.
//
// Two amounts, which must not be confused. The *difference* is a sum, work given - work got since the period began, so
// that in every period
//     difference at the end = difference at the begin + given - got + settled         [processor-seconds, exact]
// with what jobs got and gave; what was settled (accounting::WorkSettled) is an amount of its own.
// The *standing* is what `shapleyctl status` shows: the difference on average over the period so far (status.hpp). Both
// start again from zero where a period begins. docs/reference/shapleyctl.md lists every member;
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
};
constexpr auto description_of(std::type_identity<IntervalHeading>) {
  return describe(member("report_version", &IntervalHeading::report_version), member("since", &IntervalHeading::since),
                  member("until", &IntervalHeading::until), member("contribution", &IntervalHeading::contribution),
                  member("books_begin", &IntervalHeading::books_begin),
                  member("recorded_until", &IntervalHeading::recorded_until));
}

// The books at one end of a period's part.
struct BooksThenRow {
  double standing_core_hours = 0;
  Utility phi_minus_psi = {};
  Amount difference = {};
};
constexpr auto description_of(std::type_identity<BooksThenRow>) {
  return describe(member("standing_core_hours", &BooksThenRow::standing_core_hours),
                  member("phi_minus_psi", &BooksThenRow::phi_minus_psi),
                  member("difference", &BooksThenRow::difference));
}

struct PeriodRow {
  std::string name = {};
  BooksThenRow opening = {};
  Amount got = {};
  Amount given = {};
  Amount settled = {};  // given less got
  BooksThenRow closing = {};
  std::string sentence = {};  // the difference and the standing at its end
};
constexpr auto description_of(std::type_identity<PeriodRow>) {
  return describe(member("name", &PeriodRow::name), member("opening", &PeriodRow::opening),
                  member("got", &PeriodRow::got), member("given", &PeriodRow::given),
                  member("settled", &PeriodRow::settled), member("closing", &PeriodRow::closing),
                  member("sentence", &PeriodRow::sentence));
}

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
constexpr auto description_of(std::type_identity<PeriodPart>) {
  return describe(member("begin", &PeriodPart::begin), member("end", &PeriodPart::end),
                  member("period_begin", &PeriodPart::period_begin), member("opens_period", &PeriodPart::opens_period),
                  member("closes_period", &PeriodPart::closes_period),
                  member("organizations", &PeriodPart::organizations), member("worth", &PeriodPart::worth));
}

// What was lent to another organization, or borrowed from it.
struct LentPair {
  std::string organization = {};
  double core_hours = 0;
  CpuTime work = {};

  [[nodiscard]] Amount amount() const { return {work}; }
};
constexpr auto description_of(std::type_identity<LentPair>) {
  return describe(member("organization", &LentPair::organization), member("core_hours", &LentPair::core_hours),
                  member("processor_seconds", &LentPair::work));
}

// One account's user: what its jobs got, and how much of that on its organization's own processors.
struct UserRow {
  std::optional<std::string> account = {};    // nullopt: the sum of the rows that are private to the asker
  std::optional<std::uint32_t> user_id = {};  // likewise
  Amount got = {};
  Amount own = {};
  Amount borrowed = {};
  std::string user = {};  // the name, if it was looked up
};
constexpr auto description_of(std::type_identity<UserRow>) {
  return describe(member("account", &UserRow::account), member("user_id", &UserRow::user_id),
                  member("got", &UserRow::got), member("own", &UserRow::own), member("borrowed", &UserRow::borrowed),
                  supplement("user", &UserRow::user));
}

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
  std::vector<LentPair> lent_to = {};
  std::vector<LentPair> borrowed_from = {};
  std::vector<UserRow> users = {};
};
constexpr auto description_of(std::type_identity<AccountRow>) {
  return describe(member("name", &AccountRow::name), member("got", &AccountRow::got),
                  member("given", &AccountRow::given), member("settled", &AccountRow::settled),
                  member("own", &AccountRow::own), member("lent", &AccountRow::lent),
                  member("borrowed", &AccountRow::borrowed), member("waited", &AccountRow::waited),
                  member("lent_to", &AccountRow::lent_to), member("borrowed_from", &AccountRow::borrowed_from),
                  member("users", &AccountRow::users));
}

struct AccountReport {
  IntervalHeading of = {};
  Dated as_of = {};
  std::vector<PeriodPart> periods = {};
  std::vector<AccountRow> organizations = {};
  std::vector<ListedAdjustment> adjustments = {};
  bool exact = true;        // what was held agrees with the books
  bool is_private = false;  // what others used is hidden
};
constexpr auto description_of(std::type_identity<AccountReport>) {
  return describe(flattened(&AccountReport::of), member("as_of", &AccountReport::as_of),
                  member("periods", &AccountReport::periods), member("organizations", &AccountReport::organizations),
                  member("adjustments", &AccountReport::adjustments), member("exact", &AccountReport::exact),
                  supplement("private", &AccountReport::is_private));
}

enum class Interval { ten_seconds, minute, ten_minutes, hour, six_hours, day, month };
inline constexpr std::array k_intervals{Interval::ten_seconds, Interval::minute, Interval::ten_minutes, Interval::hour,
                                        Interval::six_hours,   Interval::day,    Interval::month};
constexpr auto values_of(std::type_identity<Interval>) {
  return k_intervals;
}
constexpr std::string_view name_of(Interval interval) {
  return std::array{"10s", "minute", "10min", "hour", "6h", "day", "month"}[static_cast<std::size_t>(interval)];
}

// The books at the end of an interval, and what happened in it.
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
  double lent_core_hours = 0;
  double borrowed_core_hours = 0;
  double waited_core_hours = 0;
  double owned = 0;  // processors at its end; the following members are what they do
  double used = 0;
  double lent = 0;
  double borrowed = 0;
  double waiting = 0;
};
constexpr auto description_of(std::type_identity<HistoryRow>) {
  return describe(member("begin", &HistoryRow::begin), member("end", &HistoryRow::end),
                  member("period_begin", &HistoryRow::period_begin), member("opens_period", &HistoryRow::opens_period),
                  member("organization", &HistoryRow::organization),
                  member("standing_core_hours", &HistoryRow::standing_core_hours), member("psi", &HistoryRow::psi),
                  member("phi", &HistoryRow::phi), member("got_core_hours", &HistoryRow::got_core_hours),
                  member("given_core_hours", &HistoryRow::given_core_hours),
                  member("lent_core_hours", &HistoryRow::lent_core_hours),
                  member("borrowed_core_hours", &HistoryRow::borrowed_core_hours),
                  member("waited_core_hours", &HistoryRow::waited_core_hours), member("owned", &HistoryRow::owned),
                  member("used", &HistoryRow::used), member("lent", &HistoryRow::lent),
                  member("borrowed", &HistoryRow::borrowed), member("waiting", &HistoryRow::waiting));
}

struct HistoryReport {
  IntervalHeading of = {};
  std::string by = {};
  std::vector<HistoryRow> rows = {};
  bool exact = true;
};
constexpr auto description_of(std::type_identity<HistoryReport>) {
  return describe(flattened(&HistoryReport::of), member("by", &HistoryReport::by), member("rows", &HistoryReport::rows),
                  member("exact", &HistoryReport::exact));
}

}  // namespace shapley::ledger
