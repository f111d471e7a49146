// Words that explain, compare and forecast share, from the members of their reports.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

// "1 job", "12 jobs", "1.5 processors"; `one` is the singular.
[[nodiscard]] std::string count_of(const nlohmann::json& number, std::string_view one);

// "2026-11-23T18:00:00Z (25 min)": an instant and how long ago it was.
[[nodiscard]] std::string since_text(const nlohmann::json& since, const nlohmann::json& at);
// "2026-11-23T18:00:00Z (in 25 min)".
[[nodiscard]] std::string ahead_text(const nlohmann::json& then, const nlohmann::json& at);
// " up to 2026-12-01T00:00:00Z, when ...", of the members "until", "until_utc" and "by_date".
[[nodiscard]] std::string until_text(const nlohmann::json& report);
// "what runs now counts for 2 h more, with weight 0.1"; "" where it does not count. Of status_report's member
// "ranking".
[[nodiscard]] std::string counting_text(const nlohmann::json& ranking);
// " (ranks look 30 days ahead; what runs now counts for 2 h more, with weight 0.1)", "" for the published rule.
[[nodiscard]] std::string horizon_text(const nlohmann::json& ranking);

// Names on one line, printable.
[[nodiscard]] std::string printable_line(std::string_view text);

// A row for each organization: rank, standing, key, used, waiting.
[[nodiscard]] std::string standings_table(const nlohmann::json& organizations);

}  // namespace shapley::ctl
