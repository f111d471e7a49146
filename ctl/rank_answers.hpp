// Answers to explain, with --against and without it: from the daemon, or from a ledger file that the user named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "reports/compare.hpp"
#include "reports/explain.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

// From the command line; empty: not given.
struct RankSource {
  std::string ledger = {};
  std::string at = {};
  std::string archives = {};
};

[[nodiscard]] Expected<ledger::ExplainReport> explained(const ledger::ExplainRequest& asked, const RankSource& source,
                                                        const Endpoint& endpoint);
[[nodiscard]] Expected<ledger::CompareReport> compared(const std::string& a, const std::string& b,
                                                       const RankSource& source, const Endpoint& endpoint);

// Phrases that explanations, comparisons and forecasts share.

// "1 job", "12 jobs", "1.5 processors"; `one` is the singular. "? processors" if the number is unknown.
[[nodiscard]] std::string count_of(std::int64_t count, std::string_view one);
[[nodiscard]] std::string count_of(double number, std::string_view one);
[[nodiscard]] std::string count_of(const ledger::Processors& processors, std::string_view one = "processor");
[[nodiscard]] std::string count_of(const std::optional<ledger::Processors>& processors);
// "12", "1.5".
[[nodiscard]] std::string plain(const ledger::Processors& processors);

// "2026-11-23T18:00:00Z (25 min)": an instant and the time since then.
[[nodiscard]] std::string since_text(Instant since, Instant at);
// "2026-11-23T18:00:00Z (in 25 min)".
[[nodiscard]] std::string ahead_text(Instant then, Instant at);
// "12 weeks", "5 days", "4 hours", "20 minutes": rounded, to say about how long.
[[nodiscard]] std::string about(Duration duration);
// " up to 2026-12-01T00:00:00Z, when ...".
[[nodiscard]] std::string until_text(const ledger::OutlookLimit& limit);
// "what runs now counts for 2 h more, with weight 0.1", or, by a rule that brakes, in full; "" if running jobs do not
// count.
[[nodiscard]] std::string counting_text(const ledger::RankingReport& ranking);
// " (ranks look 30 days ahead; what runs now counts for 2 h more, with weight 0.1)", " (ranks look at how far there is
// to brake; what runs now counts for 2 h more)", "" for the published rule.
[[nodiscard]] std::string horizon_text(const ledger::RankingReport& ranking);

// A row for each organization: rank, standing, key, used, waiting.
[[nodiscard]] std::string standings_table(const std::vector<ledger::RankedRow>& organizations);

}  // namespace shapley::ctl
