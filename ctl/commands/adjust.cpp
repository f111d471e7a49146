#include "ctl/commands/adjust.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ledger/readers/past_books.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(Errc::invalid_argument, "adjust: " + what);
}

// "4711", "72_3", "72+1".
Expected<void> take_job(const std::string& text, ledger::AttributionAsked& attribute) {
  const std::size_t mark = text.find_first_of("_+");
  const auto job = parse_number<std::uint32_t>(std::string_view(text).substr(0, mark));
  if (!job)
    return wrong(fmt::format(
        "--job: '{}' is no job; write 4711, 72_3 for a task of an array, or 72+1 for a part of a heterogeneous job",
        text));
  attribute.job = JobId{*job};
  if (mark == std::string::npos) return {};
  const bool is_task = text[mark] == '_';
  const auto number = parse_number<std::uint32_t>(std::string_view(text).substr(mark + 1));
  if (!number)
    return wrong(
        fmt::format("--job: '{}{}", text, is_task ? "' names no task; write 72_3" : "' names no part; write 72+1"));
  (is_task ? attribute.task : attribute.part) = *number;
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

// "physics", "physics=50%,biology=50%"; "commons": without an owner.
Expected<std::vector<accounting::OwnerPart>> owners_of(const std::string& text) {
  std::vector<accounting::OwnerPart> owners;
  if (text == "commons") return owners;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t mark = word.find('=');
    const auto parts = mark == std::string::npos ? std::optional<std::int64_t>(1'000'000)
                                                 : parts_of(std::string_view(word).substr(mark + 1));
    if (word.empty() || mark == 0 || !parts) {
      return wrong(fmt::format("--owners: '{}' is no owner; write physics, or physics=50%,biology=50%", word));
    }
    owners.push_back({word.substr(0, mark), *parts});
    begin = end + 1;
  }
  return owners;
}

Expected<void> take_times(const AdjustArguments& arguments, std::optional<Instant>& since,
                          std::optional<Instant>& until) {
  SHAPLEY_TRY_ASSIGN(const TimesAsked times, parse_times(arguments.since, arguments.until, arguments.ledger));
  since = times.since;
  until = times.until;
  return {};
}

Expected<ledger::AttributionAsked> attribution(const AdjustArguments& arguments) {
  ledger::AttributionAsked attribute;
  if (!arguments.job.empty()) SHAPLEY_TRY(take_job(arguments.job, attribute));
  if (!arguments.account.empty()) attribute.account = arguments.account;
  if (!arguments.user.empty()) {
    attribute.user_id = user_number_of(arguments.user);
    if (!parse_number<std::uint32_t>(arguments.user)) attribute.user = arguments.user;
  }
  const bool timed = !arguments.since.empty() && !arguments.until.empty();
  if (arguments.job.empty() && !timed) {
    return wrong("the runs of an account or a user are corrected for a time: give --since and --until");
  }
  SHAPLEY_TRY(take_times(arguments, attribute.since, attribute.until));
  attribute.into = arguments.to;
  return attribute;
}

Expected<ledger::OwnershipAsked> ownership(const AdjustArguments& arguments) {
  if (arguments.owners.empty()) return wrong("--nodes needs --owners: physics, or physics=50%,biology=50%");
  if (arguments.since.empty()) return wrong("--nodes needs --since: from when on they owned them");
  ledger::OwnershipAsked own{.nodes = arguments.nodes, .owners = {}, .since = {}, .until = {}};
  SHAPLEY_TRY_ASSIGN(own.owners, owners_of(arguments.owners));
  std::optional<Instant> since;
  SHAPLEY_TRY(take_times(arguments, since, own.until));
  own.since = *since;
  return own;
}

// "500h", "0.5h": hours of a processor; "1800s": seconds.
Expected<CpuTime> amount_asked(const std::string& text) {
  const Int128 seconds = text.ends_with('h') ? 3600 : 1;
  const auto number = parse_micro(std::string_view(text).substr(0, text.empty() ? 0 : text.size() - 1));
  if (!number || *number <= 0 || *number > accounting::k_max_settled.value / seconds ||
      (seconds == 1 && !text.ends_with('s'))) {
    return wrong(fmt::format("--amount: '{}' is no amount; write hours, 500h or 0.5h, or seconds, 1800s", text));
  }
  return CpuTime{*number * seconds};
}

Expected<ledger::SettlementAsked> settlement(const AdjustArguments& arguments) {
  if (arguments.from.empty()) return wrong("--amount needs --from: the organization that gave it");
  if (arguments.at.empty()) return wrong("--amount needs --at: the date from which on it counts");
  ledger::SettlementAsked settle{.from = arguments.from, .to = arguments.to, .work = {}, .at = {}};
  SHAPLEY_TRY_ASSIGN(settle.work, amount_asked(arguments.amount));
  SHAPLEY_TRY_ASSIGN(settle.at, parse_past_time(arguments.at, "--at", arguments.ledger));
  return settle;
}

constexpr tables::Field k_preview_fields[] = {
    tables::left({"name", "Organization"}),
    {"before", "Standing", {}, "standing_core_hours_before", signed_or_unknown},
    {"after", "Corrected", {}, "standing_core_hours_after", signed_or_unknown},
    {"key", "Key", {}, "key_core_hours_before", signed_or_unknown},
    {"key_after", "Corrected", {}, "key_core_hours_after", signed_or_unknown},
};

constexpr tables::Field k_closed_fields[] = {
    tables::left({"name", "Organization"}),
    {"before", "Standing", {}, "standing_core_hours_before", signed_or_unknown},
    {"after", "Corrected", {}, "standing_core_hours_after", signed_or_unknown},
    {"got", "Got", {}, "got_core_hours_before", core_hours_or_unknown},
    {"got_after", "Corrected", {}, "got_core_hours_after", core_hours_or_unknown},
    {"given", "Given", {}, "given_core_hours_before", core_hours_or_unknown},
    {"given_after", "Corrected", {}, "given_core_hours_after", core_hours_or_unknown},
};

std::string amount_of(const ledger::AdjustmentRow& adjustment, double core_hours, const ledger::AmountUnit& in) {
  if (adjustment.runs == 0) return {};
  return grouped(adjustment.runs) + (adjustment.runs == 1 ? " run, " : " runs, ") + unsigned_core_hours(core_hours) +
         ' ' + in.word();
}

// What other clusters have to write after a renaming; empty: there are none.
std::string elsewhere_line(const ledger::AdjustmentRow& adjustment, const std::vector<std::string>& clusters) {
  if (clusters.empty()) return {};
  std::string names;
  for (const std::string& cluster : clusters) names += (names.empty() ? "" : ", ") + printable(cluster);
  return fmt::format("Other clusters ({}) do not count {} until they name it in `as`\n", names,
                     printable(adjustment.into));
}

// The closed periods that are restated: the last ones.
std::string closed_lines(const std::vector<ledger::RestatedPeriod>& periods, const ledger::AmountUnit& in) {
  constexpr std::size_t k_most = 12;
  const std::size_t left_out = periods.size() > k_most ? periods.size() - k_most : 0;
  std::string text;
  if (left_out > 0) {
    text = fmt::format("\n{}; --json lists all of them.\n",
                       counted_as(static_cast<std::int64_t>(left_out), "earlier period[ changes|s change], too"));
  }
  for (std::size_t i = left_out; i < periods.size(); ++i) {
    text += fmt::format(
        "\nFrom {} to {}, in {}:\n{}", periods[i].begin.utc(), periods[i].end.utc(), in.word(),
        tables::people_text({.columns = columns_of(k_closed_fields), .rows = json_of(periods[i].organizations)}));
  }
  return text;
}

bool changes(const ledger::StandingsRow& row) {
  return row.after != row.before || row.key_after != row.key_before;
}

std::string render_preview(const ledger::PreviewReport& report) {
  const ledger::AdjustmentRow& adjustment = report.adjustment;
  const std::string amount = amount_of(adjustment, report.core_hours, report.in);
  std::string text = fmt::format("Adjustment {}: {}\n", adjustment.number, printable(adjustment.sentence()));
  if (!amount.empty()) text += fmt::format("Moves:  {} so far\n", amount);
  text += elsewhere_line(adjustment, report.elsewhere);
  text += fmt::format("Reason: {}\n\n", printable(adjustment.reason));
  text += tables::people_text({.columns = columns_of(k_preview_fields), .rows = json_of(report.organizations)});
  text += fmt::format("\nStandings in {}, on average this period, by {}; ranks go by the keys.\n", report.in.in_full(),
                      printable(report.contribution));
  if (std::ranges::none_of(report.organizations, changes)) text += "No standing of this period changes, and no key.\n";
  return fmt::format("{}{}\nNothing is booked yet: the same with --yes books it.\n", text,
                     closed_lines(report.closed, report.in));
}

std::string render_made(const ledger::AdjustedReport& report) {
  const ledger::AdjustmentRow& adjustment = report.adjustment;
  const std::string amount = amount_of(adjustment, report.core_hours, report.in);
  const std::string number = std::to_string(adjustment.number);
  std::string text = fmt::format("adjustment {} is booked: {}", number, printable(adjustment.sentence()));
  if (!amount.empty()) text += fmt::format(": {} so far", amount);
  text += '\n';
  if (adjustment.kind != accounting::AdjustmentKind::reverse)
    text += fmt::format("shapleyctl adjust --reverse {} takes it back\n", number);
  text += elsewhere_line(adjustment, report.elsewhere);
  if (report.alone) text += std::string(k_alone) + '\n';
  if (report.rebuild) text += "the books are rebuilt for it: ranks and standings follow in a while\n";
  return text;
}

Expected<ledger::AdjustmentsReport> offline_list(const std::string& file) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  SHAPLEY_TRY_ASSIGN(const ledger::Recovered books, opened.ledger().recover());
  return ledger::adjustments_report(books.state);
}

Expected<ExitCode> list(const AdjustArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::AdjustmentsReport report,
                     arguments.ledger.empty()
                         ? ask_for<ledger::AdjustmentsReport>(endpoint, {{"request", "adjustments"}})
                         : offline_list(arguments.ledger));
  if (arguments.json) {
    environment.out << tables::json_text(json_of(report));
    return ExitCode::success;
  }
  const std::string lines = adjustment_lines(report.adjustments, {});
  environment.out << (lines.empty() ? "nothing of the books was adjusted\n" : lines);
  return ExitCode::success;
}

}  // namespace

void add_adjust(CLI::App& app, AdjustArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "adjust",
      "Correct the books: the organization of past runs, the past owners of nodes, the name of an organization; or "
      "settle an agreed amount");
  command
      ->add_option("--job", arguments.job,
                   "Correct the runs of this job, array, task (72_3), heterogeneous job, or part (72+1)")
      ->type_name("JOB");
  command
      ->add_option("--account", arguments.account,
                   "Correct the runs of this account that began from --since to --until")
      ->type_name("NAME");
  command->add_option("--user", arguments.user, "Correct the runs of this user that began from --since to --until")
      ->type_name("USER");
  command->add_option("--nodes", arguments.nodes, "Correct the owners of these nodes from --since to --until")
      ->type_name("NODES");
  command->add_option("--rename", arguments.rename, "Rename this organization to the name in --to")->type_name("NAME");
  command->add_option("--merge", arguments.merge, "Merge the row of this organization into that of the one in --to")
      ->type_name("NAME");
  command
      ->add_option("--to", arguments.to,
                   "Assign the runs to this organization; with --rename or --merge, continue under this name; with "
                   "--amount, the organization that got it")
      ->type_name("NAME");
  command
      ->add_option("--amount", arguments.amount,
                   "Book this amount, which --from gave to --to: hours of a processor (500h), or seconds (1800s)")
      ->type_name("AMOUNT");
  command->add_option("--from", arguments.from, "Let this organization have given --amount")->type_name("NAME");
  command->add_option("--at", arguments.at, "Let --amount count from this instant on (UTC)")->type_name("TIME");
  command
      ->add_option("--owners", arguments.owners,
                   "Set these owners of --nodes: physics, or physics=50%,biology=50%, or commons")
      ->type_name("NAMES");
  command->add_option("--reverse", arguments.reverse, "Reverse the adjustment of this number")->type_name("NUMBER");
  command->add_option("-S,--since", arguments.since, "Begin at this instant")->type_name("TIME");
  command->add_option("-E,--until", arguments.until, "End before this instant")->type_name("TIME");
  command->add_option("--reason", arguments.reason, "Record this reason in the ledger, for every user to read")
      ->type_name("TEXT");
  command->add_flag("--list", arguments.list, "List all adjustments");
  command->add_flag("--yes", arguments.yes,
                    "Book the adjustment, as root or the daemon's user; without --yes its effect is only shown");
  command
      ->add_option("--ledger", arguments.ledger,
                   "Read this ledger file or a copy of it, without asking a daemon; nothing is booked")
      ->type_name("FILE");
  command->add_flag("--json", arguments.json, "Print the report as JSON");
}

Expected<ledger::AdjustRequest> adjust_request(const AdjustArguments& arguments) {
  const bool attributes = !arguments.job.empty() || !arguments.account.empty() || !arguments.user.empty();
  const int whose =
      (arguments.job.empty() ? 0 : 1) + (arguments.account.empty() ? 0 : 1) + (arguments.user.empty() ? 0 : 1);
  const int ways = (attributes ? 1 : 0) + (arguments.amount.empty() ? 0 : 1) + (arguments.nodes.empty() ? 0 : 1) +
                   (arguments.rename.empty() ? 0 : 1) + (arguments.merge.empty() ? 0 : 1) +
                   (arguments.reverse.empty() ? 0 : 1);
  if (ways != 1 || whose > 1) {
    return wrong("name one of --job, --account, --user, --nodes, --rename, --merge, --amount, --reverse and --list");
  }
  if (arguments.reason.empty()) return wrong("--reason is missing: why, for every user to read");
  const bool needs_to =
      attributes || !arguments.amount.empty() || !arguments.rename.empty() || !arguments.merge.empty();
  if (needs_to && arguments.to.empty()) return wrong("--to is missing: the organization's name");
  ledger::AdjustRequest request{.reason = arguments.reason};
  if (attributes) {
    SHAPLEY_TRY_ASSIGN(request.attribute, attribution(arguments));
  } else if (!arguments.amount.empty()) {
    SHAPLEY_TRY_ASSIGN(request.settle, settlement(arguments));
  } else if (!arguments.nodes.empty()) {
    SHAPLEY_TRY_ASSIGN(request.own, ownership(arguments));
  } else if (!arguments.rename.empty()) {
    request.rename = {.organization = arguments.rename, .into = arguments.to};
  } else if (!arguments.merge.empty()) {
    request.merge = {.organization = arguments.merge, .into = arguments.to};
  } else {
    const auto number = parse_number<std::uint32_t>(arguments.reverse);
    if (!number)
      return wrong(fmt::format("--reverse: '{}' is no number; shapleyctl adjust --list has them", arguments.reverse));
    request.reverse = *number;
  }
  return request;
}

std::string adjustment_lines(const std::vector<ledger::ListedAdjustment>& adjustments, const ledger::AmountUnit& in) {
  std::string text;
  for (const ledger::ListedAdjustment& adjustment : adjustments) {
    const ledger::AdjustmentRow& is = adjustment.is;
    const std::optional<ledger::Amount> work = adjustment.work.value_or(std::nullopt);
    text += fmt::format("Adjustment {}, {}, {}{}:\n  {}{}; {}\n", is.number, is.at.utc(), printable(is.author),
                        adjustment.reversed_by ? ", reversed by " + std::to_string(*adjustment.reversed_by) : "",
                        printable(is.sentence()), work ? ": " + amount_of(is, work->core_hours(), in) : "",
                        printable(is.reason));
  }
  return text;
}

Expected<ExitCode> run_adjust(const AdjustArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.list) return list(arguments, endpoint, environment);
  SHAPLEY_TRY_ASSIGN(const ledger::AdjustRequest request, adjust_request(arguments));
  if (!arguments.ledger.empty()) {
    if (arguments.yes) return wrong("a ledger file is only read: --yes goes to the daemon that writes it");
    const std::string author = "uid " + std::to_string(::getuid());
    SHAPLEY_TRY_ASSIGN(const auto preview, answers::preview(request, {.path = arguments.ledger}, author, wall_clock()));
    environment.out << (arguments.json ? tables::json_text(json_of(preview)) : render_preview(preview));
    return ExitCode::success;
  }
  if (arguments.yes) {
    SHAPLEY_TRY_ASSIGN(const auto made,
                       ask_for<ledger::AdjustedReport>(endpoint, ledger::request_of("adjust", request)));
    environment.out << (arguments.json ? tables::json_text(json_of(made)) : render_made(made));
  } else {
    SHAPLEY_TRY_ASSIGN(const auto preview,
                       ask_for<ledger::PreviewReport>(endpoint, ledger::request_of("adjust_preview", request)));
    environment.out << (arguments.json ? tables::json_text(json_of(preview)) : render_preview(preview));
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
