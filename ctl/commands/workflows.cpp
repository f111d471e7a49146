#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/commands.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

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

constexpr Field k_workflow_fields[] = {
    left({"workflow", "Workflow",
          "what names it: its wckey, array, name prefix, or the first job of those tied by dependencies"}),
    {"startable", "Startable", "jobs that could start now", "pending"},
    {"blocked", "Blocked", "pending jobs that could not"},
    {"running", "Running", "running jobs"},
    {"finished", "Finished", "completed runs whose durations are remembered, 100 for each activity at most"},
    {"w", "W", "its fraction of pending work, the greatest of its activities; none when nothing runs or could start",
     "pending_work", two_digits},
    {"before", "Before", "the same at the last cycle of the loop that had another eta", "pending_work_before",
     two_digits},
    {"levels", "Levels", "least and greatest level of its raised jobs", {}, level_range},
    {"raised", "Raised", "jobs that go first", "raised_jobs"},
};

constexpr Field k_activity_fields[] = {
    left({"workflow", "Workflow", "as above"}),
    left({"activity", "Activity", "its array or name"}),
    {"q", "Q", "processors that it waits for", "waiting_processors"},
    {"r", "R", "processors that it runs on", "running_processors"},
    {"median", "Median", "of its completed runs, seconds", "median_s"},
    {"p", "P", "1: its running jobs take no longer than the median; towards 0: much longer", "performance", two_digits},
    {"t", "T", "its median over the longest one; 1 with relative_duration: off", "relative_duration", two_digits},
    {"w", "w", "Q / (Q + R P) T", "pending_work", two_digits},
    {"delta", "Delta", "processors of it that go first"},
};

std::string turn_text(const std::optional<ledger::PastEta>& turn) {
  return turn ? fmt::format("{} at {}", two_digits(turn->eta), format_instant(turn->at)) : std::string("none");
}

std::string heading(const ledger::OrganizationWorkflows& is) {
  return printable(is.organization) + ": eta " + two_digits(is.eta) + " at " + format_instant(is.at) + ", " +
         (is.unfair ? "above" : "not above") + " the threshold of " + two_digits(is.threshold) +
         (is.unfair ? ": jobs of those that wait most go first" : "") + "\nbefore: " + turn_text(is.before) +
         "; highest: " + turn_text(is.highest) + '\n';
}

// All fields as columns; of text the narrowest useful width.
std::string table_of(std::span<const Field> fields, json rows) {
  constexpr std::size_t k_name_width = 24;
  tables::Table table{.columns = columns_of(fields), .rows = std::move(rows)};
  for (tables::Column& column : table.columns) {
    if (column.align == tables::Align::left) column.width = k_name_width;
  }
  return people_text(table);
}

json activity_rows(const std::vector<ledger::WorkflowRow>& workflows) {
  json rows = json::array();
  for (const ledger::WorkflowRow& workflow : workflows) {
    for (const ledger::ActivityRow& activity : workflow.activities) {
      rows.push_back(json_of(activity));
      rows.back().update({{"workflow", workflow.workflow}});
    }
  }
  return rows;
}

std::string hidden_line(std::uint64_t hidden) {
  return fmt::format("{}{} jobs of others, which are private here (PrivateData in slurm.conf).\n",
                     grouped(static_cast<std::int64_t>(hidden)), hidden == 1 ? " workflow has" : " workflows have");
}

}  // namespace

std::span<const tables::Field> workflow_fields() {
  return k_workflow_fields;
}

std::span<const tables::Field> activity_fields() {
  return k_activity_fields;
}

std::string render_workflows(const ledger::WorkflowsReport& report, bool long_form) {
  std::string text;
  for (const ledger::OrganizationWorkflows& organization : report.organizations) {
    if (!text.empty()) text += '\n';
    text += heading(organization) + '\n';
    const std::size_t hidden = organization.hidden_workflows;
    const std::string others = hidden == 0 ? "" : hidden_line(hidden);
    if (organization.workflows.empty()) {
      text += hidden == 0 ? "No job of it runs or waits.\n" : others;
      continue;
    }
    text += table_of(k_workflow_fields, json_of(organization.workflows));
    if (long_form) {
      text += '\n' + table_of(k_activity_fields, activity_rows(organization.workflows));
    }
    if (organization.truncated) text += "Only the 1,000 workflows that wait most are shown.\n";
    text += others;
  }
  return text.empty() ? "No organization has within_organization: workflow_fairness.\n" : text;
}

void add_workflows(CLI::App& app, WorkflowsArguments& arguments) {
  CLI::App* command = app.add_subcommand("workflows", "Show how evenly the workflows of an organization progress");
  command->add_option("ORGANIZATION", arguments.organization, "Show only this organization")->type_name("");
  command->add_flag("-l,--long", arguments.long_form, "Show the activities of the workflows, too");
  command->add_flag("--json", arguments.json, "Print the whole report as JSON, raised jobs included");
}

Expected<ExitCode> run_workflows(const WorkflowsArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const auto report,
                     ask_for<ledger::WorkflowsReport>(
                         endpoint, ledger::request_of("workflows", ledger::WorkflowsRequest{arguments.organization})));
  environment.out << (arguments.json ? tables::json_text(json_of(report))
                                     : render_workflows(report, arguments.long_form));
  return ExitCode::success;
}

}  // namespace shapley::ctl
