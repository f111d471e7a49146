#include "ctl/commands/status.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <unistd.h>

#include "accounting/state/state.hpp"
#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "base/printable.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/health.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/worth.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/worth_report.hpp"

namespace shapley::ctl {

namespace {

using accounting::EstimatorId;
using nlohmann::json;

constexpr std::string_view k_status_format =
    "organization%-20,rank,standing,psi,phi,owned,used,lent,borrowed,waiting,waiting_jobs";

std::string long_format() {
  std::string phi;
  for (const EstimatorId estimator : accounting::estimator_ids())
    phi += accounting::figure_name("phi", estimator) + ',';
  return "organization%-20,rank,standing,psi," + phi +
         "got,given,owned,used,lent,borrowed,waiting,running_jobs,waiting_jobs";
}

std::string utility_for_people(const json& value) {
  return value.is_string() ? short_utility(value.get<std::string>()) : std::string("?");
}

std::string standing_for_people(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : std::string("?");
}

// Commons has no key.
std::string key_for_people(const json& value) {
  return value.is_null() ? std::string() : standing_for_people(value);
}

// Seconds since the epoch; nothing for whoever does not wait.
std::string instant_for_people(const json& value) {
  return value.is_number_integer() ? format_instant(Instant{value.get<std::int64_t>()}) : std::string();
}

Paint paint_standing(const json& value) {
  if (!value.is_number() || value.get<double>() == 0) return Paint::none;
  return value.get<double>() > 0 ? Paint::good : Paint::bad;
}

constexpr std::array k_fields_to_phi{
    Field{.name = "organization",
          .member = "name",
          .title = "Organization",
          .meaning = "name; guests: jobs of no organization; commons: nodes of no organization",
          .align = Align::left},
    Field{.name = "title",
          .member = "title",
          .title = "Title",
          .meaning = "its name for people; the name where it has no other",
          .align = Align::left},
    Field{.name = "rank",
          .member = "rank",
          .title = "Rank",
          .meaning = "1 is served first; none for commons, which runs nothing"},
    Field{.name = "would_rank",
          .member = "would_rank",
          .title = "WouldRank",
          .meaning = "mode observe: the rank that would order its jobs; none while ranks act"},
    Field{.name = "standing",
          .member = "standing_core_hours",
          .title = "Standing",
          .meaning = "core-hours, averaged over the period: owed by the others (+) or to them (-)",
          .people = standing_for_people,
          .paint = paint_standing},
    Field{.name = "key",
          .member = "key_core_hours",
          .title = "Key",
          .meaning =
              "what ranks go by: its standing one horizon from now if nothing more starts and what runs counts for "
              "as long as it is expected to last, core-hours",
          .people = key_for_people,
          .paint = paint_standing},
    Field{.name = "lead",
          .member = "lead",
          .title = "Lead",
          .meaning = "processors that it may start before the organization that owes most is served alike"},
    Field{.name = "lacking",
          .member = "lacking",
          .title = "Lacking",
          .meaning = "processors that it runs on less than it may count on"},
    Field{.name = "guarantee",
          .member = "guarantee",
          .title = "Guarantee",
          .meaning = "the part of its own processors that it may count on"},
    Field{.name = "below_guarantee",
          .member = "below_guarantee",
          .title = "Below",
          .meaning = "whether it has startable jobs and runs on fewer than that: it goes first"},
    Field{.name = "sentence",
          .member = "sentence",
          .title = "In words",
          .meaning = "the standing as a sentence",
          .align = Align::left},
    Field{.name = "psi",
          .member = "psi",
          .title = "Psi",
          .meaning = "utility of its jobs, processor-seconds squared",
          .people = utility_for_people},
    Field{.name = "phi",
          .member = "phi",
          .title = "Phi",
          .meaning = "contribution by the estimator that ranks, processor-seconds squared",
          .people = utility_for_people},
};

// After those come the contributions by each estimator (StatusFields), then these.
constexpr std::array k_fields_from_got{
    Field{.name = "got",
          .member = "got_core_hours",
          .title = "Got",
          .meaning = "core-hours that its jobs ran in the period",
          .people = core_hours_or_unknown},
    Field{.name = "given",
          .member = "given_core_hours",
          .title = "Given",
          .meaning = "core-hours credited to it in the period, by the estimator that ranks",
          .people = core_hours_or_unknown},
    Field{.name = "got_seconds",
          .member = "got_processor_seconds",
          .title = "GotSeconds",
          .meaning = "got in processor-seconds, exact"},
    Field{.name = "given_seconds",
          .member = "given_processor_seconds",
          .title = "GivenSeconds",
          .meaning = "given in processor-seconds, exact"},
    Field{.name = "owned", .member = "owned", .title = "Owned", .meaning = "processors that it offers now"},
    Field{.name = "used", .member = "used", .title = "Used", .meaning = "processors that its jobs hold now"},
    Field{.name = "lent", .member = "lent", .title = "Lent", .meaning = "its processors that others' jobs hold now"},
    Field{.name = "borrowed",
          .member = "borrowed",
          .title = "Borrowed",
          .meaning = "others' processors that its jobs hold now"},
    Field{.name = "waiting",
          .member = "waiting",
          .title = "Waiting",
          .meaning = "processors that its startable pending jobs ask for now"},
    Field{.name = "running_jobs", .member = "running_jobs", .title = "Running", .meaning = "its running jobs now"},
    Field{.name = "waiting_jobs",
          .member = "waiting_jobs",
          .title = "Pending",
          .meaning = "its pending jobs that could start now; the rest of an array is one"},
    Field{.name = "no_start_since",
          .member = "no_start_since",
          .title = "NoStartSince",
          .meaning = "while it has such jobs: since when none of its jobs has started",
          .people = instant_for_people},
};

class StatusFields {
 public:
  StatusFields() {
    fields_.assign(k_fields_to_phi.begin(), k_fields_to_phi.end());
    for (const EstimatorId estimator : accounting::estimator_ids()) fields_.push_back(phi_by(estimator));
    fields_.insert(fields_.end(), k_fields_from_got.begin(), k_fields_from_got.end());
  }
  [[nodiscard]] std::span<const Field> all() const { return fields_; }

 private:
  // phi_direct, PhiDirect.
  Field phi_by(EstimatorId estimator) {
    const std::string& name = kept(accounting::figure_name("phi", estimator));
    std::string title = "Phi" + name.substr(name.find('_') + 1);
    title[3] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[3])));
    return {.name = name,
            .member = name,
            .title = kept(std::move(title)),
            .meaning =
                kept("contribution by " + std::string(accounting::name_of(estimator)) + ", processor-seconds squared"),
            .people = utility_for_people};
  }
  const std::string& kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;  // what the fields point to
  std::vector<Field> fields_;
};

std::string header_line(const json& report) {
  const json period = report.value("period", json::object());
  std::string line = member_text(report, "at_utc") + "  contribution " + member_text(report, "contribution");
  const std::string name = member_text(period, "name");
  const std::string begin = member_text(period, "begin_utc");
  if (begin.empty()) return line + "  no event yet\n";
  return line + (name == "none" ? "  books since " : "  " + name + " period since ") + begin + '\n';
}

// Mode observe: ranks are computed and order nothing. Only a daemon says so.
bool ranks_are_idle(const json& report) {
  return !report.value("ranks_act", true);
}

// In mode observe no rank is in force, so the column that would say so gives way to the one that says "would". People
// see the key beside the standing; programs that count columns find it behind all others.
std::string default_format(const json& report, bool long_form, bool parsable) {
  constexpr std::string_view k_rank = ",rank,";
  constexpr std::string_view k_standing = ",standing,";
  std::string format = long_form ? long_format() : std::string(k_status_format);
  if (ranks_are_idle(report)) format.replace(format.find(k_rank), k_rank.size(), ",would_rank,");
  if (parsable) return format + ",key";
  return format.replace(format.find(k_standing), k_standing.size(), ",standing,key,");
}

std::string observe_line(const json& report) {
  if (!ranks_are_idle(report)) return {};
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const json& row : report.value("organizations", json::array())) {
    const auto place = row.find("would_rank");
    if (place != row.end() && place->is_number_integer()) {
      order.emplace_back(place->get<std::int64_t>(), member_text(row, "name"));
    }
  }
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (auto& [place, name] : order) names.push_back(std::move(name));
  return "Ranks:   not in force (mode observe): priorities are untouched; with mode priorities: " +
         ledger::listed_names(names, k_most_lines) + '\n';
}

// "physics (Institute of Physics)".
std::string name_for_people(const json& row) {
  const std::string name = member_text(row, "name");
  const std::string title = member_text(row, "title");
  return title.empty() || title == name ? name : name + " (" + title + ')';
}

std::string sentences(const json& rows) {
  std::vector<std::string> lines;
  for (const json& row : rows) {
    if (!row.contains("rank") || row["rank"].is_null()) continue;
    lines.push_back(name_for_people(row) + ' ' + member_text(row, "sentence") + ".\n");
  }
  return first_lines(lines, "");
}

std::string no_start_lines(const json& report) {
  std::vector<std::string> lines;
  for (const json& row : report.value("organizations", json::array())) {
    std::string line = no_start_line(member_text(row, "name"), row.value("no_start_since", json(nullptr)),
                                     report.value("at", json(nullptr)));
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return first_lines(lines, "Waits:   ");
}

std::string ranking_lines(const json& report) {
  std::vector<std::string> lines;
  for (const json& sentence : report.value("ranking", json::object()).value("sentences", json::array())) {
    if (sentence.is_string()) lines.push_back("Ranks:   " + printable(sentence.get<std::string>()) + ".\n");
  }
  return first_lines(lines, "Ranks:   ");
}

std::string conservation_line(const json& report) {
  const json sums = report.value("conservation", json::object());
  if (sums.value("holds", false)) return "Books:   balanced: Sum(psi) = Sum(phi), to the unit\n";
  std::string line = "Books:   NOT BALANCED: Sum(psi) " + member_text(sums, "sum_psi") + ", Sum(phi)";
  // Those that are behind or not kept have none.
  const char* separator = " ";
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    const std::string sum = member_text(sums, accounting::figure_name("sum_phi", estimator));
    if (sum.empty()) continue;
    line += separator + std::string(accounting::estimators()[estimator.value].member) + ' ' + sum;
    separator = ", ";
  }
  return line + "; run shapleyctl audit\n";
}

Expected<json> online_status(const StatusArguments& arguments, const Endpoint& endpoint) {
  json request{{"request", "status"}};
  if (!arguments.contribution.empty()) request["contribution"] = arguments.contribution;
  if (arguments.worth) request["worth"] = true;
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask(request);
}

// For whoever cannot read the daemon's file: the daemon has it read.
Expected<json> status_of_past(const StatusArguments& arguments, const Endpoint& endpoint, Instant at) {
  json request{{"request", "status_at"}, {"at", at.value}};
  if (!arguments.contribution.empty()) request["contribution"] = arguments.contribution;
  if (arguments.worth) request["worth"] = true;
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask(request);
}

Expected<json> fetch(const StatusArguments& arguments, const Endpoint& endpoint) {
  if (arguments.ledger.empty() && arguments.at.empty()) return online_status(arguments, endpoint);
  OfflineQuestion question{.ledger = arguments.ledger,
                           .at = std::nullopt,
                           .contribution = std::nullopt,
                           .archives = arguments.archives,
                           .worth = arguments.worth};
  if (!arguments.at.empty()) {
    SHAPLEY_TRY_ASSIGN(question.at, parse_past_time(arguments.at, "--at", arguments.ledger));
  }
  if (!arguments.contribution.empty()) question.contribution = accounting::parse_estimator(arguments.contribution);
  if (arguments.ledger.empty() && endpoint.is_remote()) return status_of_past(arguments, endpoint, *question.at);
  if (arguments.ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(question.ledger, daemon_ledger(endpoint));
    const bool is_readable = ::access(question.ledger.c_str(), R_OK) == 0;
    if (!is_readable && arguments.archives.empty()) return status_of_past(arguments, endpoint, *question.at);
  }
  return offline_status(question);
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
  // A typing error is told before anybody is asked.
  SHAPLEY_TRY(render_status(json::object(), view));
  SHAPLEY_TRY_ASSIGN(json report, fetch(arguments, endpoint));
  SHAPLEY_TRY_ASSIGN(view.left_out, choose_rows(report, arguments.organizations, arguments.top));
  if (arguments.worth && !arguments.organizations.empty()) ledger::keep_only(report["worth"], arguments.organizations);
  if (arguments.json) {
    environment.out << json_text(report);
    return {};
  }
  if (arguments.worth) {
    environment.out << render_worth(report);
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

std::span<const Field> status_fields() {
  static const StatusFields fields;
  return fields.all();
}

Expected<std::size_t> choose_rows(json& report, const std::vector<std::string>& organizations, std::size_t top) {
  json& rows = report["organizations"];
  std::vector<std::string> known;
  for (const json& row : rows) known.push_back(member_text(row, "name"));
  for (const std::string& name : organizations) {
    if (std::ranges::find(known, name) == known.end()) return ledger::unknown_organization(name, known);
  }
  if (!organizations.empty()) {
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const json& row) {
                                return std::ranges::find(organizations, member_text(row, "name")) ==
                                       organizations.end();
                              }),
               rows.end());
  }
  if (top == 0 || rows.size() <= top) return 0;
  const std::size_t left_out = rows.size() - top;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(top), rows.end());
  return left_out;
}

Expected<std::string> render_status(const json& report, const StatusView& view) {
  const bool plain = view.format.empty();
  const std::string format = plain ? default_format(report, view.long_form, view.parsable) : view.format;
  SHAPLEY_TRY_ASSIGN(std::vector<Column> columns, parse_columns(format, status_fields()));
  const json rows = report.value("organizations", json::array());
  if (plain && !view.parsable) fit_names(columns, "organization", rows, view.columns);
  const std::string table = render_table(
      columns, rows,
      {.form = view.parsable ? Form::parsable : Form::people, .header = view.header, .colour = view.colour});
  // Whoever chose the columns wants columns and nothing else.
  if (view.parsable || !plain) return table;
  const std::string rest = view.left_out == 0 ? "" : "and " + counted(view.left_out, "other") + '\n';
  return (view.header ? header_line(report) : std::string()) + table + rest + '\n' + sentences(rows) + '\n' +
         ranking_lines(report) + no_start_lines(report) + observe_line(report) + conservation_line(report) +
         health_lines(report, view.colour);
}

void add_status(CLI::App& app, StatusArguments& arguments) {
  CLI::App* command = app.add_subcommand("status", "Show what every organization got, gave and is owed");
  CLI::Option* worth = command->add_flag("--worth", arguments.worth,
                                         "What cooperation is worth: what each got, and what it would have got alone");
  command->add_flag("--json", arguments.json, "Print the whole report as JSON");
  command->add_flag("-P,--parsable2", arguments.parsable, "Exact values between '|'")->excludes(worth);
  command->add_flag("-n,--noheader", arguments.no_header, "No header")->excludes(worth);
  command->add_flag("-l,--long", arguments.long_form, "More columns: every contribution, core-hours got and given")
      ->excludes(worth);
  command->add_option("-O,--organization", arguments.organizations, "Only these organizations")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("--top", arguments.top, "Only the first N, in the order in which jobs are served")
      ->excludes(worth)
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command->add_option("-i,--iterate", arguments.iterate_s, "Again every SECONDS, until interrupted")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("SECONDS");
  command->add_option("-o,--format", arguments.format, "Columns: name[%width],...; a negative width aligns left")
      ->excludes(worth)
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the names for --format");
  const auto names = accounting::estimator_names();
  command->add_option("--contribution", arguments.contribution, "Rank and phi by this estimator")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  command->add_option("--ledger", arguments.ledger, "Read this ledger file, a copy included; no daemon is asked");
  command->add_option("--at", arguments.at, "The books at this instant: 2026-11-21 or 2026-11-21T07:00:00 (UTC)")
      ->type_name("TIME");
  command
      ->add_option("--archives", arguments.archives,
                   "With --at: where the ledger's archives are; without it the directory archives beside it")
      ->type_name("DIRECTORY");
}

Expected<ExitCode> run_status(const StatusArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.help_format) {
    environment.out << render_field_help(status_fields());
    return ExitCode::success;
  }
  if (arguments.iterate_s == 0) {
    SHAPLEY_TRY(show_once(arguments, endpoint, environment));
    return ExitCode::success;
  }
  while (environment.out.good()) {
    // Somebody who watches wants to see the daemon come back: an error is shown like an answer.
    const Expected<void> shown = show_once(arguments, endpoint, environment);
    if (!shown && shown.error().code == Errc::invalid_argument) return tl::unexpected(shown.error());
    if (!shown) environment.out << "shapleyctl: " << printable(shown.error().what) << '\n';
    environment.out << std::endl;  // flushed: the next output is seconds away
    ::poll(nullptr, 0, arguments.iterate_s * 1000);
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
