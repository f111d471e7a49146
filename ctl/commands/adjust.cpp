#include "ctl/commands/adjust.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include "base/calendar.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/table.hpp"
#include "ledger/readers/past_files.hpp"
#include "ledger/reports/adjustment_report.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(Errc::invalid_argument, "adjust: " + what);
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// "4711", "72_3", "72+1".
Expected<void> take_job(const std::string& text, json& attribute) {
  const std::size_t mark = text.find_first_of("_+");
  const auto job = whole_number(std::string_view(text).substr(0, mark));
  if (!job)
    return wrong("--job: '" + text +
                 "' is no job; write 4711, 72_3 for a task of an array, or 72+1 for a part of a heterogeneous job");
  attribute["job"] = *job;
  if (mark == std::string::npos) return {};
  const bool is_task = text[mark] == '_';
  const auto number = whole_number(std::string_view(text).substr(mark + 1));
  if (!number)
    return wrong("--job: '" + text + (is_task ? "' names no task; write 72_3" : "' names no part; write 72+1"));
  attribute[is_task ? "task" : "part"] = *number;
  return {};
}

Expected<void> take_user(const std::string& text, json& attribute) {
  if (const auto number = whole_number(text)) {
    attribute["user_id"] = *number;
    return {};
  }
  const passwd* entry = ::getpwnam(text.c_str());
  if (entry == nullptr) return wrong("--user: this machine knows no user '" + text + "'; give the user's number");
  attribute["user_id"] = entry->pw_uid;
  return {};
}

// "50%", "12.5%".
std::optional<std::int64_t> parts_of(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (failure != std::errc{} || end != text.data() + text.size() || percent <= 0 || percent > 100) return std::nullopt;
  constexpr double k_parts_of_a_percent = 10'000;
  return std::llround(percent * k_parts_of_a_percent);
}

// "physics", "physics=50%,biology=50%"; "commons": nobody's.
Expected<json> owners_of(const std::string& text) {
  json owners = json::array();
  if (text == "commons") return owners;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t mark = word.find('=');
    const auto parts = mark == std::string::npos ? std::optional<std::int64_t>(1'000'000)
                                                 : parts_of(std::string_view(word).substr(mark + 1));
    if (word.empty() || mark == 0 || !parts) {
      return wrong("--owners: '" + word + "' is no owner; write physics, or physics=50%,biology=50%");
    }
    owners.push_back({{"organization", word.substr(0, mark)}, {"parts_per_million", *parts}});
    begin = end + 1;
  }
  return owners;
}

Expected<void> take_times(const AdjustArguments& arguments, json& what) {
  std::optional<Instant> since;
  std::optional<Instant> until;
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(since, parse_past_time(arguments.since, "--since", arguments.ledger));
    what["since"] = since->value;
  }
  if (!arguments.until.empty()) {
    SHAPLEY_TRY_ASSIGN(until, parse_time(arguments.until, "--until"));
    what["until"] = until->value;
  }
  return check_interval(since, until);
}

Expected<json> attribution(const AdjustArguments& arguments) {
  json attribute;
  if (!arguments.job.empty()) SHAPLEY_TRY(take_job(arguments.job, attribute));
  if (!arguments.account.empty()) attribute["account"] = arguments.account;
  if (!arguments.user.empty()) SHAPLEY_TRY(take_user(arguments.user, attribute));
  const bool timed = !arguments.since.empty() && !arguments.until.empty();
  if (arguments.job.empty() && !timed) {
    return wrong("the runs of an account or a user are corrected for a time: give --since and --until");
  }
  SHAPLEY_TRY(take_times(arguments, attribute));
  attribute["into"] = arguments.to;
  return attribute;
}

Expected<json> ownership(const AdjustArguments& arguments) {
  if (arguments.owners.empty()) return wrong("--nodes needs --owners: physics, or physics=50%,biology=50%");
  if (arguments.since.empty()) return wrong("--nodes needs --since: from when on they owned them");
  json own{{"nodes", arguments.nodes}};
  SHAPLEY_TRY_ASSIGN(own["owners"], owners_of(arguments.owners));
  SHAPLEY_TRY(take_times(arguments, own));
  return own;
}

// "+12.4", or nothing for an organization that is a part of another one then.
std::string standing_cell(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : std::string();
}

constexpr Field k_preview_fields[] = {
    Field{.name = "name", .member = "name", .title = "Organization", .meaning = "", .align = Align::left},
    Field{.name = "before",
          .member = "standing_core_hours_before",
          .title = "Standing",
          .meaning = "",
          .people = standing_cell},
    Field{.name = "after",
          .member = "standing_core_hours_after",
          .title = "Corrected",
          .meaning = "",
          .people = standing_cell},
};

std::string amount_of(const json& adjustment, const json& core_hours) {
  const auto runs = adjustment["runs"].get<std::int64_t>();
  if (runs == 0) return {};
  return grouped(runs) + (runs == 1 ? " run, " : " runs, ") + unsigned_core_hours(core_hours.get<double>()) +
         " core-hours";
}

std::string render_preview(const json& report) {
  const json& adjustment = report["adjustment"];
  const std::string amount = amount_of(adjustment, report["core_hours"]);
  std::string text = "Adjustment " + member_text(adjustment, "number") + ": " + adjustment_sentence(adjustment) + '\n';
  if (!amount.empty()) text += "Moves:  " + amount + " so far\n";
  text += "Reason: " + member_text(adjustment, "reason") + "\n\n";
  std::vector<Column> columns;
  for (const Field& field : k_preview_fields) columns.push_back({&field, 0, field.align});
  text += render_table(columns, report["organizations"], {});
  return text + "\nStandings in core-hours, on average this period, by " + member_text(report, "contribution") +
         ".\nNothing is booked yet: the same with --yes books it.\n";
}

std::string render_made(const json& answer) {
  const json& adjustment = answer["adjustment"];
  const std::string amount = amount_of(adjustment, answer["core_hours"]);
  const std::string number = member_text(adjustment, "number");
  std::string text = "adjustment " + number + " is booked: " + adjustment_sentence(adjustment);
  if (!amount.empty()) text += ": " + amount + " so far";
  text += '\n';
  if (adjustment["kind"] != "reverse") text += "shapleyctl adjust --reverse " + number + " takes it back\n";
  if (answer["rebuild"] == true) text += "the books are rebuilt for it: ranks and standings follow in a while\n";
  return text;
}

Expected<json> offline_list(const std::string& file) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  SHAPLEY_TRY_ASSIGN(const ledger::Recovered books, opened.ledger().recover());
  return ledger::adjustments_report(books.state);
}

Expected<json> offline_preview(const std::string& file, const json& request) {
  SHAPLEY_TRY_ASSIGN(ledger::AdjustmentAsked asked, ledger::parse_adjustment(request));
  asked.author = request.value("author", "uid " + std::to_string(::getuid()));
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock).count();
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  return ledger::preview_report(opened.ledger(), asked, Instant{request.value("now", now)});
}

Expected<json> asked_of(const AdjustArguments& arguments) {
  if (arguments.request.empty()) return adjust_request(arguments);
  const json request = json::parse(arguments.request, nullptr, false);
  return request.is_object() ? Expected<json>(request) : wrong("--request is no JSON object");
}

Expected<ExitCode> list(const AdjustArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  json report;
  if (arguments.ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
    SHAPLEY_TRY_ASSIGN(report, client.ask({{"request", "adjustments"}}));
  } else {
    SHAPLEY_TRY_ASSIGN(report, offline_list(arguments.ledger));
  }
  if (arguments.json) {
    environment.out << json_text(report);
    return ExitCode::success;
  }
  const std::string lines = adjustment_lines(report["adjustments"]);
  environment.out << (lines.empty() ? "nothing of the books was adjusted\n" : lines);
  return ExitCode::success;
}

}  // namespace

void add_adjust(CLI::App& app, AdjustArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "adjust", "Correct the books: whose runs were, who owned nodes, what an organization is called");
  command->add_option("--job", arguments.job, "Runs of this job, array, task (72_3), heterogeneous job, or part (72+1)")
      ->type_name("JOB");
  command->add_option("--account", arguments.account, "Runs of this account that began in a time")->type_name("NAME");
  command->add_option("--user", arguments.user, "Runs of this user that began in a time")->type_name("USER");
  command->add_option("--nodes", arguments.nodes, "Who owned these nodes in a time that is past")->type_name("NODES");
  command->add_option("--rename", arguments.rename, "An organization that has another name now")->type_name("NAME");
  command->add_option("--merge", arguments.merge, "An organization that is a part of another one now")
      ->type_name("NAME");
  command->add_option("--to", arguments.to, "Whose the runs are; the other name; the other organization")
      ->type_name("NAME");
  command->add_option("--owners", arguments.owners, "With --nodes: physics, or physics=50%,biology=50%, or commons")
      ->type_name("NAMES");
  command->add_option("--reverse", arguments.reverse, "Take the adjustment of this number back")->type_name("NUMBER");
  command->add_option("-S,--since", arguments.since, "From this instant on (UTC)")->type_name("TIME");
  command->add_option("-E,--until", arguments.until, "Up to this instant (UTC)")->type_name("TIME");
  command->add_option("--reason", arguments.reason, "Why; kept in the ledger for everybody to read")->type_name("TEXT");
  command->add_flag("--list", arguments.list, "List all adjustments");
  command->add_flag("--yes", arguments.yes, "Book it; without this it is only shown what would change");
  command->add_option("--ledger", arguments.ledger, "List, or show what would change, of this ledger file")
      ->type_name("FILE");
  command->add_option("--request", arguments.request, "What is asked, as JSON")->group("");
  command->add_flag("--json", arguments.json, "Print JSON");
}

Expected<json> adjust_request(const AdjustArguments& arguments) {
  const bool attributes = !arguments.job.empty() || !arguments.account.empty() || !arguments.user.empty();
  const int whose =
      (arguments.job.empty() ? 0 : 1) + (arguments.account.empty() ? 0 : 1) + (arguments.user.empty() ? 0 : 1);
  const int ways = (attributes ? 1 : 0) + (arguments.nodes.empty() ? 0 : 1) + (arguments.rename.empty() ? 0 : 1) +
                   (arguments.merge.empty() ? 0 : 1) + (arguments.reverse.empty() ? 0 : 1);
  if (ways != 1 || whose > 1) {
    return wrong("name one of --job, --account, --user, --nodes, --rename, --merge, --reverse and --list");
  }
  if (arguments.reason.empty()) return wrong("--reason is missing: why, for everybody to read");
  const bool needs_to = attributes || !arguments.rename.empty() || !arguments.merge.empty();
  if (needs_to && arguments.to.empty()) return wrong("--to is missing: the organization's name");
  json request{{"reason", arguments.reason}};
  if (attributes) {
    SHAPLEY_TRY_ASSIGN(request["attribute"], attribution(arguments));
  } else if (!arguments.nodes.empty()) {
    SHAPLEY_TRY_ASSIGN(request["own"], ownership(arguments));
  } else if (!arguments.rename.empty()) {
    request["rename"] = {{"organization", arguments.rename}, {"into", arguments.to}};
  } else if (!arguments.merge.empty()) {
    request["merge"] = {{"organization", arguments.merge}, {"into", arguments.to}};
  } else {
    const auto number = whole_number(arguments.reverse);
    if (!number) return wrong("--reverse: '" + arguments.reverse + "' is no number; shapleyctl adjust --list has them");
    request["reverse"] = *number;
  }
  return request;
}

std::string adjustment_sentence(const json& adjustment) {
  const std::string into = member_text(adjustment, "into");
  const bool attributes = adjustment["kind"] == "attribute";
  return member_text(adjustment, "what") + (attributes ? " are " + into + "'s" : "");
}

std::string adjustment_lines(const json& adjustments) {
  std::string text;
  for (const json& adjustment : adjustments) {
    const std::string reversed = member_text(adjustment, "reversed_by");
    const json work = adjustment.value("work", json());
    const std::string amount = work.is_null() ? "" : ": " + amount_of(adjustment, work["core_hours"]);
    text += "Adjustment " + member_text(adjustment, "number") + ", " + member_text(adjustment, "at_utc") + ", " +
            member_text(adjustment, "author") + (reversed.empty() ? "" : ", reversed by " + reversed) + ":\n  " +
            adjustment_sentence(adjustment) + amount + "; " + member_text(adjustment, "reason") + '\n';
  }
  return text;
}

Expected<ExitCode> run_adjust(const AdjustArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.list) return list(arguments, endpoint, environment);
  SHAPLEY_TRY_ASSIGN(json request, asked_of(arguments));
  if (!arguments.ledger.empty()) {
    if (arguments.yes) return wrong("a ledger file is only read: --yes goes to the daemon that writes it");
    auto report = offline_preview(arguments.ledger, request);
    if (!report) return with_context("adjust", std::move(report).error());
    environment.out << (arguments.json ? json_text(*report) : render_preview(*report));
    return ExitCode::success;
  }
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  request["request"] = arguments.yes ? "adjust" : "adjust_preview";
  SHAPLEY_TRY_ASSIGN(const json answer, client.ask(request));
  if (arguments.json) {
    environment.out << json_text(answer);
  } else {
    environment.out << (arguments.yes ? render_made(answer) : render_preview(answer));
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
