// The answers that are made from a ledger's file alone: about the books at its last record, and about the past. For
// `shapleyctl --ledger`, and for the program that answers questions about the past for shapleyd (shapleyctl --answer).
// Events count as they are known today: those that were recorded late count, and runs that were retracted later do not.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/archive/links.hpp"
#include "reports/requests.hpp"

namespace shapley::answers {

struct LedgerFile {
  std::filesystem::path path = {};
  std::filesystem::path archives = {};                // directory of its archives; empty: beside it
  std::optional<Instant> known_until = std::nullopt;  // the present of a daemon; none: the ledger's last record

  [[nodiscard]] std::filesystem::path archive_directory() const {
    return archives.empty() ? ledger::archives_near(path) : archives;
  }
};

// The result of `make` on the opened ledger; its errors name the file.
template <typename Make>
[[nodiscard]] auto from_ledger(const std::filesystem::path& file, Make make)
    -> decltype(make(std::declval<const ledger::Ledger&>())) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  auto made = make(opened.ledger());
  if (!made) return with_context(file.native(), std::move(made).error());
  return made;
}

// A request names an estimator that there is, or none: then it is that of the configuration in the ledger of that time.

// ledger::status_report of the ledger's last record, and of an instant. Errc::not_found names a required archive that
// is missing.
[[nodiscard]] Expected<ledger::StatusReport> answer(const ledger::StatusRequest& asked, const LedgerFile& file);
[[nodiscard]] Expected<ledger::StatusReport> answer(const ledger::StatusAtRequest& asked, const LedgerFile& file);

// ledger::statement_report; without `since`, of the month (UTC) that `until` is in; without `until`, up to
// ledger::last_known or `known_until`; with one later than the known time, up to the end of the known time.
// Errc::invalid_argument: the interval is not in the ledger yet, the books begin later, or an organization does not
// exist.
[[nodiscard]] Expected<ledger::AccountReport> answer(const ledger::StatementRequest& asked, const LedgerFile& file);
// ledger::history_report, with the same errors; without `since`, of the last day by the hour, of 31 days, or of a year.
[[nodiscard]] Expected<ledger::HistoryReport> answer(const ledger::HistoryRequest& asked, const LedgerFile& file);

// ledger::jobs_report at the time of the ledger's last record.
[[nodiscard]] Expected<ledger::JobsReport> answer(const ledger::JobsFilter& asked, const LedgerFile& file);

// ledger::preview_report of an adjustment by this author.
[[nodiscard]] Expected<ledger::PreviewReport> preview(const ledger::AdjustRequest& asked, const LedgerFile& file,
                                                      std::string author, Instant now);

// The titles of organizations in the configuration that was in force, by name; organizations without a title are left
// out.
[[nodiscard]] Expected<std::map<std::string, std::string>> titles(const LedgerFile& file, Instant at);

}  // namespace shapley::answers
