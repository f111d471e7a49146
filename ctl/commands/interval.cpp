#include "ctl/commands/interval.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "accounting/estimators/table.hpp"
#include "base/calendar.hpp"
#include "base/printable.hpp"

namespace shapley::ctl {

void add_time_and_ledger(CLI::App& command, IntervalArguments& arguments) {
  command.add_option("-S,--since", arguments.since, "Begin at this instant")->type_name("TIME");
  command.add_option("-E,--until", arguments.until, "End before this instant (default: the present)")
      ->type_name("TIME");
  command
      .add_option("-O,--organization", arguments.organizations, "Show only these organizations, separated by commas")
      ->delimiter(',')
      ->type_name("NAMES");
  command.add_option("--ledger", arguments.ledger, "Read this ledger file or a copy of it, without asking a daemon")
      ->type_name("FILE");
  command
      .add_option("--archives", arguments.archives,
                  "Look for a named ledger's archives here (default: the directory archives beside the ledger)")
      ->type_name("DIRECTORY");
  const auto names = accounting::estimator_names();
  command.add_option("--contribution", arguments.contribution, "Compute phi and what was given by this estimator")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  command
      .add_option("--known-until", arguments.known_until,
                  "Treat the file of --ledger as complete up to this instant, not only up to its last record")
      ->type_name("TIME");
}

void add_interval(CLI::App& command, IntervalArguments& arguments) {
  add_time_and_ledger(command, arguments);
  CLI::Option* csv = command.add_flag("--csv", arguments.csv, "Print exact, comma-separated values");
  command.add_flag("--json", arguments.json, "Print the whole report as JSON")->excludes(csv);
}

void add_month(CLI::App& command, std::string& month) {
  command
      .add_option("--month", month,
                  "Show this month (UTC), as 2026-11 (default: the present month, unless --since is given)")
      ->excludes(command.get_option("--since"))
      ->excludes(command.get_option("--until"))
      ->type_name("MONTH");
}

Expected<void> take_month(const std::string& month, IntervalArguments& arguments) {
  if (month.empty()) return {};
  const auto begin = parse_instant(month + "-01");
  if (!begin) return fail(Errc::invalid_argument, fmt::format("--month: '{}' is no month; write 2026-11", month));
  arguments.since = format_instant(*begin);
  arguments.until = format_instant(period_end(Period::monthly, *begin));
  return {};
}

Expected<IntervalQuestion> interval_question(const IntervalArguments& arguments) {
  SHAPLEY_TRY(check_file_options(arguments.ledger,
                                 {{"--archives", arguments.archives}, {"--known-until", arguments.known_until}}));
  SHAPLEY_TRY_ASSIGN(const TimesAsked times, parse_times(arguments.since, arguments.until, arguments.ledger));
  IntervalQuestion question{.file = {.path = arguments.ledger, .archives = arguments.archives},
                            .of = {.since = times.since,
                                   .until = times.until,
                                   .organizations = arguments.organizations,
                                   .contribution = arguments.contribution}};
  if (!arguments.known_until.empty()) {
    SHAPLEY_TRY_ASSIGN(question.file.known_until, parse_time(arguments.known_until, "--known-until"));
  }
  return question;
}

std::string recorded_line(const ledger::IntervalHeading& heading) {
  const std::string begin = heading.books_begin.utc();
  const std::string until = heading.recorded_until.utc();
  const std::string former = printable(heading.former_contribution);
  return (begin.empty() ? "" : fmt::format("Not all of that time: the books begin at {}.\n", begin)) +
         (until.empty() ? ""
                        : fmt::format("Not all of that time: the ledger recorded something last at {}.\n", until)) +
         (former.empty() ? "" : fmt::format("Ranks were by {}, which this version does not compute.\n", former));
}

}  // namespace shapley::ctl
