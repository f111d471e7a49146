#include "ctl/audit.hpp"

#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ctl/amounts.hpp"
#include "ctl/client.hpp"
#include "ledger/ledger.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string what_was_checked(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  if (examination.against_records) {
    return grouped(report.records) + " records read, " + grouped(report.runs_compared) + " runs compared";
  }
  return grouped(report.events) + " events, " + grouped(report.segments) +
         " segments: hash chain, conservation, books against an independent sum, projections against a rebuild";
}

Expected<std::vector<Examination>> examine(const std::filesystem::path& file, const std::string& against) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  std::vector<Examination> examinations;
  SHAPLEY_TRY_ASSIGN(ledger::AuditReport itself, ledger::audit(ledger));
  examinations.push_back({.subject = file.native(), .against_records = false, .report = std::move(itself)});
  if (!against.empty()) {
    SHAPLEY_TRY_ASSIGN(ledger::AuditReport records, ledger::audit_against(ledger, against));
    examinations.push_back(
        {.subject = file.native() + " against " + against, .against_records = true, .report = std::move(records)});
  }
  return examinations;
}

}  // namespace

void add_audit(CLI::App& app, AuditArguments& arguments) {
  CLI::App* command = app.add_subcommand("audit", "Prove a ledger correct, or list what does not hold");
  command->add_option("LEDGER", arguments.ledger, "The ledger file, a copy included; without it the daemon's own");
  command->add_option("--against", arguments.against,
                      "Compare every ended run with Slurm's records: output of sacct -P, or a jobcomp/filetxt file");
  command->add_flag("--json", arguments.json, "Print JSON");
}

std::string render_examination(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  std::string text = examination.subject + '\n';
  text += "  checked: " + what_was_checked(examination) + '\n';
  for (const std::string& note : report.notes) text += "  note: " + note + '\n';
  for (const ledger::Finding& finding : report.findings)
    text += "  FINDING " + finding.check + ": " + finding.what + '\n';
  if (report.clean()) return text + "  correct to the last unit\n";
  return text + "  NOT correct: " + grouped(static_cast<std::int64_t>(report.findings.size())) +
         (report.findings.size() == 1 ? " finding\n" : " findings\n");
}

json examination_json(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  json findings = json::array();
  for (const ledger::Finding& finding : report.findings) {
    findings.push_back({{"check", finding.check}, {"what", finding.what}});
  }
  return {{"subject", examination.subject}, {"against_records", examination.against_records},
          {"events", report.events},        {"segments", report.segments},
          {"records", report.records},      {"runs_compared", report.runs_compared},
          {"notes", report.notes},          {"findings", std::move(findings)},
          {"clean", report.clean()}};
}

Expected<ExitCode> run_audit(const AuditArguments& arguments, const Endpoint& endpoint,
                             const Environment& environment) {
  std::filesystem::path file = arguments.ledger;
  if (file.empty()) {
    SHAPLEY_TRY_ASSIGN(file, daemon_ledger(endpoint));
  }
  SHAPLEY_TRY_ASSIGN(const std::vector<Examination> examinations, examine(file, arguments.against));
  bool clean = true;
  json all = json::array();
  for (const Examination& examination : examinations) {
    clean = clean && examination.report.clean();
    if (!arguments.json) environment.out << render_examination(examination);
    all.push_back(examination_json(examination));
  }
  if (arguments.json) {
    const json whole{{"clean", clean}, {"examinations", std::move(all)}};
    environment.out << whole.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  }
  return clean ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
