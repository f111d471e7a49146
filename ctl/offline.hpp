// The books of a ledger file that the user named, read without a daemon: the file of a running one, or a copy on
// another machine.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/environment.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/statement.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

// A time on the command line (base/time_text.hpp). Errc::invalid_argument names `option` and what is allowed.
[[nodiscard]] Expected<Instant> parse_time(const std::string& text, const std::string& option);

// The same for a time that must not be in the future, as all times that the books are asked about. A time that `ledger`
// (if not empty) has recorded is in the past, whatever this host's clock says.
[[nodiscard]] Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                                const std::filesystem::path& ledger = {});

// The times of --since, which must not lie in the future, and of --until, which must be after it; empty: not given.
struct TimesAsked {
  std::optional<Instant> since;
  std::optional<Instant> until;
};
[[nodiscard]] Expected<TimesAsked> parse_times(const std::string& since_text, const std::string& until_text,
                                               const std::filesystem::path& ledger = {});

// An option that is about a ledger's file, as it was given; `value` is empty if it was not.
struct FileOption {
  std::string_view name;
  std::string_view value;
};
// Errc::invalid_argument: one of them was given, and no ledger file (`ledger` is empty).
[[nodiscard]] Expected<void> check_file_options(const std::filesystem::path& ledger,
                                                std::initializer_list<FileOption> options);

// The directory of the ledger's archives: the named one, else the one beside the ledger.
[[nodiscard]] std::filesystem::path archives_of(const std::filesystem::path& ledger,
                                                const std::filesystem::path& named);

// The result of `make` on an open ledger file; its errors name the file.
template <typename Make>
[[nodiscard]] auto from_ledger(const std::filesystem::path& file, Make make)
    -> decltype(make(std::declval<const ledger::Ledger&>())) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  auto made = make(opened.ledger());
  if (!made) return with_context(file.native(), std::move(made).error());
  return made;
}

struct OfflineQuestion {
  std::filesystem::path ledger;
  std::optional<Instant> at = std::nullopt;                            // none: the time of the ledger's last record
  std::optional<accounting::EstimatorId> contribution = std::nullopt;  // none: that of the configuration in the ledger
  std::filesystem::path archives = {};  // directory of the archives; empty: beside the ledger
  bool worth = false;                   // with ledger::worth_report as its member `worth`
  bool forecast = false;                // with ledger::forecast_report as its member `forecast`
};

// ledger::status_report at that instant, from the events of that time and earlier ones as they are known today: events
// that were recorded late count, and runs that were retracted later do not. Errc::not_found names a required archive
// that is missing.
[[nodiscard]] Expected<ledger::StatusReport> offline_status(const OfflineQuestion& question);

// The titles of organizations in the configuration that was in force, by name; organizations without a title are left
// out.
[[nodiscard]] Expected<std::map<std::string, std::string>> offline_titles(const std::filesystem::path& ledger,
                                                                          Instant at);

struct IntervalQuestion {
  std::filesystem::path ledger;
  std::filesystem::path archives = {};
  std::optional<Instant> since = std::nullopt;        // none: the usual time before `until`
  std::optional<Instant> until = std::nullopt;        // none, or later than the known time: the end of the known time
  std::optional<Instant> known_until = std::nullopt;  // the present of a daemon; none: the ledger's last record
  std::optional<accounting::EstimatorId> contribution =
      std::nullopt;                    // none: that of the configuration in force at `until`
  std::vector<std::string> only = {};  // organizations; empty: all of them
  bool as_of_now = false;              // closed periods as known today (IntervalAsked::as_of)
};

// ledger::statement_report; without `since`, of the month (UTC) that `until` is in. Errc::invalid_argument: the
// interval is not in the ledger yet, the books begin later, or an organization does not exist.
[[nodiscard]] Expected<ledger::AccountReport> offline_statement(const IntervalQuestion& question);
// ledger::history_report, with the same errors; without `since`, of the last day by the hour, of 31 days, or of a year.
[[nodiscard]] Expected<ledger::HistoryReport> offline_history(const IntervalQuestion& question, ledger::Interval by);

// The reply to a request of shapleyd to its reading program (ledger::Reading), as text: {"report": ...} or {"error":
// ...}.
[[nodiscard]] std::string offline_answer(const std::string& reading);

// ledger::preview_report of an adjustment by this author.
[[nodiscard]] Expected<ledger::PreviewReport> offline_preview(const std::filesystem::path& file,
                                                              const ledger::AdjustRequest& request, std::string author,
                                                              Instant now);

// ledger::jobs_report at the time of the ledger's last record.
[[nodiscard]] Expected<ledger::JobsReport> offline_jobs(const std::filesystem::path& file,
                                                        const ledger::JobsFilter& filter);

}  // namespace shapley::ctl
