// The books of a ledger file, read without a daemon: the file of a running one, or a copy on another machine.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

// A time on the command line (base/calendar.hpp). Errc::invalid_argument names `option` and what is allowed.
[[nodiscard]] Expected<Instant> parse_time(const std::string& text, const std::string& option);

// The same, of a time that must not lie in the future: whatever the books are asked about. What `ledger`, if it is not
// empty, recorded is no future, whatever this host's clock says.
[[nodiscard]] Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                                const std::filesystem::path& ledger = {});

// Errc::invalid_argument unless the time from `since` up to `until`, as far as they are given, has a length.
[[nodiscard]] Expected<void> check_interval(std::optional<Instant> since, std::optional<Instant> until);

// Where the ledger's archives are: the directory that was named, else near the ledger.
[[nodiscard]] std::filesystem::path archives_of(const std::filesystem::path& ledger,
                                                const std::filesystem::path& named);

struct OfflineQuestion {
  std::filesystem::path ledger;
  std::optional<Instant> at;                            // none: when the ledger last recorded something
  std::optional<accounting::EstimatorId> contribution;  // none: as the configuration in the ledger says
  std::filesystem::path archives = {};                  // where the ledger's archives are; empty: near the ledger
  bool worth = false;                                   // with ledger::worth_report as its member `worth`
};

// ledger::status_report at that instant, from the events that speak of it or of earlier times, with all that is known
// today: what was recorded late counts, and a run that was retracted later does not. So the past reads the same
// whenever it is asked for. Errc::not_found names an archive that is needed for that and is not there.
[[nodiscard]] Expected<nlohmann::json> offline_status(const OfflineQuestion& question);

// The titles of organizations in the configuration that was in force, by name; those that have none are left out.
[[nodiscard]] Expected<std::map<std::string, std::string>> offline_titles(const std::filesystem::path& ledger,
                                                                          Instant at);

struct IntervalQuestion {
  std::filesystem::path ledger;
  std::filesystem::path archives = {};
  std::optional<Instant> since = std::nullopt;        // none: as much before `until` as is usual
  std::optional<Instant> until = std::nullopt;        // none, or later than what is known: that
  std::optional<Instant> known_until = std::nullopt;  // a daemon's present; none: the ledger's last record
  std::optional<accounting::EstimatorId> contribution =
      std::nullopt;                    // none: as the configuration in force at `until` says
  std::vector<std::string> only = {};  // organizations; empty: all of them
  bool as_of_now = false;              // closed periods by all that is known (IntervalAsked::as_of)
};

// ledger::statement_report, with the members "books_begin" and "recorded_until"; without `since` of the month (UTC)
// that `until` is in. Errc::invalid_argument: nothing of the interval is in the ledger yet, the books begin later, or
// they have no such organization.
[[nodiscard]] Expected<nlohmann::json> offline_statement(const IntervalQuestion& question);
// ledger::history_report likewise; without `since` of the last day by the hour, of 31 days, or of a year.
[[nodiscard]] Expected<nlohmann::json> offline_history(const IntervalQuestion& question, ledger::Interval by);

// ledger::jobs_report as of when the ledger last recorded something.
[[nodiscard]] Expected<nlohmann::json> offline_jobs(const std::filesystem::path& file,
                                                    const ledger::JobsFilter& filter);

}  // namespace shapley::ctl
