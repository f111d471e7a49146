#include "ctl/rank_answers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "answers/ranks.hpp"
#include "base/calendar.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

template <typename Request>
Expected<typename Request::Report> answered(Request request, const RankSource& source, const Endpoint& endpoint) {
  SHAPLEY_TRY(check_file_options(source.ledger, {{"--archives", source.archives}}));
  if (!source.at.empty()) {
    SHAPLEY_TRY_ASSIGN(request.at, parse_past_time(source.at, "--at", source.ledger));
  }
  return answer_to(request, {.path = source.ledger, .archives = source.archives}, endpoint);
}

}  // namespace

Expected<ledger::ExplainReport> explained(const ledger::ExplainRequest& asked, const RankSource& source,
                                          const Endpoint& endpoint) {
  return answered(asked, source, endpoint);
}

Expected<ledger::CompareReport> compared(const std::string& a, const std::string& b, const RankSource& source,
                                         const Endpoint& endpoint) {
  return answered(ledger::CompareRequest{.a = a, .b = b}, source, endpoint);
}

namespace {

constexpr tables::Field k_standing_fields[] = {
    tables::left({"organization", "Organization", {}, "name"}),
    {"rank", "Rank"},
    {"standing", "Standing", {}, "standing_core_hours", signed_or_unknown},
    {"key", "Key", {}, "key_core_hours", signed_or_unknown},
    {"owned", "Owned", {}, {}, processors_or_unknown},
    {"used", "Used", {}, {}, processors_or_unknown},
    {"running", "Running", {}, "running_jobs"},
    {"waiting", "Waiting", {}, {}, processors_or_unknown},
    {"startable", "Startable", {}, "waiting_jobs"},
};

}  // namespace

std::string count_of(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string count_of(double number, std::string_view one) {
  const std::string count = processors_or_unknown(number);
  return fmt::format("{} {}{}", count, one, count == "1" ? "" : "s");
}

std::string count_of(const ledger::Processors& processors, std::string_view one) {
  return count_of(processors.number(), one);
}

std::string count_of(const std::optional<ledger::Processors>& processors) {
  return processors ? count_of(*processors) : "? processors";
}

std::string plain(const ledger::Processors& processors) {
  return processors_or_unknown(json_of(processors));
}

std::string since_text(Instant since, Instant at) {
  return fmt::format("{} ({})", format_instant(since), short_duration((at - since).value));
}

std::string ahead_text(Instant then, Instant at) {
  return fmt::format("{} (in {})", format_instant(then), short_duration((then - at).value));
}

std::string about(Duration duration) {
  constexpr std::int64_t k_fewest = 3;  // of a unit
  constexpr std::array k_units{std::pair{604'800, "week"}, std::pair{86'400, "day"}, std::pair{3'600, "hour"},
                               std::pair{60, "minute"}};
  for (const auto& [seconds, word] : k_units) {
    if (duration.value >= k_fewest * seconds) return count_of((duration.value + seconds / 2) / seconds, word);
  }
  return count_of(std::max<std::int64_t>(1, duration.value / 60), "minute");
}

std::string until_text(const ledger::OutlookLimit& limit) {
  if (limit.by_date) return fmt::format(" up to {}, when a period ends or a node changes hands", limit.until.utc());
  if (limit.by_statement)
    return fmt::format(" up to {}, when what another cluster stated is too old", limit.until.utc());
  return " for a year at least";
}

namespace {

bool is_braking(const ledger::RankingReport& ranking) {
  return ranking.rule == accounting::KeyRule::braking;
}

}  // namespace

std::string counting_text(const ledger::RankingReport& ranking) {
  if (ranking.running_factor == 0) return "";
  return fmt::format("what runs now counts for {} more{}{}", short_duration(ranking.residual_s),
                     ranking.residual_assumed ? " (assumed)" : "",
                     is_braking(ranking) ? "" : ", with weight " + tables::plain_number(ranking.running_weight));
}

std::string horizon_text(const ledger::RankingReport& ranking) {
  if (is_braking(ranking)) return fmt::format(" (ranks look at how far there is to brake; {})", counting_text(ranking));
  if (ranking.horizon_s == 0) return "";
  const DurationUnit& unit = largest_unit(Duration{ranking.horizon_s});
  const std::int64_t count = ranking.horizon_s / unit.seconds;
  const std::string counting = counting_text(ranking);
  return fmt::format(" (ranks look {} ahead{})", count_of(count, unit.word), counting.empty() ? "" : "; " + counting);
}

std::string standings_table(const std::vector<ledger::RankedRow>& organizations) {
  return tables::people_text({.columns = columns_of(k_standing_fields), .rows = json_of(organizations)});
}

}  // namespace shapley::ctl
