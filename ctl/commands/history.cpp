#include "ctl/commands/history.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ctl/output/amounts.hpp"
#include "ctl/output/csv.hpp"
#include "ctl/output/json_text.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::string_view k_history_format =
    "begin,organization%-20,standing,psi,phi,got,given,owned,used,lent,borrowed,waiting,waited";

std::string standing_cell(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : std::string("?");
}

std::string utility_cell(const json& value) {
  return value.is_string() ? short_utility(value.get<std::string>()) : std::string("?");
}

constexpr std::array k_history_fields{
    Field{.name = "begin", .member = "begin_utc", .title = "Begin", .meaning = "begin of the interval (UTC)"},
    Field{.name = "end", .member = "end_utc", .title = "End", .meaning = "its end (UTC), which is no part of it"},
    Field{.name = "opens_period",
          .member = "opens_period",
          .title = "Opens",
          .meaning = "whether a period begins with it, so that standings start again from zero"},
    Field{.name = "organization",
          .member = "organization",
          .title = "Organization",
          .meaning = "name of the organization",
          .align = Align::left},
    Field{.name = "standing",
          .member = "standing_core_hours",
          .title = "Standing",
          .meaning = "at its end, core-hours on average over the period so far: owed by the others (+) or to them (-)",
          .people = standing_cell},
    Field{.name = "psi",
          .member = "psi",
          .title = "Psi",
          .meaning = "at its end, utility of its jobs in the period so far, processor-seconds squared",
          .people = utility_cell},
    Field{.name = "phi",
          .member = "phi",
          .title = "Phi",
          .meaning = "at its end, contribution in the period so far, processor-seconds squared",
          .people = utility_cell},
    Field{.name = "got",
          .member = "got_core_hours",
          .title = "Got",
          .meaning = "core-hours that its jobs ran in the interval",
          .people = core_hours_or_unknown},
    Field{.name = "given",
          .member = "given_core_hours",
          .title = "Given",
          .meaning = "core-hours credited to it for the interval, by the estimator",
          .people = core_hours_or_unknown},
    Field{.name = "lent_core_hours",
          .member = "lent_core_hours",
          .title = "LentHours",
          .meaning = "core-hours that others' jobs ran on its processors in the interval",
          .people = core_hours_or_unknown},
    Field{.name = "borrowed_core_hours",
          .member = "borrowed_core_hours",
          .title = "BorrowedHours",
          .meaning = "core-hours that its jobs ran on others' processors in the interval",
          .people = core_hours_or_unknown},
    Field{.name = "waited",
          .member = "waited_core_hours",
          .title = "Waited",
          .meaning = "core-hours in the interval: what its startable jobs asked for, times how long",
          .people = core_hours_or_unknown},
    Field{.name = "owned", .member = "owned", .title = "Owned", .meaning = "processors that it offers at its end"},
    Field{.name = "used", .member = "used", .title = "Used", .meaning = "processors that its jobs hold at its end"},
    Field{.name = "lent",
          .member = "lent",
          .title = "Lent",
          .meaning = "its processors that others' jobs hold at its end"},
    Field{.name = "borrowed",
          .member = "borrowed",
          .title = "Borrowed",
          .meaning = "others' processors that its jobs hold at its end"},
    Field{.name = "waiting",
          .member = "waiting",
          .title = "Waiting",
          .meaning = "processors that its startable pending jobs ask for at its end"},
};

Expected<ledger::Interval> interval_named(const std::string& name) {
  if (const auto interval = ledger::parse_interval(name)) return *interval;
  return fail(Errc::invalid_argument, "--by: '" + name + "' is not known; it is one of " + ledger::interval_names());
}

// Periods begin at months' begins, so an interval is never of two of them.
std::string period_lines(const json& rows) {
  std::string text;
  std::string last;
  for (const json& row : rows) {
    const std::string begin = member_text(row, "period_begin_utc");
    if (row["opens_period"] != true || begin == last) continue;
    text += "A period begins at " + begin + ": standings, psi and phi start again from zero there.\n";
    last = begin;
  }
  return text;
}

}  // namespace

std::span<const Field> history_fields() {
  return k_history_fields;
}

void add_history(CLI::App& app, HistoryArguments& arguments) {
  CLI::App* command = app.add_subcommand("history", "The books by hour, day or month");
  command->add_option("--by", arguments.by, ledger::interval_names() + " (UTC)")
      ->capture_default_str()
      ->type_name("INTERVAL");
  add_interval(*command, arguments.interval);
  command->add_flag("-P,--parsable2", arguments.parsable, "Exact values between '|'");
  command->add_flag("-n,--noheader", arguments.no_header, "No header");
  command->add_option("-o,--format", arguments.format, "Columns: name[%width],...; a negative width aligns left")
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the names for --format");
}

Expected<ExitCode> run_history(const HistoryArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  if (arguments.help_format) {
    environment.out << render_field_help(history_fields());
    return ExitCode::success;
  }
  const bool plain = arguments.format.empty();
  SHAPLEY_TRY_ASSIGN(const ledger::Interval by, interval_named(arguments.by));
  SHAPLEY_TRY_ASSIGN(const std::vector<Column> columns,
                     parse_columns(plain ? k_history_format : std::string_view(arguments.format), history_fields()));
  const auto offline = [by](const IntervalQuestion& question) { return offline_history(question, by); };
  SHAPLEY_TRY_ASSIGN(const json report, interval_report(arguments.interval, endpoint,
                                                        {{"request", "history"}, {"by", arguments.by}}, offline));
  const json& rows = report["rows"];
  if (arguments.interval.json) {
    environment.out << json_text(report);
  } else if (arguments.interval.csv) {
    environment.out << render_csv(history_fields(), rows);
  } else {
    if (plain && !arguments.parsable && !arguments.no_header) {
      environment.out << "By " << arguments.by << ", in UTC; contribution " << member_text(report, "contribution")
                      << '\n'
                      << recorded_line(report) << period_lines(rows);
    }
    environment.out << render_table(
        columns, rows,
        {.form = arguments.parsable ? Form::parsable : Form::people, .header = !arguments.no_header, .colour = false});
  }
  return report["exact"] == true ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
