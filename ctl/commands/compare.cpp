#include "ctl/commands/compare.hpp"

#include <array>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/calendar.hpp"
#include "ctl/commands/explain.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/rank_text.hpp"
#include "ctl/output/table.hpp"
#include "ctl/slurm/job_facts.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string side_line(const json& side, const json& at) {
  std::string text;
  if (!side["job"].is_null()) {
    const json& job = side["job"];
    const std::string state = job["state"];
    text = "Job " + member_text(job, "job_id") + " of " + member_text(side, "organization") + ": ";
    if (state == "blocked") {
      text += "it could not start whatever is free";
    } else {
      text += state + (job["since"].is_null() ? std::string() : " since " + since_text(job["since"], at));
    }
    text += ", " + count_of(job["processors"], "processor") + ".\n";
  }
  if (side["rank"].is_null()) return text + member_text(side, "organization") + " has no rank.\n";
  return text + member_text(side, "organization") + ": rank " + member_text(side, "rank") + ", it " +
         member_text(side, "sentence") + "; key " + signed_core_hours(side["key_core_hours"].get<double>()) +
         "; it owns " + count_of(side["owned"], "processor") + ", uses " + member_text(side, "used") + ", lends " +
         member_text(side, "lent") + " and borrows " + member_text(side, "borrowed") + ".\n";
}

std::string other_of(const json& report) {
  const json& sides = report["sides"];
  return member_text(sides[report["first"] == sides[0]["organization"] ? 1 : 0], "organization");
}

std::string why_line(const json& report) {
  const std::string first = member_text(report, "first");
  const std::string other = other_of(report);
  std::string text = first + " goes before " + other + ": ";
  if (report["because"] == "guarantee") {
    return text + first +
           " has jobs that could start and runs on fewer than its guaranteed part of its own processors" +
           (report["difference_core_hours"].get<double>() < 0 ? "; by its key alone " + other + " would go first"
                                                              : std::string()) +
           ".\n";
  }
  if (report["because"] == "order") return text + "they are even, and the configuration names it first.\n";
  return text + "its key is greater by " + unsigned_core_hours(report["difference_core_hours"].get<double>()) +
         " core-hours" + horizon_text(report["ranking"]) +
         (report.value("by_what_runs", false) ? "; if nothing ran, " + other + " would go first" : std::string()) +
         ".\n";
}

std::string history_line(const json& report) {
  const json& since = report["since"];
  if (since.is_null() || since["order"].is_null()) {
    return report["since_unknown"].is_null()
               ? std::string()
               : "Since when is not known: " + member_text(report, "since_unknown") + ".\n";
  }
  std::string text = "It has done so since " + since_text(since["order"], report["at"]);
  const json& begin = report["period_begin"];
  const bool is_of_period = begin.is_number_integer() && since["keys"] <= begin;
  if (is_of_period) {
    return text + "; the difference has grown since the period began, " + since_text(begin, report["at"]) + ".\n";
  }
  return text + "; the difference was nought last at " + since_text(since["keys"], report["at"]) + ".\n";
}

// "35 more processors".
std::string more_processors(const json& count) {
  return plain_number(count) + (count == 1 ? " more processor" : " more processors");
}

std::string turning_lines(const json& report) {
  const std::string first = member_text(report, "first");
  const std::string other = other_of(report);
  std::string text;
  if (report["because"] == "guarantee") {
    const json& sides = report["sides"];
    const json lacking = sides[report["first"] == sides[0]["organization"] ? 0 : 1].value("lacking", json());
    text = "It turns when " + first + " runs on its guaranteed part" +
           (lacking.is_number() ? ", " + more_processors(lacking) : std::string()) +
           ", or has nothing more to start.\n";
  }
  const json startable = report.value("turning_processors", json());
  if (report["because"] == "key" && startable.is_number()) {
    text = first + " may start " + (startable == 0 ? "one job" : more_processors(startable)) + " before " + other +
           "'s first job.\n";
  }
  if (!report["turning_core_hours"].is_null() && report["because"] == "key") {
    const std::string amount = unsigned_core_hours(report["turning_core_hours"].get<double>());
    text += "It turns at once when " + first + " gets " + amount + " core-hours more than it gives, or when " + other +
            " gives " + amount + " core-hours more than it gets.\n";
  }
  if (report["turns"].empty()) {
    return text + "If nothing starts or ends it stays so" + until_text(report) + ".\n";
  }
  for (std::size_t i = 0; i < report["turns"].size(); ++i) {
    const json& turn = report["turns"][i];
    text += std::string(i == 0 ? "If nothing starts or ends " : "and then ") + member_text(turn, "first") +
            " goes first from " + ahead_text(turn["at"], report["at"]) + " on.\n";
  }
  return text;
}

// Slurm's own priorities of the two jobs.
std::string slurm_line(const json& report) {
  const json slurm = report.value("slurm", json::array());
  if (!slurm.is_array() || slurm.size() != 2) return "";
  std::string text;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string job = member_text(report["sides"][i]["job"], "job_id");
    if (slurm[i]["asked"] != true) return "Slurm was not asked: " + member_text(slurm[i], "why") + ".\n";
    if (slurm[i]["job"].is_null()) {
      text += "Slurm does not know job " + job + " any more. ";
    } else {
      text +=
          "Slurm: job " + job + " " + member_text(slurm[i]["job"], "state") + ", priority " +
          member_text(slurm[i]["job"], "priority") +
          (slurm[i]["job"]["reason"].is_null() ? std::string() : ", reason " + member_text(slurm[i]["job"], "reason")) +
          ". ";
    }
  }
  text.back() = '\n';
  return text;
}

// A job that has started is better looked at as of the second before it did.
std::string past_hint(const json& report) {
  std::string text;
  for (const json& side : report["sides"]) {
    const json& job = side["job"];
    if (job.is_null() || job["state"] != "running" || report["past"] == true) continue;
    text += "Why job " + member_text(job, "job_id") + " started when it did: shapleyctl compare " +
            member_text(report["sides"][0]["job"], "job_id") + " " + member_text(report["sides"][1]["job"], "job_id") +
            " --at " + format_instant(Instant{job["since"].get<std::int64_t>() - 1}) + "\n";
  }
  return text;
}

}  // namespace

void add_compare(CLI::App& app, CompareArguments& arguments) {
  CLI::App* command = app.add_subcommand("compare", "Who of two goes first and why, since when, what would turn it");
  command->add_option("A", arguments.a, "An organization or a job")->required();
  command->add_option("B", arguments.b, "Another one")->required();
  add_rank_options(*command, arguments.source, arguments.json);
}

void add_forecast(CLI::App& app, ForecastArguments& arguments) {
  CLI::App* command = app.add_subcommand("forecast", "When do ranks turn, if nothing starts or ends?");
  add_rank_options(*command, arguments.source, arguments.json);
}

std::string render_comparison(const json& report) {
  std::string text = side_line(report["sides"][0], report["at"]);
  if (report["same_organization"] == true) {
    if (report["sides"][1]["job"].is_null() || report["sides"][0]["job"].is_null()) {
      return text + "There is nothing to compare: both are " + member_text(report["sides"][0], "organization") + ".\n";
    }
    const std::string second = side_line(report["sides"][1], report["at"]);
    text += second.substr(0, second.find('\n') + 1);
    return text + "Both are of " + member_text(report["sides"][0], "organization") +
           ": their ranks are the same, and Slurm's own factors (age, fairshare, size, QOS, nice) and levels "
           "decide.\n" +
           slurm_line(report);
  }
  text += side_line(report["sides"][1], report["at"]) + "\n";
  if (report["first"].is_null()) return text;
  text += why_line(report) + history_line(report) + turning_lines(report);
  const json& priorities = report["priorities"];
  if (!priorities.is_null() && priorities["mode"] == "observe") {
    text += "Ranks are not in force (mode observe).\n";
  } else if (!priorities.is_null() && priorities["order"] == "weighted") {
    text += "With order weighted a rank is one factor among others: a job's other factors may outweigh it.\n";
  }
  return text + slurm_line(report) + past_hint(report);
}

std::string render_forecast(const json& report) {
  std::string text = "Ranks at " + member_text(report, "at_utc") + ":";
  for (const json& row : report["organizations"]) {
    text += (text.back() == ':' ? " " : ", ") + member_text(row, "name");
  }
  text += "\n\n";
  if (report["turns"].empty()) {
    text += "No pair of them turns" + until_text(report) + ".\n";
  } else {
    json rows = report["turns"];
    for (json& row : rows) row["in"] = short_duration(row["in_s"].get<std::int64_t>());
    constexpr std::array k_fields{
        Field{.name = "at", .member = "at_utc", .title = "At", .meaning = "when", .align = Align::left},
        Field{.name = "in", .member = "in", .title = "In", .meaning = "how long from now"},
        Field{.name = "first", .member = "first", .title = "Passes", .meaning = "who", .align = Align::left},
        Field{.name = "then", .member = "then", .title = "Whom", .meaning = "whom", .align = Align::left},
    };
    const auto columns = parse_columns("at,in,first,then", k_fields);
    text += columns ? render_table(*columns, rows, {}) : columns.error().what;
    text += "\nAll other pairs keep their order" + until_text(report) + ".\n";
  }
  text +=
      "This is exact as long as no job starts or ends, none begins or stops waiting, and no node changes; each of "
      "these makes another forecast.\n";
  const std::string counting = counting_text(report["ranking"]);
  if (!counting.empty()) {
    text += "It takes that mean residual run time to stay: " + counting + "; it is measured once a day at most.\n";
  }
  if (report.value("ranked_by", "") == "hindsight") {
    text += "By hindsight so does a job that starts or ends in what a coalition would have run alone.\n";
  }
  return text;
}

Expected<ExitCode> run_compare(const CompareArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(json report, rank_answer({{"request", "compare"}, {"a", arguments.a}, {"b", arguments.b}},
                                              arguments.source, endpoint));
  const bool is_live = arguments.source.ledger.empty() && arguments.source.at.empty();
  report["slurm"] = nullptr;
  if (is_live && !report["sides"][0]["job"].is_null() && !report["sides"][1]["job"].is_null()) {
    report["slurm"] = {slurm_facts(arguments.a, environment.run_program),
                       slurm_facts(arguments.b, environment.run_program)};
  }
  environment.out << (arguments.json ? json_text(report) : render_comparison(report));
  return ExitCode::success;
}

Expected<ExitCode> run_forecast(const ForecastArguments& arguments, const Endpoint& endpoint,
                                const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const json report, rank_answer({{"request", "forecast"}}, arguments.source, endpoint));
  environment.out << (arguments.json ? json_text(report) : render_forecast(report));
  return ExitCode::success;
}

}  // namespace shapley::ctl
