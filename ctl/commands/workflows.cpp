#include "ctl/commands/workflows.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/calendar.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string two_digits(const json& value) {
  if (!value.is_number()) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value.get<double>());
  return text.data();
}

std::string level_range(const json& value) {
  if (!value.is_array() || value.size() != 2) return "-";
  return value[0] == value[1] ? value[0].dump() : value[0].dump() + "-" + value[1].dump();
}

constexpr std::array k_workflow_fields{
    Field{.name = "workflow",
          .member = "workflow",
          .title = "Workflow",
          .meaning = "what names it: its wckey, array, name prefix, or the first job of those tied by dependencies",
          .align = Align::left},
    Field{.name = "pending", .member = "pending", .title = "Pending", .meaning = "jobs that could start now"},
    Field{.name = "blocked", .member = "blocked", .title = "Blocked", .meaning = "pending jobs that could not"},
    Field{.name = "running", .member = "running", .title = "Running", .meaning = "running jobs"},
    Field{.name = "finished",
          .member = "finished",
          .title = "Finished",
          .meaning = "completed runs whose durations are remembered, 100 for each activity at most"},
    Field{.name = "w",
          .member = "pending_work",
          .title = "W",
          .meaning =
              "its fraction of pending work, the greatest of its activities; none when nothing runs or could start",
          .people = two_digits},
    Field{.name = "before",
          .member = "pending_work_before",
          .title = "Before",
          .meaning = "the same at the last cycle of the loop that had another eta",
          .people = two_digits},
    Field{.name = "levels",
          .member = "levels",
          .title = "Levels",
          .meaning = "least and greatest level of its raised jobs",
          .people = level_range},
    Field{.name = "raised", .member = "raised_jobs", .title = "Raised", .meaning = "jobs that go first"},
};

constexpr std::array k_activity_fields{
    Field{.name = "workflow", .member = "workflow", .title = "Workflow", .meaning = "as above", .align = Align::left},
    Field{.name = "activity",
          .member = "activity",
          .title = "Activity",
          .meaning = "its array or name",
          .align = Align::left},
    Field{.name = "q", .member = "waiting_processors", .title = "Q", .meaning = "processors that it waits for"},
    Field{.name = "r", .member = "running_processors", .title = "R", .meaning = "processors that it runs on"},
    Field{.name = "median", .member = "median_s", .title = "Median", .meaning = "of its completed runs, seconds"},
    Field{.name = "p",
          .member = "performance",
          .title = "P",
          .meaning = "1: its running jobs take no longer than the median; towards 0: much longer",
          .people = two_digits},
    Field{.name = "t",
          .member = "relative_duration",
          .title = "T",
          .meaning = "its median over the longest one; 1 with relative_duration: off",
          .people = two_digits},
    Field{.name = "w", .member = "pending_work", .title = "w", .meaning = "Q / (Q + R P) T", .people = two_digits},
    Field{.name = "delta", .member = "delta", .title = "Delta", .meaning = "processors of it that go first"},
};

std::string instant_text(const json& at) {
  return at.is_number_integer() ? format_instant(Instant{at.get<std::int64_t>()}) : "?";
}

std::string turn_text(const json& organization, const char* member) {
  const json turn = organization.value(member, json(nullptr));
  return turn.is_object() ? two_digits(turn["eta"]) + " at " + instant_text(turn["at"]) : std::string("none");
}

std::string heading(const json& organization) {
  const bool unfair = organization.value("unfair", false);
  return member_text(organization, "organization") + ": eta " + two_digits(organization["eta"]) + " at " +
         instant_text(organization["at"]) + ", " + (unfair ? "above" : "not above") + " the threshold of " +
         two_digits(organization["threshold"]) + (unfair ? ": jobs of those that wait most go first" : "") +
         "\nbefore: " + turn_text(organization, "before") + "; highest: " + turn_text(organization, "highest") + '\n';
}

std::string table_of(std::string_view format, std::span<const Field> fields, const json& rows) {
  const auto columns = parse_columns(format, fields);
  return columns ? render_table(*columns, rows, {}) : columns.error().what;
}

json activity_rows(const json& workflows) {
  json rows = json::array();
  for (const json& workflow : workflows) {
    for (json activity : workflow.value("activities", json::array())) {
      activity["workflow"] = workflow["workflow"];
      rows.push_back(std::move(activity));
    }
  }
  return rows;
}

std::string hidden_line(std::uint64_t hidden) {
  return grouped(static_cast<std::int64_t>(hidden)) + (hidden == 1 ? " workflow has" : " workflows have") +
         " jobs of others, which are private here (PrivateData in slurm.conf).\n";
}

}  // namespace

std::span<const Field> workflow_fields() {
  return k_workflow_fields;
}

std::span<const Field> activity_fields() {
  return k_activity_fields;
}

std::string render_workflows(const json& report, bool long_form) {
  std::string text;
  for (const json& organization : report.value("organizations", json::array())) {
    const json workflows = organization.value("workflows", json::array());
    if (!text.empty()) text += '\n';
    text += heading(organization) + '\n';
    const auto hidden = organization.value("hidden_workflows", std::uint64_t{0});
    const std::string others = hidden == 0 ? "" : hidden_line(hidden);
    if (workflows.empty()) {
      text += hidden == 0 ? "No job of it runs or waits.\n" : others;
      continue;
    }
    text +=
        table_of("workflow%-24,pending,blocked,running,finished,w,before,levels,raised", k_workflow_fields, workflows);
    if (long_form) {
      text += '\n' +
              table_of("workflow%-24,activity%-24,q,r,median,p,t,w,delta", k_activity_fields, activity_rows(workflows));
    }
    if (organization.value("truncated", false)) text += "Only the 1,000 workflows that wait most are shown.\n";
    text += others;
  }
  return text.empty() ? "No organization has within_organization: workflow_fairness.\n" : text;
}

void add_workflows(CLI::App& app, WorkflowsArguments& arguments) {
  CLI::App* command = app.add_subcommand("workflows", "Show how evenly an organization's workflows get on");
  command->add_option("organization", arguments.organization, "Only this one");
  command->add_flag("-l,--long", arguments.long_form, "Their activities, too");
  command->add_flag("--json", arguments.json, "Print the whole report, raised jobs included, as JSON");
}

Expected<ExitCode> run_workflows(const WorkflowsArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  json request{{"request", "workflows"}};
  if (!arguments.organization.empty()) request["organization"] = arguments.organization;
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json report, client.ask(request));
  environment.out << (arguments.json ? json_text(report) : render_workflows(report, arguments.long_form));
  return ExitCode::success;
}

}  // namespace shapley::ctl
