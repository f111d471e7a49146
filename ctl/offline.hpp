// The books of a ledger file, read without a daemon: the file of a running one, or a copy on another machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/jobs_report.hpp"

namespace shapley::ctl {

// A time on the command line (base/calendar.hpp). Errc::invalid_argument names `option` and what is allowed.
[[nodiscard]] Expected<Instant> parse_time(const std::string& text, const std::string& option);

struct OfflineQuestion {
  std::filesystem::path ledger;
  std::optional<Instant> at;                            // none: when the ledger last recorded something
  std::optional<accounting::EstimatorId> contribution;  // none: as the configuration in the ledger says
  std::filesystem::path archives = {};                  // where the ledger's archives are; empty: near the ledger
};

// ledger::status_report at that instant, from the events that speak of it or of earlier times, with all that is known
// today: what was recorded late counts, and a run that was retracted later does not. So the past reads the same
// whenever it is asked for. Errc::not_found names an archive that is needed for that and is not there.
[[nodiscard]] Expected<nlohmann::json> offline_status(const OfflineQuestion& question);

// ledger::jobs_report as of when the ledger last recorded something.
[[nodiscard]] Expected<nlohmann::json> offline_jobs(const std::filesystem::path& file,
                                                    const ledger::JobsFilter& filter);

}  // namespace shapley::ctl
