#include "ctl/commands/advise.hpp"

#include <array>
#include <cmath>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "ctl/advice/advice.hpp"
#include "ctl/advice/advice_parts.hpp"
#include "ctl/advice/pending_advice.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/table.hpp"
#include "ctl/output/worth.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::array k_ways{Way{"as_it_ran", "as it ran"}, Way{"alone", "alone"}, Way{"planned_alone", "planned alone"},
                            Way{"planned_together", "planned together"}};

// To a tenth of a second, without a needless zero.
std::string seconds(const json& value) {
  const long long tenths = std::llround(value.get<double>() * 10);
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + " s";
}

// From the mean flow, which is what users feel; a tenth of a percent is no difference.
std::string comparison(const json& organization) {
  const double together = organization["as_it_ran"]["mean_flow"].get<double>();
  const double alone = organization["alone"]["mean_flow"].get<double>();
  const std::string from_to = " (mean flow " + seconds(organization["as_it_ran"]["mean_flow"]) + " as it ran, " +
                              seconds(organization["alone"]["mean_flow"]) + " alone)";
  if (std::abs(together - alone) <= alone / 1000) return " did as well as it would have done alone" + from_to;
  return (together < alone ? " did better than it would have done alone" : " would have done better alone") + from_to;
}

std::string verdict(const json& organization) {
  const std::string name = member_text(organization, "organization");
  const auto runs = organization["runs"].get<std::int64_t>();
  const auto impossible = organization["could_not_run_alone"].get<std::int64_t>();
  if (runs + impossible == 0) return name + " ran nothing: there is nothing to compare.";
  if (runs == 0) {
    return name + " could not have had alone " +
           (impossible == 1 ? "its only run." : "any of its " + counted(impossible, "run") + '.');
  }
  if (impossible == 0) return name + comparison(organization) + '.';
  return name + comparison(organization) + ", but could not have had alone " + std::to_string(impossible) + " of its " +
         counted(runs + impossible, "run") + ", which never fit on what it owned.";
}

// The books' own answer, and why the other one may differ.
std::string by_utility(const json& report) {
  const json worth = report.value("worth", json(nullptr));
  if (worth.is_null() || worth["organizations"].empty()) {
    const std::string why = member_text(report, "worth_unknown");
    return why.empty() ? "" : "What it was worth by utility (status --worth) cannot be said: " + why + ".\n\n";
  }
  return "By utility, as the books have it (status --worth), from " + member_text(worth, "begin_utc") + " to " +
         member_text(worth, "end_utc") + ":\n" + worth_sentences(worth) + '\n';
}

std::string left_out(const json& report) {
  std::string text;
  for (const auto& [name, count] : report["left_out_without_nodes"].items()) {
    text += "Left out: " + counted(count.get<std::int64_t>(), "run") + " of " + printable(name) +
            ", which never owned a processor.\n";
  }
  return text;
}

}  // namespace

void add_advise(CLI::App& app, AdviseArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "advise", "Would each organization be better off alone? From the daemon's pending jobs, or a ledger's runs");
  CLI::Option* ledger =
      command->add_option("--ledger", arguments.ledger, "The finished runs of this ledger or copy; no daemon is asked");
  ledger->type_name("FILE");
  command->add_option("-S,--since", arguments.since, "Only jobs submitted then or later")
      ->needs(ledger)
      ->type_name("TIME");
  command->add_option("-E,--until", arguments.until, "Only runs that ended by then")->needs(ledger)->type_name("TIME");
  command->add_flag("--json", arguments.json, "Print JSON instead of text");
}

std::string render_advice(const json& report) {
  std::string text = outcome_table(report, {"runs", "Runs"}, k_ways, seconds) + '\n';
  for (const json& organization : report["organizations"]) text += verdict(organization) + '\n';
  return text + '\n' + by_utility(report) + left_out(report) + limits_text(report);
}

namespace {

// Of the books at the end of that time. Where they cannot be read the plans say what they say all the same.
void add_worth(json& report, const AdviceQuestion& question) {
  const auto books =
      offline_status({.ledger = question.ledger, .at = question.until, .contribution = std::nullopt, .worth = true});
  report["worth"] = books ? (*books)["worth"] : json(nullptr);
  if (!books) {
    report["worth_unknown"] = books.error().what;
  } else if (report["worth"].is_null()) {
    report["worth_unknown"] = worth_unknown(*books);
  }
}

Expected<ExitCode> advise_on_queue(const AdviseArguments& arguments, const Endpoint& endpoint,
                                   const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json queue, client.ask({{"request", "queue"}}));
  SHAPLEY_TRY_ASSIGN(const json report, pending_advice_report(queue));
  environment.out << (arguments.json ? json_text(report) : render_pending_advice(report));
  return ExitCode::success;
}

}  // namespace

Expected<ExitCode> run_advise(const AdviseArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.ledger.empty()) return advise_on_queue(arguments, endpoint, environment);
  AdviceQuestion question{.ledger = arguments.ledger, .since = std::nullopt, .until = std::nullopt};
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(question.since, parse_past_time(arguments.since, "--since"));
  }
  if (!arguments.until.empty()) {
    SHAPLEY_TRY_ASSIGN(question.until, parse_time(arguments.until, "--until"));
  }
  SHAPLEY_TRY(check_interval(question.since, question.until));
  SHAPLEY_TRY_ASSIGN(json report, advice_report(question));
  add_worth(report, question);
  environment.out << (arguments.json ? json_text(report) : render_advice(report));
  return ExitCode::success;
}

}  // namespace shapley::ctl
