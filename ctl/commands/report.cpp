#include "ctl/commands/report.hpp"

#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "charts/gnuplot.hpp"
#include "ctl/commands/examine.hpp"
#include "ctl/commands/head.hpp"
#include "ctl/commands/statement.hpp"
#include "ctl/output/progress_line.hpp"
#include "ctl/output/whole_file.hpp"
#include "ctl/report/page.hpp"
#include "ctl/report/sheets.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr const char* k_heading = "What every organization gave, got and is owed";

// A chart is some hundreds of points wide: more between its ends are not seen, and fewer make straight lines where the
// books have none.
constexpr std::int64_t k_most_points = 800;

// So that a table of a day has its hours, and one of years no thousands of rows.
ledger::Interval rows_for(Duration span) {
  if (span.value <= 3 * k_day_s) return ledger::Interval::hour;
  return span.value <= 400 * k_day_s ? ledger::Interval::day : ledger::Interval::month;
}

Expected<json> history(const IntervalArguments& interval, const Endpoint& endpoint, ledger::Interval by) {
  const auto offline = [by](const IntervalQuestion& question) { return offline_history(question, by); };
  return interval_report(interval, endpoint, {{"request", "history"}, {"by", ledger::name_of(by)}}, offline);
}

Expected<std::map<std::string, std::string>> titles_of(const std::optional<std::filesystem::path>& ledger, Instant at,
                                                       const Endpoint& endpoint) {
  if (ledger) return offline_titles(*ledger, at);
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json status, client.ask({{"request", "status"}}));
  std::map<std::string, std::string> titles;
  for (const json& row : status["organizations"]) {
    const std::string name = row["name"].get<std::string>();
    if (row["title"] != name) titles[name] = row["title"].get<std::string>();
  }
  return titles;
}

Expected<void> add_audit_of(Proof& proof, const ReportArguments& arguments,
                            const std::optional<std::filesystem::path>& ledger, const Endpoint& endpoint,
                            const Environment& environment) {
  if (arguments.no_audit || !ledger) {
    proof.no_audit =
        arguments.no_audit ? "it was left out by --no-audit" : "the ledger's file cannot be read from here";
    return {};
  }
  ProgressLine line(environment);
  const auto show = [&line](const ledger::Progress& progress) { line.show(progress); };
  AuditArguments wanted;
  wanted.archives = arguments.interval.archives;
  SHAPLEY_TRY_ASSIGN(proof.audit, examine(*ledger, wanted, show));
  line.clear();
  tell_upkeep(endpoint, proof.clean() ? Upkeep::clean_audit : Upkeep::audit_with_findings, proof.audit->head.sequence,
              ledger::to_hex(proof.audit->head.hash));
  return {};
}

// That there is none is no fault; that one which is there does not verify is.
Expected<void> add_head(Proof& proof, const ReportArguments& arguments, const Endpoint& endpoint) {
  auto head = wanted_head({.ledger = arguments.interval.ledger, .sign_with = {}, .output = {}}, endpoint);
  if (!head) {
    // The error of a file names it; a page for others need not say where it lies here.
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

Expected<SiteReport> gather(const ReportArguments& arguments, const Endpoint& endpoint,
                            const Environment& environment) {
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  SHAPLEY_TRY_ASSIGN(const auto ledger, readable_ledger(interval, endpoint));
  SiteReport report;
  report.heading = arguments.heading.empty() ? k_heading : arguments.heading;
  SHAPLEY_TRY_ASSIGN(report.statement,
                     interval_report(interval, endpoint, {{"request", "statement"}}, offline_statement));
  // The other parts are of the same time, while a daemon's present goes on.
  const Instant since{report.statement["since"].get<std::int64_t>()};
  const Instant until{report.statement["until"].get<std::int64_t>()};
  interval.since = format_instant(since);
  interval.until = format_instant(until);
  SHAPLEY_TRY_ASSIGN(report.history,
                     history(interval, endpoint, ledger::shortest_interval(until - since, k_most_points)));
  report.rows_by = rows_for(until - since);
  SHAPLEY_TRY_ASSIGN(report.months, history(interval, endpoint, ledger::Interval::month));
  SHAPLEY_TRY_ASSIGN(report.titles, titles_of(ledger, until, endpoint));
  SHAPLEY_TRY(add_head(report.proof, arguments, endpoint));
  SHAPLEY_TRY(add_audit_of(report.proof, arguments, ledger, endpoint, environment));
  return report;
}

Expected<void> write_all(const std::filesystem::path& directory, const std::string& page, const SiteReport& report) {
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault) return fail(Errc::io, directory.native() + ": cannot be made: " + fault.message());
  for (const Sheet& sheet : all_sheets(report)) SHAPLEY_TRY(write_whole_file(directory / sheet.file, sheet.csv));
  // Last: where there is a page, its files are there.
  return write_whole_file(directory / "index.html", page);
}

}  // namespace

void add_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "report", "A page of HTML for the consortium: standings, who lent to whom, waiting, months, the books' proof");
  command->add_option("-o,--output", arguments.directory, "Where index.html and its tables as CSV are written")
      ->required()
      ->type_name("DIRECTORY");
  add_time_and_ledger(*command, arguments.interval);
  add_month(*command, arguments.month);
  command->add_option("--title", arguments.heading, "The page's heading")->type_name("TEXT");
  command->add_option("--public-key", arguments.public_key, "Check the signed head with this key")->type_name("FILE");
  command->add_flag("--no-charts", arguments.no_charts, "Tables only: gnuplot is not needed");
  command->add_flag("--no-audit", arguments.no_audit, "Do not audit the ledger, which may take minutes");
}

Expected<ExitCode> run_report(const ReportArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  if (!arguments.no_charts) {
    // Before minutes are spent on the books. For exit codes a program that is missing is a file that is not there.
    if (const auto there = charts::find_gnuplot(); !there) {
      return fail(Errc::not_found,
                  "charts are drawn by gnuplot, which does not start; install it (Debian: gnuplot-nox), or write the "
                  "page without them: --no-charts");
    }
  }
  SHAPLEY_TRY_ASSIGN(const SiteReport report, gather(arguments, endpoint, environment));
  SHAPLEY_TRY_ASSIGN(const std::string page,
                     report_page(report, arguments.no_charts ? Charts::left_out : Charts::drawn));
  const std::filesystem::path directory = arguments.directory;
  SHAPLEY_TRY(write_all(directory, page, report));
  environment.out << printable((directory / "index.html").native()) << '\n';
  if (!report.exact() || !report.proof.clean()) {
    environment.err << "shapleyctl: the books are not proven; the page says why\n";
    return ExitCode::findings;
  }
  return report.proof.audit && report.proof.audit->missing ? ExitCode::incomplete : ExitCode::success;
}

}  // namespace shapley::ctl
