#include "ctl/report/live_page.hpp"

#include <unordered_map>
#include <utility>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "charts/html.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/rank_answers.hpp"
#include "ctl/report/parts.hpp"

namespace shapley::ctl {

namespace {

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

// "1. astro is owed 12.4 core-hours by the others, on average this period; 3 jobs wait for 12 processors."
std::string order_html(const LiveReport& report) {
  std::string text = "<ol>\n";
  for (const ledger::OrganizationRow& row : report.status.organizations) {
    const bool would_have_one = row.would_rank && *row.would_rank;
    if (!row.is.rank && !would_have_one) continue;
    std::string line = titled(row.is.name, row.title) + ": " + row.is.sentence;
    if (row.is.below_guarantee == true) line += "; it runs on less than its guaranteed part, so it goes first";
    if (row.is.last == true) line += "; its jobs go after those of every organization";
    if (row.is.waiting_jobs > 0)
      line += "; " + count_of(row.is.waiting_jobs, "job") + (row.is.waiting_jobs == 1 ? " waits" : " wait") + " for " +
              count_of(row.is.waiting);
    text += item(line + ".");
  }
  text += "</ol>\n";
  for (const std::string& sentence : report.status.ranking.sentences) text += paragraph(sentence + ".");
  if (report.status.ranks_act == false)
    text += paragraph("Ranks are not in force (mode observe): Slurm's own priorities order the jobs.");
  return text;
}

std::string standings_html(const LiveReport& report) {
  return charts::table_html(
      {.name = "Standings", .columns = columns_of(k_standings_columns), .rows = json_of(report.status.organizations)});
}

std::string turns_html(const ledger::ForecastReport& forecast, Instant now) {
  if (forecast.turns.empty())
    return paragraph("If nothing starts or ends the order stays" + until_text(forecast.limit) + ".");
  std::string text = paragraph("If nothing starts or ends:") + "<ul>\n";
  for (std::size_t i = 0; i < forecast.turns.size() && i < k_most_live_turns; ++i) {
    const ledger::ForecastTurn& turn = forecast.turns[i];
    text += item(turn.first + " passes " + turn.then + " at " + ahead_text(turn.at, now) + ".");
  }
  text += "</ul>\n";
  if (forecast.turns.size() > k_most_live_turns)
    text += note("And " + std::to_string(forecast.turns.size() - k_most_live_turns) +
                 " later ones; shapleyctl status --forecast lists all.");
  return text;
}

std::string jobs_html(const LiveReport& report) {
  if (!report.no_jobs.empty()) return paragraph("The jobs are not listed here: " + report.no_jobs + ".");
  if (report.jobs.empty()) return paragraph("No job waits that could start.");
  tables::Table table{.name = "Jobs that wait", .columns = columns_of(k_jobs_columns)};
  for (std::size_t i = 0; i < report.jobs.size() && i < k_most_live_jobs; ++i) {
    const LiveJob& job = report.jobs[i];
    table.rows.push_back({{"job", job.is.job},
                          {"organization", job.is.organization},
                          {"place", job.place},
                          {"tasks", job.is.tasks},
                          {"processors", job.is.processors},
                          {"submit_utc", format_instant(job.is.submit)}});
  }
  std::string text = charts::table_html(table);
  if (report.jobs.size() > k_most_live_jobs)
    text += note("These are the first " + std::to_string(k_most_live_jobs) + " of " +
                 grouped(static_cast<std::int64_t>(report.jobs.size())) + " records.");
  return text + note(
                    "A place is the position in the order in which slurmctld tries these jobs; smaller jobs may start "
                    "earlier where they delay none before them (backfill). shapleyctl explain JOB says more of a job.");
}

}  // namespace

std::vector<LiveJob> live_jobs(std::vector<PendingRecord> records, const ledger::QueueReport& queue) {
  std::unordered_map<std::uint32_t, const ledger::QueuedJob*> startable;
  for (const ledger::QueuedJob& job : queue.jobs) startable.emplace(job.job, &job);
  std::vector<LiveJob> jobs;
  std::int64_t place = 1;
  for (const PendingRecord& record : in_turn(std::move(records))) {
    const auto found = startable.find(record.job);
    if (found == startable.end()) continue;
    jobs.push_back({place, *found->second});
    place += found->second->tasks;
  }
  return jobs;
}

std::string live_page(const LiveReport& report) {
  std::string made = "As of " + report.status.at.utc();
  if (report.every_s > 0) made += "; the page is renewed every " + short_duration(report.every_s);
  return charts::page_begin(report.heading, report.heading, report.every_s) + paragraph(made + ".") +
         "<h2>Who goes first</h2>\n" + order_html(report) + "<h2>Standings</h2>\n" +
         note(
             "Standing, Got and Given are core-hours. A standing is what an organization gave less what it got, on "
             "average over its period so far: owed by the others (+) or to them (-).") +
         standings_html(report) + "<h2>When the order turns</h2>\n" +
         turns_html(*report.status.forecast, report.status.at) + "<h2>Jobs that wait</h2>\n" + jobs_html(report) +
         charts::page_end();
}

}  // namespace shapley::ctl
