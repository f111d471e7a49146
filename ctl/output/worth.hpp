// The worth of cooperation (ledger/reports/worth_report.hpp), as text.
#pragma once

#include <string>

#include "ledger/reports/report.hpp"

namespace shapley::ctl {

// The table of organizations, that of pairs if there are any, then a sentence for each organization, for all together
// and for the coalition that would gain most by leaving, and the bounds of provisional values. Empty if there is
// nothing to show.
[[nodiscard]] std::string worth_tables(const ledger::WorthReport& worth, const ledger::AmountUnit& in,
                                       bool pairs = true);

// Only the sentences; those of the first organizations if there are more than k_most_lines.
[[nodiscard]] std::string worth_sentences(const ledger::WorthReport& worth);

// "Limits:  ...": the limits of these figures.
[[nodiscard]] std::string worth_limits(const ledger::WorthReport& worth);

// The whole text for a report of `status`, below a line with the time and the begin of the period; or the reason why
// it is missing.
[[nodiscard]] std::string render_worth(const ledger::StatusReport& report);

}  // namespace shapley::ctl
