#include <cmath>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/advice/advice.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/table.hpp"
#include "ctl/output/worth.hpp"

namespace shapley::ctl {

namespace {

// By the mean flow, which users notice; less than a tenth of a percent counts as equal.
std::string comparison(const AdviceRow& row) {
  const double together = row.as_it_ran.mean_flow;
  const double alone = row.alone.mean_flow;
  const std::string from_to =
      " (mean flow " + rounded_duration(together) + " as it ran, " + rounded_duration(alone) + " alone)";
  if (std::abs(together - alone) <= alone / 1000) return " did as well as it would have done alone" + from_to;
  return (together < alone ? " did better than it would have done alone" : " would have done better alone") + from_to;
}

std::string verdict(const AdviceRow& row) {
  const std::string name = printable(row.organization);
  const auto runs = static_cast<std::int64_t>(row.runs);
  const auto impossible = static_cast<std::int64_t>(row.could_not_run_alone);
  if (runs + impossible == 0) return name + " ran nothing: there is nothing to compare.";
  if (runs == 0) {
    return name + " could not have had alone " +
           (impossible == 1 ? "its only run." : "any of its " + counted(impossible, "run") + '.');
  }
  if (impossible == 0) return name + comparison(row) + '.';
  return name + comparison(row) + ", but could not have had alone " + std::to_string(impossible) + " of its " +
         counted(runs + impossible, "run") + ", which never fit on what it owned.";
}

// The books' own answer, and the reason why the other one may differ.
std::string by_utility(const AdviceReport& report) {
  const auto worth = report.worth.value_or(std::nullopt);
  if (!worth || worth->organizations.empty()) {
    const std::string why = printable(report.worth_unknown);
    return why.empty() ? "" : "What it was worth by utility (status --worth) cannot be said: " + why + ".\n\n";
  }
  return "By utility, as the books have it (status --worth), from " + worth->begin.utc() + " to " + worth->end.utc() +
         ":\n" + worth_sentences(*worth) + '\n';
}

std::string left_out(const AdviceReport& report) {
  std::string text;
  for (const auto& [name, count] : report.left_out_without_nodes) {
    text += "Left out: " + counted(count, "run") + " of " + printable(name) + ", which never owned a processor.\n";
  }
  return text;
}

}  // namespace

void add_advise(CLI::App& app, AdviseArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "advise", "Estimate whether each organization would be better off alone, from pending jobs or a ledger's runs");
  CLI::Option* ledger =
      command->add_option("--ledger", arguments.ledger,
                          "Use the finished runs of this ledger file or a copy of it, without asking a daemon");
  ledger->type_name("FILE");
  command->add_option("-S,--since", arguments.since, "Use only jobs that were submitted at this instant or later")
      ->needs(ledger)
      ->type_name("TIME");
  command->add_option("-E,--until", arguments.until, "Use only runs that ended by this instant")
      ->needs(ledger)
      ->type_name("TIME");
  command->add_flag("--json", arguments.json, "Print the report as JSON");
}

std::string render_advice(const AdviceReport& report) {
  std::vector<OutcomeRow> rows;
  for (const AdviceRow& row : report.organizations) {
    rows.push_back({row.organization,
                    row.processors,
                    row.runs,
                    {{"as it ran", row.as_it_ran},
                     {"alone", row.alone},
                     {"planned alone", row.planned_alone},
                     {"planned together", row.planned_together}}});
  }
  std::string text = outcome_table(rows, {"runs", "Runs"}) + '\n';
  for (const AdviceRow& row : report.organizations) text += verdict(row) + '\n';
  return text + '\n' + by_utility(report) + left_out(report) + limits_text(report.limits);
}

namespace {

// From the books at the end of that time. If they cannot be read, the plans are shown nevertheless.
void add_worth(AdviceReport& report, const AdviceQuestion& question) {
  const auto books = offline_status({.ledger = question.ledger, .at = question.until, .worth = true});
  report.worth.emplace(books ? books->worth.value_or(std::nullopt) : std::nullopt);
  if (!*report.worth) report.worth_unknown = books ? worth_unknown(*books) : books.error().what;
}

Expected<ExitCode> advise_on_queue(const AdviseArguments& arguments, const Endpoint& endpoint,
                                   const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const auto queue, ask_for<ledger::QueueReport>(endpoint, {{"request", "queue"}}));
  SHAPLEY_TRY_ASSIGN(const PendingReport report, pending_advice_report(queue));
  environment.out << (arguments.json ? json_text(json_of(report)) : render_pending_advice(report));
  return ExitCode::success;
}

}  // namespace

Expected<ExitCode> run_advise(const AdviseArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.ledger.empty()) return advise_on_queue(arguments, endpoint, environment);
  SHAPLEY_TRY_ASSIGN(const TimesAsked times, parse_times(arguments.since, arguments.until));
  const AdviceQuestion question{.ledger = arguments.ledger, .since = times.since, .until = times.until};
  SHAPLEY_TRY_ASSIGN(AdviceReport report, advice_report(question));
  add_worth(report, question);
  environment.out << (arguments.json ? json_text(json_of(report)) : render_advice(report));
  return ExitCode::success;
}

}  // namespace shapley::ctl
