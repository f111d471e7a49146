#include <algorithm>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/commands/utilization.hpp"
#include "ctl/output/amounts.hpp"
#include "ledger/reports/statement.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

constexpr std::string_view k_history_format =
    "begin,organization%-20,standing,psi,phi,got,given,settled,owned,used,lent,borrowed,waiting,waited";
// Programs may count columns, so a new one is the last, here and in --csv.
constexpr std::string_view k_parsable_format =
    "begin,organization,standing,psi,phi,got,given,owned,used,lent,borrowed,waiting,waited,settled";

constexpr Field k_history_fields[] = {
    {"begin", "Begin", "begin of the interval (UTC)", "begin_utc"},
    {"end", "End", "its end (UTC), which is no part of it", "end_utc"},
    {"opens_period", "Opens", "whether a period begins with it, so that standings start again from zero"},
    left({"organization", "Organization", "name of the organization"}),
    {"standing", "Standing",
     "at its end, core-hours on average over the period so far: owed by the others (+) or to them (-)",
     "standing_core_hours", signed_or_unknown},
    {"psi",
     "Psi",
     "at its end, utility of its jobs in the period so far, processor-seconds squared",
     {},
     utility_or_unknown},
    {"phi", "Phi", "at its end, contribution in the period so far, processor-seconds squared", {}, utility_or_unknown},
    {"got", "Got", "core-hours that its jobs ran in the interval", "got_core_hours", core_hours_or_unknown},
    {"given", "Given", "core-hours credited to it for the interval, by the estimator", "given_core_hours",
     core_hours_or_unknown},
    {"lent_core_hours",
     "LentHours",
     "core-hours that others' jobs ran on its processors in the interval",
     {},
     core_hours_or_unknown},
    {"borrowed_core_hours",
     "BorrowedHours",
     "core-hours that its jobs ran on others' processors in the interval",
     {},
     core_hours_or_unknown},
    {"waited", "Waited", "core-hours in the interval: what its startable jobs asked for, times how long",
     "waited_core_hours", core_hours_or_unknown},
    {"owned", "Owned", "processors that it offers at its end"},
    {"used", "Used", "processors that its jobs hold at its end"},
    {"lent", "Lent", "its processors that others' jobs hold at its end"},
    {"borrowed", "Borrowed", "others' processors that its jobs hold at its end"},
    {"waiting", "Waiting", "processors that its startable pending jobs ask for at its end"},
    {"settled", "Settled", "core-hours in the interval that it gave by agreements, less what it got by them",
     "settled_core_hours", signed_or_unknown},
    {"got_processor_seconds", "GotSeconds", "got, exact"},
    {"given_processor_seconds", "GivenSeconds", "given, exact"},
    {"settled_processor_seconds", "SettledSeconds", "settled, exact"},
};

Expected<ledger::Interval> interval_named(const std::string& name) {
  if (const auto interval = ledger::parse_interval(name)) return *interval;
  return fail(Errc::invalid_argument,
              fmt::format("--by: '{}' is not known; it is one of {}", name, ledger::interval_names()));
}

// Empty where they are core-hours, as the page of the command says.
std::string unit_words(const ledger::AmountUnit& in) {
  return in.unit.empty() ? "" : "; amounts in " + in.in_full();
}

// Periods begin with a month, so an interval is never in two periods.
std::string period_lines(const std::vector<ledger::HistoryRow>& rows) {
  std::string text;
  Instant last = k_beginning_of_time;
  for (const ledger::HistoryRow& row : rows) {
    if (!row.opens_period || row.period_begin == last) continue;
    text += fmt::format("A period begins at {}: standings, psi and phi start again from zero there.\n",
                        row.period_begin.utc());
    last = row.period_begin;
  }
  return text;
}

void show_utilization(const ledger::HistoryReport& report, const HistoryArguments& arguments,
                      const Environment& environment) {
  if (arguments.interval.json) {
    environment.out << tables::json_text(json_of(report));
  } else if (arguments.interval.csv) {
    environment.out << csv_text(exact_utilization(report));
  } else if (arguments.parsable) {
    environment.out << parsable_text(exact_utilization(report), !arguments.no_header);
  } else {
    environment.out << "By " << report.by << ", in UTC; amounts in " << report.of.in.in_full() << '\n'
                    << recorded_line(report.of) << utilization_text(report);
  }
}

}  // namespace

std::span<const tables::Field> history_fields() {
  return k_history_fields;
}

void add_history(CLI::App& app, HistoryArguments& arguments) {
  CLI::App* command = app.add_subcommand("history", "Show the books by hour, day or month");
  std::string names;
  for (const ledger::Interval interval : ledger::k_intervals)
    names.append(names.empty() ? "" : ",").append(ledger::name_of(interval));
  command
      ->add_option("--by", arguments.by,
                   "Print a row for each of these intervals (UTC; default: day, with --utilization month)")
      ->type_name("INTERVAL:{" + names + "}");
  CLI::Option* utilization =
      command->add_flag("--utilization", arguments.utilization,
                        "Show what each organization's nodes were used for, GPU hours, and how long runs had waited");
  add_interval(*command, arguments.interval);
  command->add_flag("-P,--parsable2", arguments.parsable,
                    "Print exact values between '|', below a header of the fields' names");
  command->add_flag("-n,--noheader", arguments.no_header, "Print no header");
  command
      ->add_option("-o,--format", arguments.format,
                   "Print these columns: name[%width],...; a negative width aligns left")
      ->excludes(utilization)
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the columns for --format, with their meanings");
}

Expected<ExitCode> run_history(const HistoryArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  if (arguments.help_format) {
    environment.out << amounts_help(history_fields());
    return ExitCode::success;
  }
  const bool plain = arguments.format.empty();
  const std::string by_name = !arguments.by.empty() ? arguments.by : arguments.utilization ? "month" : "day";
  SHAPLEY_TRY_ASSIGN(const ledger::Interval by, interval_named(by_name));
  tables::Table table;
  SHAPLEY_TRY_ASSIGN(table.columns, parse_columns(plain ? (arguments.parsable ? k_parsable_format : k_history_format)
                                                        : std::string_view(arguments.format),
                                                  history_fields()));
  SHAPLEY_TRY_ASSIGN(const ledger::HistoryReport report,
                     interval_report(arguments.interval, endpoint,
                                     ledger::HistoryRequest{.by = by, .utilization = arguments.utilization}));
  if (arguments.utilization) {
    show_utilization(report, arguments, environment);
    return report.exact ? ExitCode::success : ExitCode::findings;
  }
  name_unit(table, report.of.in);
  table.rows = json_of(report.rows);
  const auto has_settled = [](const ledger::HistoryRow& row) { return row.settled != CpuTime{}; };
  if (plain && !arguments.parsable && std::ranges::none_of(report.rows, has_settled)) drop_column(table, "settled");
  if (arguments.interval.json) {
    environment.out << tables::json_text(json_of(report));
  } else if (arguments.interval.csv) {
    table.columns = columns_of(history_fields());
    name_unit(table, report.of.in);
    environment.out << csv_text(table);
  } else {
    if (plain && !arguments.parsable && !arguments.no_header) {
      environment.out << "By " << by_name << ", in UTC; contribution " << printable(report.of.contribution)
                      << unit_words(report.of.in) << '\n'
                      << recorded_line(report.of) << period_lines(report.rows);
    }
    const bool header = !arguments.no_header;
    environment.out << (arguments.parsable ? parsable_text(table, header) : people_text(table, {.header = header}));
  }
  return report.exact ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
