// Numbers of the model as text: short for people, exact for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/types.hpp"
#include "reports/amounts.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

// psi or phi, given as exact decimal text: all digits below a million, else three significant ones: "1.23e9".
[[nodiscard]] std::string short_utility(std::string_view exact);

// "+12.4", "-3.1", "0.0": hours that others owe (+) or are owed (-).
[[nodiscard]] std::string signed_core_hours(double core_hours);

// "12.4": hours got or given.
[[nodiscard]] std::string unsigned_core_hours(double core_hours);

// "12.4", "-3.1": the same where it may be negative, as what was given by estimators that correct themselves.
[[nodiscard]] std::string plain_core_hours(double core_hours);

// The same for a report's value, for a table's cell; "?" if it is neither a number nor the text of one.
[[nodiscard]] std::string core_hours_or_unknown(const nlohmann::json& value);
[[nodiscard]] std::string signed_or_unknown(const nlohmann::json& value);
[[nodiscard]] std::string utility_or_unknown(const nlohmann::json& value);

// Gives a table whose fields are named after core-hours the names and titles of what its amounts are counted in.
void name_unit(tables::Table& table, const ledger::AmountUnit& in);
// The output of --helpformat of such fields.
[[nodiscard]] std::string amounts_help(std::span<const tables::Field> fields);
// "Billing-hours", to begin a sentence.
[[nodiscard]] std::string capitalized_unit(const ledger::AmountUnit& in);

// A number of processors for people: at most three digits after the point ("2.667"); "?" if it is no number.
[[nodiscard]] std::string processors_or_unknown(const nlohmann::json& value);

// Whether a line is to say that nothing has started since then: less than a minute is no wait.
[[nodiscard]] bool is_worth_a_line(Instant since, Instant at);
// A line that says since when an organization with startable jobs has had no start.
[[nodiscard]] std::string no_start_line(const std::string& organization, Instant since, Instant at);

// The most lines for people of the same kind, one for each organization.
inline constexpr std::size_t k_most_lines = 10;

// The lines, one after the other; if there are more than k_most_lines, the first ones, and "and 40 others" after
// `word`.
[[nodiscard]] std::string first_lines(const std::vector<std::string>& lines, std::string_view word);

// "physics (Institute of Physics)"; only the name if that is also the title.
[[nodiscard]] std::string titled(const std::string& name, const std::string& title);

}  // namespace shapley::ctl
