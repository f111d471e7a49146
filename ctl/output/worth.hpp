// What cooperation is worth, as text. `worth`: that member of a report (ledger/reports/worth_report.hpp).
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

// The table of organizations, that of pairs if there are any, then a sentence for each organization, for all together
// and for the coalition that would gain most by leaving, and what bounds there are on what is provisional. Empty when
// there is nothing to tell.
[[nodiscard]] std::string worth_tables(const nlohmann::json& worth);

// The sentences of it alone; of more than k_most_lines organizations the first ones.
[[nodiscard]] std::string worth_sentences(const nlohmann::json& worth);

// "Limits:  ...": what must be known of any of these figures.
[[nodiscard]] std::string worth_limits(const nlohmann::json& worth);

// Why a report of `status` says nothing of it: part of a sentence.
[[nodiscard]] std::string worth_unknown(const nlohmann::json& report);

// All that a report of `status` says of it, under a line that says when and since when; or why it does not.
[[nodiscard]] std::string render_worth(const nlohmann::json& report);

}  // namespace shapley::ctl
