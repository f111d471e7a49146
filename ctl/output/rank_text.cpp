#include "ctl/output/rank_text.hpp"

#include <array>

#include "base/calendar.hpp"
#include "base/duration.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::int64_t seconds_of(const json& instant) {
  return instant.is_number_integer() ? instant.get<std::int64_t>() : 0;
}

std::string signed_or_dash(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : "-";
}

std::string rank_or_dash(const json& value) {
  return value.is_number() ? value.dump() : "-";
}

constexpr std::array k_standing_fields{
    Field{.name = "organization", .member = "name", .title = "Organization", .meaning = "name", .align = Align::left},
    Field{.name = "rank", .member = "rank", .title = "Rank", .meaning = "1 goes first", .people = rank_or_dash},
    Field{.name = "standing",
          .member = "standing_core_hours",
          .title = "Standing",
          .meaning = "core-hours",
          .people = signed_or_dash},
    Field{.name = "key", .member = "key_core_hours", .title = "Key", .meaning = "core-hours", .people = signed_or_dash},
    Field{.name = "owned", .member = "owned", .title = "Owned", .meaning = "processors"},
    Field{.name = "used", .member = "used", .title = "Used", .meaning = "processors"},
    Field{.name = "running", .member = "running_jobs", .title = "Running", .meaning = "jobs"},
    Field{.name = "waiting", .member = "waiting", .title = "Waiting", .meaning = "processors"},
    Field{.name = "pending", .member = "waiting_jobs", .title = "Pending", .meaning = "jobs"},
};

}  // namespace

std::string count_of(const json& number, std::string_view one) {
  const std::string count = number.is_number() ? plain_number(number) : "?";
  return count + ' ' + std::string(one) + (count == "1" ? "" : "s");
}

std::string since_text(const json& since, const json& at) {
  return format_instant(Instant{seconds_of(since)}) + " (" + short_duration(seconds_of(at) - seconds_of(since)) + ")";
}

std::string ahead_text(const json& then, const json& at) {
  return format_instant(Instant{seconds_of(then)}) + " (in " + short_duration(seconds_of(then) - seconds_of(at)) + ")";
}

std::string until_text(const json& report) {
  if (report.value("by_date", false)) {
    return " up to " + member_text(report, "until_utc") + ", when a period ends or a node changes hands";
  }
  return " for a year at least";
}

std::string counting_text(const json& ranking) {
  if (ranking.value("running_factor", std::int64_t{0}) == 0) return "";
  return "what runs now counts for " + short_duration(ranking["residual_s"].get<std::int64_t>()) + " more" +
         (ranking["residual_assumed"] == true ? " (assumed)" : "") + ", with weight " +
         plain_number(ranking["running_weight"]);
}

std::string horizon_text(const json& ranking) {
  const auto horizon = ranking.value("horizon_s", std::int64_t{0});
  if (horizon == 0) return "";
  const DurationUnit& unit = largest_unit(Duration{horizon});
  const std::int64_t count = horizon / unit.seconds;
  const std::string counting = counting_text(ranking);
  return " (ranks look " + std::to_string(count) + ' ' + std::string(unit.word) + (count == 1 ? "" : "s") + " ahead" +
         (counting.empty() ? "" : "; " + counting) + ")";
}

std::string printable_line(std::string_view text) {
  return member_text(json{{"text", std::string(text)}}, "text");
}

std::string standings_table(const json& organizations) {
  const auto columns =
      parse_columns("organization,rank,standing,key,owned,used,running,waiting,pending", k_standing_fields);
  return columns ? render_table(*columns, organizations, {}) : columns.error().what;
}

}  // namespace shapley::ctl
