#include "ctl/commands/status.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <poll.h>

#include "accounting/state/state.hpp"
#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/commands/users.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/forecast.hpp"
#include "ctl/output/health.hpp"
#include "ctl/output/other_clusters.hpp"
#include "ctl/output/paint.hpp"
#include "ctl/output/worth.hpp"
#include "ctl/rank_answers.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

namespace {

using accounting::EstimatorId;
using ledger::OrganizationRow;
using ledger::StatusReport;
using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Paint;

// Seconds since the epoch; empty for an organization that does not wait.
std::string instant_for_people(const json& value) {
  return value.is_number_integer() ? format_instant(Instant{value.get<std::int64_t>()}) : std::string();
}

std::string about_when(const json& value) {
  if (!value.is_number_integer()) return "-";
  return value == 0 ? "even" : about(Duration{value.get<std::int64_t>()});
}

Paint paint_standing(const json& value) {
  if (!value.is_number() || value.get<double>() == 0) return Paint::none;
  return value.get<double>() > 0 ? Paint::good : Paint::bad;
}

constexpr Field k_fields_to_phi[] = {
    left({"organization", "Organization", "name; guests: jobs of no organization; commons: nodes of no organization",
          "name"}),
    left({"title", "Title", "its name for people; the name where it has no other"}),
    {"rank", "Rank", "1 is served first; none for commons, which runs nothing"},
    {"would_rank", "WouldRank", "mode observe: the rank that would order its jobs; none while ranks act"},
    {"standing", "Standing", "core-hours, averaged over the period: owed by the others (+) or to them (-)",
     "standing_core_hours", signed_or_unknown, paint_standing},
    {"key", "Key",
     "what ranks go by: its standing when what runs now has ended, and what is added on the way until work given and "
     "got are even, core-hours",
     "key_core_hours", signed_or_unknown, paint_standing},
    {"settled_in", "Settled in",
     "by a rule that brakes: about when it is even if work waits on all sides; none for what goes last", "settled_in_s",
     about_when},
    {"lead", "Lead", "processors that it may start before the organization that owes most is served alike"},
    {"lacking", "Lacking", "processors that it runs on less than it may count on"},
    {"guarantee", "Guarantee", "the part of its own processors that it may count on"},
    {"below_guarantee", "Below", "whether it has startable jobs and runs on fewer than that: it goes first"},
    left({"sentence", "In words", "the standing as a sentence"}),
    {"psi", "Psi", "utility of its jobs, processor-seconds squared", {}, utility_or_unknown},
    {"phi", "Phi", "contribution by the estimator that ranks, processor-seconds squared", {}, utility_or_unknown},
};

// The fields after the contributions by each estimator (phi_by).
constexpr Field k_fields_from_got[] = {
    {"got", "Got", "core-hours that its jobs ran in the period", "got_core_hours", core_hours_or_unknown},
    {"given", "Given", "core-hours credited to it in the period, by the estimator that ranks", "given_core_hours",
     core_hours_or_unknown},
    {"got_seconds", "GotSeconds", "got in processor-seconds, exact", "got_processor_seconds"},
    {"given_seconds", "GivenSeconds", "given in processor-seconds, exact", "given_processor_seconds"},
    {"owned", "Owned", "processors that it offers now", {}, processors_or_unknown},
    {"used", "Used", "processors that its jobs hold now", {}, processors_or_unknown},
    {"lent", "Lent", "its processors that others' jobs hold now", {}, processors_or_unknown},
    {"borrowed", "Borrowed", "others' processors that its jobs hold now", {}, processors_or_unknown},
    {"waiting", "Waiting", "processors that its startable pending jobs ask for now", {}, processors_or_unknown},
    {"running_jobs", "Running", "its running jobs now"},
    {"waiting_jobs", "Startable",
     "its pending jobs that could start now, each task of an array counted; of a ledger's file its rest is one"},
    {"no_start_since",
     "NoStartSince",
     "while it has such jobs: since when none of its jobs has started",
     {},
     instant_for_people},
};

// phi_direct, PhiDirect.
Field phi_by(EstimatorId estimator, std::deque<std::string>& texts) {
  const std::string& name = texts.emplace_back(accounting::figure_name("phi", estimator));
  std::string& title = texts.emplace_back("Phi" + name.substr(name.find('_') + 1));
  title[3] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[3])));
  const std::string& meaning =
      texts.emplace_back(fmt::format("contribution by {}, processor-seconds squared", accounting::name_of(estimator)));
  return {name, title, meaning, {}, utility_or_unknown};
}

std::string header_line(const StatusReport& report) {
  std::string line = fmt::format("{}  contribution {}", report.at.utc(), printable(report.contribution));
  const ledger::PeriodReport& period = report.period;
  if (!period.begin.is_known()) return line + "  no event yet\n";
  const std::string since =
      period.name == Period::none ? "  books since " : fmt::format("  {} period since ", name_of(period.name));
  return line + since + period.begin.utc() + '\n';
}

// Mode observe: ranks are computed but do not order jobs. Only a daemon reports the mode.
bool ranks_are_idle(const StatusReport& report) {
  return report.ranks_act == false;
}

// What --format would say. In mode observe no rank is in force, so the column is that of the rank that would order
// jobs. For people the key, and by a rule that brakes when each is even, are beside the standing; programs may count
// columns, so for them the key is the last one.
std::vector<std::string> default_words(const StatusReport& report, bool long_form, bool parsable) {
  std::vector<std::string> words{"organization%-20", ranks_are_idle(report) ? "would_rank" : "rank", "standing"};
  const auto add = [&words](std::initializer_list<const char*> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!parsable) add({"key"});
  if (!parsable && report.ranking.rule == accounting::KeyRule::braking) add({"settled_in"});
  if (long_form) {
    add({"psi"});
    for (const EstimatorId estimator : accounting::estimator_ids())
      words.push_back(accounting::figure_name("phi", estimator));
  } else if (parsable) {
    add({"psi", "phi"});
  }
  if (long_form || !parsable) add({"got", "given"});
  add({"owned", "used", "lent", "borrowed", "waiting"});
  if (long_form) add({"running_jobs"});
  add({"waiting_jobs"});
  if (parsable) add({"key"});
  return words;
}

std::string units_line(const StatusReport& report, bool long_form) {
  return fmt::format("Standing, Key, Got and Given are {}{}.\n", report.in.in_full(),
                     long_form ? "; Psi and Phi are processor-seconds squared" : "");
}

std::string observe_line(const StatusReport& report) {
  if (!ranks_are_idle(report)) return {};
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const OrganizationRow& row : report.organizations) {
    if (row.would_rank && *row.would_rank) order.emplace_back(**row.would_rank, printable(row.is.name));
  }
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (auto& [place, name] : order) names.push_back(std::move(name));
  return fmt::format("Ranks:   not in force (mode observe): priorities are untouched; with mode priorities: {}\n",
                     ledger::listed_names(names, k_most_lines));
}

std::string sentences(const std::vector<OrganizationRow>& rows) {
  std::vector<std::string> lines;
  for (const OrganizationRow& row : rows) {
    if (row.is.rank)
      lines.push_back(fmt::format("{} {}.\n", titled(row.is.name, row.title), printable(row.is.sentence)));
  }
  return first_lines(lines, "");
}

std::string no_start_lines(const StatusReport& report) {
  std::vector<std::string> lines;
  for (const OrganizationRow& row : report.organizations) {
    if (row.is.no_start_since && is_worth_a_line(*row.is.no_start_since, report.at))
      lines.push_back(no_start_line(row.is.name, *row.is.no_start_since, report.at));
  }
  return first_lines(lines, "Waits:   ");
}

std::string ranking_lines(const StatusReport& report) {
  std::vector<std::string> lines;
  for (const std::string& sentence : report.ranking.sentences)
    lines.push_back(fmt::format("Ranks:   {}.\n", printable(sentence)));
  return first_lines(lines, "Ranks:   ");
}

std::string conservation_line(const StatusReport& report) {
  const ledger::Conservation& sums = report.conservation;
  if (sums.holds) return "Books:   balanced: Sum(psi) = Sum(phi), to the unit\n";
  std::string line = fmt::format("Books:   NOT BALANCED: Sum(psi) {}, Sum(phi)", format_micro(sums.sum_psi.value));
  // Estimators that are behind or not kept have no value.
  const char* separator = " ";
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (!sums.sum_phi[estimator]) continue;
    line += fmt::format("{}{} {}", separator, accounting::estimators()[estimator.value].member,
                        format_micro(sums.sum_phi[estimator]->value));
    separator = ", ";
  }
  return line + "; run shapleyctl audit\n";
}

Expected<StatusReport> fetch(const StatusArguments& arguments, const Endpoint& endpoint) {
  SHAPLEY_TRY(check_file_options(arguments.ledger, {{"--archives", arguments.archives}}));
  const answers::LedgerFile file{.path = arguments.ledger, .archives = arguments.archives};
  const ledger::StatusRequest asked{
      .contribution = arguments.contribution, .worth = arguments.worth, .forecast = arguments.forecast};
  if (arguments.at.empty()) return answer_to(asked, file, endpoint);
  SHAPLEY_TRY_ASSIGN(const Instant at, parse_past_time(arguments.at, "--at", arguments.ledger));
  return answer_to(ledger::StatusAtRequest{at, asked}, file, endpoint);
}

// The statement of the open period up to the report's instant; without organizations where it begins there.
Expected<ledger::AccountReport> period_statement(const StatusReport& report, const StatusArguments& arguments,
                                                 const Endpoint& endpoint) {
  if (!report.period.begin.is_known() || report.period.begin >= report.at) return ledger::AccountReport{};
  IntervalArguments interval;
  interval.since = report.period.begin.utc();
  interval.until = report.at.utc();
  interval.ledger = arguments.ledger;
  interval.archives = arguments.archives;
  if (!arguments.ledger.empty()) interval.known_until = interval.until;
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport statement, interval_report(interval, endpoint, ledger::StatementRequest{}));
  name_users(statement);
  order_users(statement);
  return statement;
}

Expected<FairShares> factors_of_now(const StatusArguments& arguments, const Environment& environment) {
  if (arguments.ledger.empty() && arguments.at.empty()) return fair_shares(environment.run_program);
  return fail(Errc::unavailable, "this is of a ledger or of the past, and Slurm knows the present only");
}

std::string users_lines(const UsersReport& users, const ledger::AmountUnit& in) {
  std::string text = fmt::format(
      "\nGot: {} of the period so far. Part%: of what its organization got. FairShare: Slurm's own factor now\n"
      "(sshare). Order: by that factor within the organization, where the order is Slurm's.\n",
      in.in_full());
  if (users.no_fair_share)
    text += fmt::format("Slurm:   FairShare and Order are not known: {}\n", printable(*users.no_fair_share));
  if (users.is_private) text += "Private: what others used is hidden (PrivateData in slurm.conf): (others)\n";
  if (!users.exact) text += "Books:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n";
  return text;
}

Expected<void> show_users(const StatusReport& report, const StatusArguments& arguments, const Endpoint& endpoint,
                          const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::AccountReport statement, period_statement(report, arguments, endpoint));
  std::vector<std::string> names;
  for (const OrganizationRow& row : report.organizations) names.push_back(row.is.name);
  const UsersReport users = users_report(statement, names, factors_of_now(arguments, environment));
  const bool header = !arguments.no_header;
  if (arguments.json) {
    json whole = json_of(report);
    whole["users"] = json_of(users);
    environment.out << tables::json_text(whole);
  } else if (arguments.parsable) {
    environment.out << parsable_users(users, header);
  } else {
    environment.out << (header ? header_line(report) : std::string()) << render_users(users, statement, header)
                    << (header ? users_lines(users, report.in) : std::string());
  }
  return {};
}

StatusView view_of(const StatusArguments& arguments, const Environment& environment) {
  StatusView view{.format = arguments.format,
                  .long_form = arguments.long_form,
                  .parsable = arguments.parsable,
                  .header = !arguments.no_header,
                  .colour = environment.colour(),
                  .columns = environment.terminal ? environment.columns : 0};
  if (view.format.empty() && !view.long_form) {
    view.format = environment.variable("SHAPLEYCTL_STATUS_FORMAT").value_or("");
  }
  return view;
}

Expected<void> show_once(const StatusArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  StatusView view = view_of(arguments, environment);
  // Errors in the command line are reported before the daemon is asked.
  SHAPLEY_TRY(render_status({}, view));
  SHAPLEY_TRY_ASSIGN(StatusReport report, fetch(arguments, endpoint));
  if (arguments.forecast) SHAPLEY_TRY(check_forecast(report));
  SHAPLEY_TRY_ASSIGN(view.left_out, choose_rows(report, arguments.organizations, arguments.top));
  if (report.worth && *report.worth && !arguments.organizations.empty())
    ledger::keep_only(**report.worth, arguments.organizations);
  if (arguments.users) return show_users(report, arguments, endpoint, environment);
  if (arguments.json) {
    environment.out << tables::json_text(json_of(report));
    return {};
  }
  if (arguments.worth || arguments.forecast) {
    environment.out << (arguments.worth ? render_worth(report) : render_forecast(report));
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const std::string text, render_status(report, view));
  if (view.colour) {
    print_painted(environment.out, text);
  } else {
    environment.out << text;
  }
  return {};
}

}  // namespace

std::span<const tables::Field> status_fields() {
  static std::deque<std::string> texts;  // the texts that the fields refer to
  static const std::vector<Field> fields = [] {
    std::vector<Field> all(std::begin(k_fields_to_phi), std::end(k_fields_to_phi));
    for (const EstimatorId estimator : accounting::estimator_ids()) all.push_back(phi_by(estimator, texts));
    all.insert(all.end(), std::begin(k_fields_from_got), std::end(k_fields_from_got));
    return all;
  }();
  return fields;
}

Expected<std::size_t> choose_rows(StatusReport& report, const std::vector<std::string>& organizations,
                                  std::size_t top) {
  std::vector<OrganizationRow>& rows = report.organizations;
  std::vector<std::string> known;
  for (const OrganizationRow& row : rows) known.push_back(row.is.name);
  for (const std::string& name : organizations) {
    if (std::ranges::find(known, name) == known.end()) return ledger::unknown_organization(name, known);
  }
  if (!organizations.empty()) {
    std::erase_if(rows, [&](const OrganizationRow& row) {
      return std::ranges::find(organizations, row.is.name) == organizations.end();
    });
  }
  if (top == 0 || rows.size() <= top) return 0;
  const std::size_t left_out = rows.size() - top;
  rows.resize(top);
  return left_out;
}

Expected<std::string> render_status(const StatusReport& report, const StatusView& view) {
  const bool plain = view.format.empty();
  tables::Table table{.columns = default_columns(default_words(report, view.long_form, view.parsable), status_fields()),
                      .rows = json_of(report.organizations)};
  if (!plain) {
    SHAPLEY_TRY_ASSIGN(table.columns, parse_columns(view.format, status_fields()));
  }
  if (view.parsable) return parsable_text(table, view.header);
  if (plain) fit_names(table, "organization", view.columns);
  const std::string text = people_text(table, {.header = view.header, .colour = view.colour});
  // If the user chose the columns, only the table is printed.
  if (!plain) return text;
  const std::string rest = view.left_out == 0 ? "" : fmt::format("and {}\n", counted(view.left_out, "other"));
  return (view.header ? header_line(report) + units_line(report, view.long_form) : std::string()) + text + rest + '\n' +
         sentences(report.organizations) + '\n' + ranking_lines(report) + no_start_lines(report) +
         observe_line(report) + other_cluster_lines(report, view.colour) + conservation_line(report) +
         health_lines(report, view.colour);
}

void add_status(CLI::App& app, StatusArguments& arguments) {
  CLI::App* command = app.add_subcommand("status",
                                         "Show what each organization got and gave, and its standing, "
                                         "in the order in which jobs are served, and the health of daemon and plugin");
  CLI::Option* worth =
      command->add_flag("--worth", arguments.worth,
                        "Show the worth of cooperation: what each organization got, and would have got alone");
  CLI::Option* users =
      command
          ->add_flag("--users", arguments.users,
                     "Show what each user of each account got in the period, and Slurm's own fair-share factor")
          ->excludes(worth);
  CLI::Option* forecast = command
                              ->add_flag("--forecast", arguments.forecast,
                                         "Forecast when the order of the organizations changes, if no job starts or "
                                         "ends")
                              ->excludes(worth)
                              ->excludes(users);
  command->add_flag("--json", arguments.json, "Print the whole report as JSON");
  command
      ->add_flag("-P,--parsable2", arguments.parsable,
                 "Print exact values between '|', below a header of the fields' names")
      ->excludes(worth)
      ->excludes(forecast);
  command->add_flag("-n,--noheader", arguments.no_header, "Print no header")->excludes(worth)->excludes(forecast);
  command->add_flag("-l,--long", arguments.long_form, "Show more columns: every contribution, amounts got and given")
      ->excludes(worth)
      ->excludes(users)
      ->excludes(forecast);
  command->add_option("-O,--organization", arguments.organizations, "Show only these organizations")
      ->excludes(forecast)
      ->delimiter(',')
      ->type_name("NAMES");
  command
      ->add_option("--top", arguments.top, "Show only the first N organizations, in the order in which jobs are served")
      ->excludes(worth)
      ->excludes(users)
      ->excludes(forecast)
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command->add_option("-i,--iterate", arguments.iterate_s, "Repeat the report every SECONDS, until interrupted")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("SECONDS");
  command
      ->add_option("-o,--format", arguments.format,
                   "Print these columns: name[%width],...; a negative width aligns left")
      ->excludes(worth)
      ->excludes(users)
      ->excludes(forecast)
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the columns for --format, with their meanings");
  const auto names = accounting::estimator_names();
  command->add_option("--contribution", arguments.contribution, "Rank by this estimator, and show its phi")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  command->add_option("--ledger", arguments.ledger, "Read this ledger file or a copy of it, without asking a daemon")
      ->type_name("FILE");
  command->add_option("--at", arguments.at, "Show the books at this instant")->type_name("TIME");
  command
      ->add_option(
          "--archives", arguments.archives,
          "Look for a named ledger's archives here, for --at (default: the directory archives beside the ledger)")
      ->type_name("DIRECTORY");
}

Expected<ExitCode> run_status(const StatusArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.help_format) {
    environment.out << amounts_help(status_fields());
    return ExitCode::success;
  }
  if (arguments.iterate_s == 0) {
    SHAPLEY_TRY(show_once(arguments, endpoint, environment));
    return ExitCode::success;
  }
  while (environment.out.good()) {
    // With --iterate an error is shown like an answer, so that the user sees when the daemon is back.
    const Expected<void> shown = show_once(arguments, endpoint, environment);
    if (!shown && shown.error().code == Errc::invalid_argument) return tl::unexpected(shown.error());
    if (!shown) environment.out << "shapleyctl: " << printable(shown.error().what) << '\n';
    environment.out << std::endl;  // flushed, because the next output follows seconds later
    ::poll(nullptr, 0, arguments.iterate_s * 1000);
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
