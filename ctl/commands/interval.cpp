#include "ctl/commands/interval.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include "accounting/estimators/table.hpp"
#include "base/calendar.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

using nlohmann::json;

void add_time_and_ledger(CLI::App& command, IntervalArguments& arguments) {
  command.add_option("-S,--since", arguments.since, "From this instant on: 2026-11-01 or 2026-11-01T07:00:00 (UTC)")
      ->type_name("TIME");
  command.add_option("-E,--until", arguments.until, "Up to this instant (UTC); without it up to the present")
      ->type_name("TIME");
  command.add_option("-O,--organization", arguments.organizations, "Only these organizations, separated by commas")
      ->delimiter(',')
      ->type_name("NAMES");
  command
      .add_option("--ledger", arguments.ledger, "Read this ledger file, a copy included; without it the daemon's own")
      ->type_name("FILE");
  command
      .add_option("--archives", arguments.archives,
                  "Where the ledger's archives are; without it the directory archives beside it")
      ->type_name("DIRECTORY");
  const auto names = accounting::estimator_names();
  command.add_option("--contribution", arguments.contribution, "What was given, and phi, by this estimator")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  command
      .add_option(
          "--known-until", arguments.known_until,
          "With --ledger: all up to this instant is in it (a running daemon's present), not up to its last record")
      ->type_name("TIME");
}

void add_interval(CLI::App& command, IntervalArguments& arguments) {
  add_time_and_ledger(command, arguments);
  CLI::Option* csv = command.add_flag("--csv", arguments.csv, "Print comma-separated values, exact");
  command.add_flag("--json", arguments.json, "Print the whole report as JSON")->excludes(csv);
}

void add_month(CLI::App& command, std::string& month) {
  command.add_option("--month", month, "The month (UTC): 2026-11; without it, or --since, the present one")
      ->excludes(command.get_option("--since"))
      ->excludes(command.get_option("--until"))
      ->type_name("MONTH");
}

Expected<void> take_month(const std::string& month, IntervalArguments& arguments) {
  if (month.empty()) return {};
  const auto begin = parse_instant(month + "-01");
  if (!begin) return fail(Errc::invalid_argument, "--month: '" + month + "' is no month; write 2026-11");
  arguments.since = format_instant(*begin);
  arguments.until = format_instant(period_end(Period::monthly, *begin));
  return {};
}

namespace {

Expected<IntervalQuestion> question_of(const IntervalArguments& arguments) {
  IntervalQuestion question{.ledger = arguments.ledger,
                            .archives = arguments.archives,
                            .since = std::nullopt,
                            .until = std::nullopt,
                            .known_until = std::nullopt,
                            .contribution = std::nullopt,
                            .only = arguments.organizations};
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(question.since, parse_past_time(arguments.since, "--since", arguments.ledger));
  }
  if (!arguments.until.empty()) {
    SHAPLEY_TRY_ASSIGN(question.until, parse_time(arguments.until, "--until"));
  }
  SHAPLEY_TRY(check_interval(question.since, question.until));
  if (!arguments.known_until.empty()) {
    SHAPLEY_TRY_ASSIGN(question.known_until, parse_time(arguments.known_until, "--known-until"));
  }
  if (!arguments.contribution.empty()) question.contribution = accounting::parse_estimator(arguments.contribution);
  return question;
}

json request_of(json request, const IntervalArguments& arguments, const IntervalQuestion& question) {
  if (question.since) request["since"] = question.since->value;
  if (question.until) request["until"] = question.until->value;
  if (!arguments.organizations.empty()) request["organizations"] = arguments.organizations;
  if (!arguments.contribution.empty()) request["contribution"] = arguments.contribution;
  return request;
}

}  // namespace

Expected<std::optional<std::filesystem::path>> readable_ledger(const IntervalArguments& arguments,
                                                               const Endpoint& endpoint) {
  if (!arguments.ledger.empty()) return std::filesystem::path(arguments.ledger);
  if (endpoint.is_remote()) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(std::filesystem::path own, daemon_ledger(endpoint));
  if (::access(own.c_str(), R_OK) != 0) return std::nullopt;
  return own;
}

Expected<json> interval_report(const IntervalArguments& arguments, const Endpoint& endpoint, json request,
                               const OfflineReport& offline) {
  SHAPLEY_TRY_ASSIGN(IntervalQuestion question, question_of(arguments));
  if (!arguments.ledger.empty()) return offline(question);
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const auto own, readable_ledger(arguments, endpoint));
  if (own) {
    SHAPLEY_TRY_ASSIGN(const json status, client.ask({{"request", "status"}}));
    question.ledger = *own;
    if (const auto at = status.find("at"); at != status.end() && at->is_number_integer()) {
      question.known_until = Instant{at->get<std::int64_t>()};
    }
    return offline(question);
  }
  return client.ask(request_of(std::move(request), arguments, question));
}

std::string recorded_line(const json& report) {
  const std::string begin = member_text(report, "books_begin_utc");
  const std::string until = member_text(report, "recorded_until_utc");
  return (begin.empty() ? "" : "Not all of that time: the books begin at " + begin + ".\n") +
         (until.empty() ? "" : "Not all of that time: the ledger recorded something last at " + until + ".\n");
}

std::string user_name_of(std::uint32_t number) {
  const passwd* entry = ::getpwuid(number);
  return entry == nullptr ? std::to_string(number) : std::string(entry->pw_name);
}

}  // namespace shapley::ctl
