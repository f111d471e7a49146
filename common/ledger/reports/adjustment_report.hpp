// Adjustments: requests, the list of those made, and what one would change. docs/reference/protocol.md, "adjust".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct AdjustRequest;  // requests.hpp

// The adjustment that the request asks for; the caller adds the author. Errc::invalid_argument names the wrong member.
[[nodiscard]] Expected<AdjustmentAsked> adjustment_asked(const AdjustRequest& request);

struct AdjustmentRow {
  std::uint32_t number = 0;
  Dated at = {};
  accounting::AdjustmentKind kind = accounting::AdjustmentKind::attribute;
  std::string what = {};
  std::string organization = {};
  std::string into = {};
  std::int64_t runs = 0;
  std::int64_t facts = 0;
  std::optional<std::uint32_t> reverses = {};
  std::string author = {};
  std::string reason = {};

  // "runs of job 104 are library's".
  [[nodiscard]] std::string sentence() const;
};
constexpr auto description_of(std::type_identity<AdjustmentRow>) {
  return describe(member("number", &AdjustmentRow::number), member("at", &AdjustmentRow::at),
                  member("kind", &AdjustmentRow::kind), member("what", &AdjustmentRow::what),
                  member("organization", &AdjustmentRow::organization), member("into", &AdjustmentRow::into),
                  member("runs", &AdjustmentRow::runs), member("facts", &AdjustmentRow::facts),
                  member("reverses", &AdjustmentRow::reverses), member("author", &AdjustmentRow::author),
                  member("reason", &AdjustmentRow::reason));
}
[[nodiscard]] AdjustmentRow adjustment_row(const accounting::AdjustmentMade& made);

struct ListedAdjustment {
  AdjustmentRow is = {};
  std::optional<std::uint32_t> reversed_by = {};  // nullopt: it is in force
  // Members of a statement's list.
  std::optional<bool> later = {};                  // it was made after that time and changed its amounts
  std::optional<std::optional<Amount>> work = {};  // of the runs that it moved; nullopt: it moved none
};
constexpr auto description_of(std::type_identity<ListedAdjustment>) {
  return describe(flattened(&ListedAdjustment::is), member("reversed_by", &ListedAdjustment::reversed_by),
                  supplement("later", &ListedAdjustment::later), supplement("work", &ListedAdjustment::work));
}

struct AdjustmentsReport {
  int report_version = k_report_version;
  std::vector<ListedAdjustment> adjustments = {};
};
constexpr auto description_of(std::type_identity<AdjustmentsReport>) {
  return describe(member("report_version", &AdjustmentsReport::report_version),
                  member("adjustments", &AdjustmentsReport::adjustments));
}

// All adjustments in the books, the first one first.
[[nodiscard]] AdjustmentsReport adjustments_report(const accounting::State& books);

// Those of `all` that a statement of [since, until) lists.
[[nodiscard]] std::vector<ListedAdjustment> adjustments_of(const std::vector<PastAdjustment>& all, Instant since,
                                                           Instant until);

// The names under which runs of these organizations were booked: their own, and those of their present parts.
[[nodiscard]] std::vector<std::string> booked_names(const accounting::State& books,
                                                    const std::vector<std::string>& organizations);

struct StandingsRow {
  std::string name = {};
  double before = 0;
  std::optional<double> after = {};  // nullopt: afterwards it is a part of another one
};
constexpr auto description_of(std::type_identity<StandingsRow>) {
  return describe(member("name", &StandingsRow::name), member("standing_core_hours_before", &StandingsRow::before),
                  member("standing_core_hours_after", &StandingsRow::after));
}

struct PreviewReport {
  int report_version = k_report_version;
  AdjustmentRow adjustment = {};
  double core_hours = 0;  // of its runs
  std::string contribution = {};
  std::vector<StandingsRow> organizations = {};
  std::vector<std::string> elsewhere = {};  // other clusters of the consortium, which know the former name
};
constexpr auto description_of(std::type_identity<PreviewReport>) {
  return describe(
      member("report_version", &PreviewReport::report_version), member("adjustment", &PreviewReport::adjustment),
      member("core_hours", &PreviewReport::core_hours), member("contribution", &PreviewReport::contribution),
      member("organizations", &PreviewReport::organizations), supplement("elsewhere", &PreviewReport::elsewhere));
}

// The adjustment as it would be made at `now`, the work of its runs, and every organization's standing without and with
// it, by the estimator that ranks. The ledger is only read. Errors: those of plan_adjustment, and of reading.
[[nodiscard]] Expected<PreviewReport> preview_report(const Ledger& ledger, const AdjustmentAsked& asked, Instant now);

// An adjustment that was booked.
struct AdjustedReport {
  AdjustmentRow adjustment = {};
  double core_hours = 0;
  bool rebuild = false;                     // the books are rebuilt for it
  bool alone = false;                       // the other one of two controllers does not have it yet
  std::vector<std::string> elsewhere = {};  // as of PreviewReport
};
constexpr auto description_of(std::type_identity<AdjustedReport>) {
  return describe(member("adjustment", &AdjustedReport::adjustment), member("core_hours", &AdjustedReport::core_hours),
                  member("rebuild", &AdjustedReport::rebuild), supplement("alone", &AdjustedReport::alone),
                  supplement("elsewhere", &AdjustedReport::elsewhere));
}

// The other clusters of the consortium where an organization that this adjustment renames or merges has its former name
// still, and is not counted by the new one; empty: none.
[[nodiscard]] std::vector<std::string> clusters_with_former_name(const accounting::State& books,
                                                                 const accounting::AdjustmentMade& made);

}  // namespace shapley::ledger
