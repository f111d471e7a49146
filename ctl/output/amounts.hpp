// Numbers of the model as text: short for people, exact for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

// psi or phi, given as exact decimal text: digits as they are below a million, else three significant ones: "1.23e9".
[[nodiscard]] std::string short_utility(std::string_view exact);

// "+12.4", "-3.1", "0.0": core-hours that others owe (+) or are owed (-).
[[nodiscard]] std::string signed_core_hours(double core_hours);

// "12.4": core-hours got or given.
[[nodiscard]] std::string unsigned_core_hours(double core_hours);

// The same of a report's value, for a table's cell; "?" when it is no number.
[[nodiscard]] std::string core_hours_or_unknown(const nlohmann::json& value);

// A JSON number in the fewest digits that read back as the same: "3", "-0.25", "0.333333", "1e-07".
[[nodiscard]] std::string plain_number(const nlohmann::json& number);

// A length of time: "4 s", "3 min", "5 h 12 min", "9 d 4 h". Negative ones (clocks that disagree) count as 0.
[[nodiscard]] std::string short_duration(std::int64_t seconds);

// Who has startable jobs and has had no start for how long, as a line of its own; a report's instants in seconds since
// the epoch. Empty where one of them is no number.
[[nodiscard]] std::string no_start_line(const std::string& organization, const nlohmann::json& since,
                                        const nlohmann::json& at);

// Of lines that say the same of one organization after the other nobody reads fifty.
inline constexpr std::size_t k_most_lines = 10;

// The lines, one after the other; of more than k_most_lines the first ones, and "and 40 others" behind `word`.
[[nodiscard]] std::string first_lines(const std::vector<std::string>& lines, std::string_view word);

// "1,204,311".
[[nodiscard]] std::string grouped(std::int64_t count);
// "1 run", "1,204 runs": of a noun that takes an s.
[[nodiscard]] std::string grouped(std::int64_t count, std::string_view noun);

}  // namespace shapley::ctl
