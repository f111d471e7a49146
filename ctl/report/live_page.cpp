#include "ctl/report/live_page.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/other_clusters.hpp"
#include "ctl/rank_answers.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

constexpr Field k_standings_columns[] = {
    left({"organization", "Organization", {}, "name"}),
    {"rank", "Rank"},
    {"standing", "Standing", {}, "standing_core_hours", signed_or_unknown},
    {"got", "Got", {}, "got_core_hours", core_hours_or_unknown},
    {"given", "Given", {}, "given_core_hours", core_hours_or_unknown},
    {"owned", "Owned", {}, {}, processors_or_unknown},
    {"used", "Used", {}, {}, processors_or_unknown},
    {"waiting", "Waiting", {}, {}, processors_or_unknown},
    {"startable", "Startable", {}, "waiting_jobs"},
};

constexpr Field k_jobs_columns[] = {
    left({"job", "Job"}),       left({"organization", "Organization"}), {"place", "Place"},
    {"tasks", "Jobs or tasks"}, {"processors", "Processors of each"},   {"submitted", "Submitted", {}, "submit_utc"},
};

// Those that have a rank, or would have one.
json order_values(const std::vector<ledger::OrganizationRow>& organizations) {
  json order = json::array();
  for (const ledger::OrganizationRow& row : organizations) {
    const bool would_have_one = row.would_rank && *row.would_rank;
    if (!row.is.rank && !would_have_one) continue;
    json waiting;
    if (row.is.waiting_jobs > 0) {
      waiting = {{"jobs", count_of(row.is.waiting_jobs, "job")},
                 {"wait", row.is.waiting_jobs == 1 ? "waits" : "wait"},
                 {"processors", count_of(row.is.waiting)}};
    }
    order.push_back({{"organization", titled(row.is.name, row.title)},
                     {"sentence", row.is.sentence},
                     {"is_below_guarantee", row.is.below_guarantee == true},
                     {"is_last", row.is.last == true},
                     {"waiting", std::move(waiting)}});
  }
  return order;
}

json turns_values(const ledger::ForecastReport& forecast, Instant now) {
  if (forecast.turns.empty()) return nullptr;
  json first = json::array();
  for (std::size_t i = 0; i < forecast.turns.size() && i < k_most_live_turns; ++i) {
    const ledger::ForecastTurn& turn = forecast.turns[i];
    first.push_back({{"passes", turn.first}, {"passed", turn.then}, {"at", ahead_text(turn.at, now)}});
  }
  const std::size_t later = forecast.turns.size() - first.size();
  return {{"first", std::move(first)}, {"later", later > 0 ? json(later) : json()}};
}

// The sentence that says why there is no table; null: there is one.
json no_jobs(const LiveReport& report) {
  if (!report.no_jobs.empty()) return "The jobs are not listed here: " + report.no_jobs;
  return report.jobs.empty() ? json("No job waits that could start") : json();
}

json jobs_values(const LiveReport& report) {
  if (!report.no_jobs.empty() || report.jobs.empty()) return nullptr;
  tables::Table table{.name = "Jobs that wait", .columns = columns_of(k_jobs_columns)};
  for (std::size_t i = 0; i < report.jobs.size() && i < k_most_live_jobs; ++i) {
    const PlacedJob& job = report.jobs[i];
    table.rows.push_back({{"job", job.is.job_id()},
                          {"organization", job.is.organization},
                          {"place", job.place},
                          {"tasks", job.is.tasks},
                          {"processors", job.is.processors},
                          {"submit_utc", format_instant(job.is.submit)}});
  }
  json values = table_values(table);
  values["of"] =
      report.jobs.size() <= k_most_live_jobs
          ? json()
          : json{{"shown", k_most_live_jobs}, {"all", grouped(static_cast<std::int64_t>(report.jobs.size()))}};
  values["is_cut"] = report.truncated;
  return values;
}

// What ranks count of the other clusters of a consortium, a sentence of each.
json elsewhere_values(const ledger::StatusReport& status) {
  std::vector<std::string> names;
  for (const ledger::OrganizationRow& row : status.organizations) names.push_back(row.is.name);
  json sentences = json::array();
  const std::string lines = ctl::elsewhere_lines(status.clusters, names, status.at, status.in);
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) sentences.push_back(std::string(line));
  }
  return sentences;
}

// Since when the plugin is away; null: it is connected.
json away_value(const ledger::StatusReport& status) {
  if (!status.plugin || status.plugin->connected) return nullptr;
  const Instant last = status.plugin->last_heard_at;
  return last.value > 0 ? ", and heard of it last at " + format_instant(last) : std::string(", and never has");
}

}  // namespace

std::string live_page(const LiveReport& report) {
  const ledger::StatusReport& status = report.status;
  return rendered("live.mustache", page_templates(),
                  {{"page", tables::page_values(report.heading, report.heading, report.every_s)},
                   {"at", status.at.utc()},
                   {"every", report.every_s > 0 ? json(short_duration(report.every_s)) : json()},
                   {"away", away_value(status)},
                   {"order", order_values(status.organizations)},
                   {"ranking", status.ranking.sentences},
                   {"elsewhere", elsewhere_values(status)},
                   {"is_idle", status.ranks_act == false},
                   {"unit", status.in.in_full()},
                   {"standings", tables::table_values({.name = "Standings",
                                                       .columns = columns_of(k_standings_columns),
                                                       .rows = json_of(status.organizations)})},
                   {"turns", turns_values(*status.forecast, status.at)},
                   {"limit", until_text(status.forecast->limit)},
                   {"no_jobs", no_jobs(report)},
                   {"jobs", jobs_values(report)}});
}

}  // namespace shapley::ctl
