#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "charts/plot.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/commands/board.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/commands/users.hpp"
#include "ctl/output/forecast.hpp"
#include "ctl/output/paint.hpp"
#include "ctl/rank_answers.hpp"
#include "ctl/report/consortium_page.hpp"
#include "ctl/report/live_page.hpp"
#include "ctl/report/page.hpp"
#include "ctl/report/sheets.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/file/files.hpp"
#include "ledger/readers/declarations.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

namespace {

constexpr const char* k_heading = "What every organization gave, got and is owed";

// A chart is some hundreds of points wide: more instants would not be visible, and fewer would draw straight lines
// where the books have none.
constexpr std::int64_t k_most_points = 800;

// A table of a day has a row per hour, and a table of years does not have thousands of rows.
ledger::Interval rows_for(Duration span) {
  if (span.value <= 3 * k_day_s) return ledger::Interval::hour;
  return span.value <= 400 * k_day_s ? ledger::Interval::day : ledger::Interval::month;
}

Expected<ledger::HistoryReport> history(const IntervalArguments& interval, const Endpoint& endpoint,
                                        ledger::Interval by, bool utilization = false) {
  return interval_report(interval, endpoint, ledger::HistoryRequest{.by = by, .utilization = utilization});
}

// `ledger`: empty if no file was named. `others`: ledgers of the consortium's other clusters, with which the recorded
// statements are compared.
Expected<void> add_audit_of(Proof& proof, const ReportArguments& arguments, const std::filesystem::path& ledger,
                            const Endpoint& endpoint, const Environment& environment,
                            std::vector<std::string> others = {}) {
  if (arguments.no_audit || ledger.empty()) {
    proof.no_audit = arguments.no_audit ? "it was left out by --no-audit"
                                        : "the figures are the daemon's; shapleyctl report --ledger FILE reads a "
                                          "ledger's file and audits it";
    return {};
  }
  ProgressLine line(environment);
  const auto show = [&line](const ledger::Progress& progress) { line.show(progress); };
  // Frees the memory of the statement and the histories, because an audit needs most of a command's memory limit.
  ::malloc_trim(0);
  AuditArguments wanted;
  wanted.archives = arguments.interval.archives;
  wanted.consortium = std::move(others);
  wanted.consortium_keys = arguments.consortium_keys;
  wanted.is_for_others = true;
  SHAPLEY_TRY_ASSIGN(proof.audit, examine(ledger, wanted, show));
  line.clear();
  report_upkeep(endpoint, {.done = ledger::UpkeepDone::audit,
                           .sequence = proof.audit->head.sequence,
                           .hash = ledger::to_hex(proof.audit->head.hash),
                           .clean = proof.clean()});
  return {};
}

// A missing head is no fault, but a head whose signature does not verify is.
Expected<void> add_head(Proof& proof, const ReportArguments& arguments, const Endpoint& endpoint) {
  auto head = wanted_head(arguments.interval.ledger, "", endpoint);
  if (!head) {
    // The error names the file's path, which a page for others should not contain.
    proof.no_head = head.error().code == Errc::not_found
                        ? "the ledger holds none; shapleyd signs heads where its configuration has a signing_key"
                        : head.error().what;
    return {};
  }
  proof.head = *std::move(head);
  if (arguments.public_key.empty()) return {};
  SHAPLEY_TRY_ASSIGN(const ledger::PublicKey key, ledger::PublicKey::read(arguments.public_key));
  const auto verified = ledger::verify_signature(*proof.head, key);
  proof.signature = verified ? SignatureState::good : SignatureState::bad;
  if (!verified) proof.signature_fault = verified.error().what;
  return {};
}

// The names of the cluster and of its consortium of clusters, as the ledger's file has them last; the titles of that
// time.
Expected<void> add_names_of_file(SiteReport& report, const std::filesystem::path& file, Instant at) {
  SHAPLEY_TRY_ASSIGN(report.titles, answers::titles({.path = file}, at));
  return answers::from_ledger(file, [&report](const ledger::Ledger& ledger) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(report.cluster, ledger::cluster_name(ledger));
    SHAPLEY_TRY_ASSIGN(const std::vector<accounting::Event> declared, ledger::declarations(ledger));
    for (const accounting::Event& event : declared) {
      if (const auto* declared_now = std::get_if<accounting::ConsortiumDeclared>(&event))
        report.consortium = declared_now->consortium;
    }
    return {};
  });
}

// The name of the cluster, and the titles of the present. The status does not name the consortium.
Expected<void> add_names_of_daemon(SiteReport& report, const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(const auto status, ask_for<ledger::StatusReport>(endpoint, {{"request", "status"}}));
  if (status.daemon) report.cluster = status.daemon->cluster.name.value_or("");
  for (const ledger::OrganizationRow& row : status.organizations) {
    if (row.title != row.is.name) report.titles[row.is.name] = row.title;
  }
  return {};
}

// All but the proof. `interval` is set to the time of the statement.
Expected<SiteReport> figures(const ReportArguments& arguments, IntervalArguments& interval, const Endpoint& endpoint) {
  SiteReport report;
  report.users = arguments.users;
  SHAPLEY_TRY_ASSIGN(report.statement, interval_report(interval, endpoint, ledger::StatementRequest{}));
  SHAPLEY_TRY_ASSIGN(report.balances, balances_of(arguments.balance, report.statement.of, interval, endpoint));
  if (report.users) {
    name_users(report.statement);
    order_users(report.statement);
  }
  // The other parts are of the same time, although a daemon's present advances.
  const Instant since = report.statement.of.since;
  const Instant until = report.statement.of.until;
  interval.since = format_instant(since);
  interval.until = format_instant(until);
  SHAPLEY_TRY_ASSIGN(report.history,
                     history(interval, endpoint, ledger::shortest_interval(until - since, k_most_points)));
  report.rows_by = rows_for(until - since);
  SHAPLEY_TRY_ASSIGN(report.months, history(interval, endpoint, ledger::Interval::month, arguments.utilization));
  if (interval.ledger.empty())
    SHAPLEY_TRY(add_names_of_daemon(report, endpoint));
  else
    SHAPLEY_TRY(add_names_of_file(report, interval.ledger, until));
  return report;
}

// `interval` is set to the time of the statement.
Expected<SiteReport> gather(const ReportArguments& arguments, IntervalArguments& interval, const Endpoint& endpoint,
                            const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(SiteReport report, figures(arguments, interval, endpoint));
  report.heading = arguments.heading.empty() ? k_heading : arguments.heading;
  SHAPLEY_TRY(add_head(report.proof, arguments, endpoint));
  SHAPLEY_TRY(add_audit_of(report.proof, arguments, interval.ledger, endpoint, environment));
  return report;
}

Expected<ConsortiumReport> gather_consortium(const ReportArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment) {
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  ConsortiumReport report;
  report.heading = arguments.heading;
  SHAPLEY_TRY(take_year(arguments.balance, interval));
  SHAPLEY_TRY_ASSIGN(report.statement, consortium_statement(arguments.consortium, interval, false, arguments.balance));
  if (!arguments.users) report.statement.users.clear();
  if (arguments.board) {
    SHAPLEY_TRY_ASSIGN(report.board, board_of(arguments.consortium, interval, report.statement));
  }
  for (const std::string& file : arguments.consortium) {
    std::vector<std::string> others = arguments.consortium;
    std::erase(others, file);
    Proof& proof = report.proofs.emplace_back();
    SHAPLEY_TRY(add_audit_of(proof, arguments, file, endpoint, environment, std::move(others)));
  }
  return report;
}

// The page is for all readers, so it has no private jobs, even if the asker may see them.
void add_live_jobs(LiveReport& report, const Endpoint& endpoint, const Environment& environment) {
  const auto& daemon = report.status.daemon;
  if (!daemon || daemon->privacy.jobs.value_or(true)) {
    report.no_jobs = "jobs are private here (PrivateData)";
    return;
  }
  const auto queue = ask_for<ledger::QueueReport>(endpoint, {{"request", "queue"}});
  if (!queue) {
    report.no_jobs = queue.error().what;
    return;
  }
  const auto priorities = pending_priorities(environment.run_program);
  if (!priorities) {
    report.no_jobs = priorities.error().what;
    return;
  }
  report.jobs = in_turn(*queue, *priorities);
  report.truncated = queue->truncated;
}

Expected<LiveReport> gather_live(const ReportArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  LiveReport report{.heading = arguments.heading.empty() ? "The organizations at present" : arguments.heading,
                    .every_s = arguments.every_s};
  const std::string& ledger = arguments.interval.ledger;
  if (!ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(report.status, answers::answer(ledger::StatusRequest{.forecast = true}, {.path = ledger}));
    report.no_jobs = "this is of a ledger's file";
    return report;
  }
  SHAPLEY_TRY_ASSIGN(
      report.status,
      ask_for<ledger::StatusReport>(endpoint, ledger::request_of("status", ledger::StatusRequest{.forecast = true})));
  SHAPLEY_TRY(check_forecast(report.status));
  add_live_jobs(report, endpoint, environment);
  return report;
}

Expected<void> write_all(const std::filesystem::path& directory, const std::string& page,
                         const std::vector<Sheet>& sheets, const Environment& environment) {
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault) return fail(Errc::io, fmt::format("{}: cannot be made: {}", directory.native(), fault.message()));
  const auto write = [&](const std::string& name, const std::string& text) {
    return shapley::replace_file(directory / name, text, shapley::Readers::by_umask);
  };
  for (const Sheet& sheet : sheets) SHAPLEY_TRY(write(sheet.file, csv_text(sheet.values)));
  // Who asks for no users, balances or invoice is not to forward those of an earlier report.
  for (const std::string_view file : k_files_on_request) {
    if (std::ranges::find(sheets, file, &Sheet::file) == sheets.end()) std::filesystem::remove(directory / file, fault);
  }
  // The page is written last: if it exists, its files exist, too.
  SHAPLEY_TRY(write("index.html", page));
  environment.out << printable((directory / "index.html").native()) << '\n';
  return {};
}

// The name as the name of a directory: letters, digits and ".-_" stay, a first "." does not.
std::string directory_name(const std::string& organization) {
  std::string name;
  for (const char c : organization) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                          c == '_' || (c == '.' && !name.empty());
    name += is_plain ? std::string(1, c) : '%' + to_hex({&c, 1});
  }
  return name;
}

// A page for each organization of the report, below DIRECTORY/organizations: the page that -O NAME writes.
Expected<void> write_own_pages(const SiteReport& whole, const ReportArguments& arguments, IntervalArguments interval,
                               Charts charts, const Endpoint& endpoint, const Environment& environment) {
  for (const std::string& name : organizations_of(whole)) {
    if (name == accounting::k_commons) continue;  // it has no members
    interval.organizations = {name};
    SHAPLEY_TRY_ASSIGN(SiteReport own, figures(arguments, interval, endpoint));
    const auto title = own.titles.find(name);
    own.heading = fmt::format("{}: {}", title == own.titles.end() ? name : title->second, whole.heading);
    own.proof = whole.proof;
    SHAPLEY_TRY_ASSIGN(const std::string page, report_page(own, charts));
    const std::filesystem::path directory = std::filesystem::path(arguments.directory) / "organizations";
    SHAPLEY_TRY(write_all(directory / directory_name(name), page, all_sheets(own), environment));
  }
  return {};
}

// An audited report of all organizations and of a whole month is that month's papers; the daemon refuses those of a
// month that has not ended.
void report_papers(const ReportArguments& arguments, const Proof& proof, const Endpoint& endpoint) {
  const auto begin = parse_instant(arguments.month + "-01");
  if (!begin || !proof.audit || !arguments.interval.organizations.empty()) return;
  report_upkeep(endpoint, {.done = ledger::UpkeepDone::papers,
                           .sequence = proof.audit->head.sequence,
                           .hash = ledger::to_hex(proof.audit->head.hash),
                           .until = period_end(Period::monthly, *begin)});
}

ExitCode verdict(bool is_proven, bool is_complete, const Environment& environment) {
  if (!is_proven) {
    environment.err << "shapleyctl: the books are not proven; the page says why\n";
    return ExitCode::findings;
  }
  return is_complete ? ExitCode::success : ExitCode::incomplete;
}

}  // namespace

void add_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "report",
      "Write a page of HTML for the consortium: standings, lending, waiting, months, and the proof of the books");
  command->add_option("-o,--output", arguments.directory, "Write index.html and its tables as CSV to this directory")
      ->required()
      ->type_name("DIRECTORY");
  add_time_and_ledger(*command, arguments.interval);
  add_month(*command, arguments.month);
  add_balance(*command, arguments.balance);
  command->add_option("--title", arguments.heading, "Use this text as the heading of the page")->type_name("TEXT");
  CLI::Option* public_key =
      command->add_option("--public-key", arguments.public_key, "Verify the signed head with this public key")
          ->type_name("FILE");
  command
      ->add_option(
          "--consortium", arguments.consortium,
          "Write a page of a consortium's members by cluster and in sum, from the ledgers of its clusters; the "
          "first one's names and weights count")
      ->excludes(command->get_option("--ledger"))
      ->excludes(public_key)
      ->type_name("LEDGER");
  command
      ->add_option(
          "--consortium-key", arguments.consortium_keys,
          "Verify the statements of a cluster of the consortium with this public key; may be given several times")
      ->needs(command->get_option("--consortium"))
      ->type_name("FILE");
  command
      ->add_flag("--per-organization", arguments.per_organization,
                 "Write a page of each organization, too, below the directory organizations")
      ->excludes(command->get_option("--consortium"));
  command->add_flag("--users", arguments.users,
                    "Show what each user of each account got, too, to every reader of the page");
  command
      ->add_flag("--utilization", arguments.utilization,
                 "Show what nodes were used for by month, GPU hours, and how long runs had waited, too")
      ->excludes(command->get_option("--consortium"));
  command
      ->add_flag("--board", arguments.board,
                 "Show standings beside those of a month before, what was decided on all clusters, and how long their "
                 "statements did not count, too")
      ->needs(command->get_option("--consortium"));
  CLI::Option* live = command->add_flag(
      "--live", arguments.live,
      "Write a page of the present: standings, which organization goes first and why, and the places of "
      "jobs that wait");
  for (const char* other : {"--consortium", "--per-organization", "--users", "--utilization", "--public-key", "--since",
                            "--until", "--month", "--year", "--by-month", "--rate"})
    live->excludes(command->get_option(other));
  command->add_option("--every", arguments.every_s, "Make browsers reload the page after so many seconds")
      ->needs(live)
      ->check(CLI::Range(std::int64_t{1}, k_day_s))
      ->capture_default_str()
      ->type_name("SECONDS");
  command->add_flag("--no-charts", arguments.no_charts, "Write tables without charts, so that gnuplot is not needed");
  command->add_flag("--no-audit", arguments.no_audit, "Skip the audit of the ledger, which may take minutes");
}

Expected<ExitCode> run_report(const ReportArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (arguments.live) {
    SHAPLEY_TRY_ASSIGN(const LiveReport report, gather_live(arguments, endpoint, environment));
    SHAPLEY_TRY(write_all(arguments.directory, live_page(report), {}, environment));
    return ExitCode::success;
  }
  if (!arguments.no_charts) {
    // This is checked before the books are read, which takes minutes. A missing program has the exit code of a missing
    // file.
    if (const auto there = charts::find_gnuplot(); !there) {
      return fail(Errc::not_found,
                  "charts are drawn by gnuplot, which does not start; install it (Debian: gnuplot-nox), or write the "
                  "page without them: --no-charts");
    }
  }
  const Charts charts = arguments.no_charts ? Charts::left_out : Charts::drawn;
  if (!arguments.consortium.empty()) {
    SHAPLEY_TRY_ASSIGN(const ConsortiumReport report, gather_consortium(arguments, endpoint, environment));
    SHAPLEY_TRY_ASSIGN(const std::string page, consortium_page(report, charts));
    SHAPLEY_TRY(write_all(arguments.directory, page, consortium_sheets(report), environment));
    if (!report.statement.has_sums())
      environment.err << "shapleyctl: " << printable(missing_line(report.statement)) << '\n';
    return verdict(report.is_proven(), report.is_complete(), environment);
  }
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  SHAPLEY_TRY(take_year(arguments.balance, interval));
  SHAPLEY_TRY_ASSIGN(const SiteReport report, gather(arguments, interval, endpoint, environment));
  SHAPLEY_TRY_ASSIGN(const std::string page, report_page(report, charts));
  SHAPLEY_TRY(write_all(arguments.directory, page, all_sheets(report), environment));
  if (arguments.per_organization)
    SHAPLEY_TRY(write_own_pages(report, arguments, interval, charts, endpoint, environment));
  report_papers(arguments, report.proof, endpoint);
  return verdict(report.exact() && report.proof.clean(), report.proof.is_complete(), environment);
}

}  // namespace shapley::ctl
