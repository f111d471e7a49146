#include "ctl/commands/audit.hpp"

#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "ctl/client.hpp"
#include "ctl/commands/examine.hpp"
#include "ctl/commands/head.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/progress_line.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string name_of(ExaminationKind kind) {
  switch (kind) {
    case ExaminationKind::itself:
      return "itself";
    case ExaminationKind::records:
      return "records";
    case ExaminationKind::heads:
      return "heads";
  }
  return {};
}

json missing_json(const std::optional<ledger::ArchiveLink>& missing) {
  if (!missing) return nullptr;
  return {{"archive", missing->name},
          {"begin", missing->begin.value},
          {"until", missing->until.value},
          {"sequence", missing->sequence},
          {"hash", missing->hash}};
}

}  // namespace

void add_audit(CLI::App& app, AuditArguments& arguments) {
  CLI::App* command = app.add_subcommand("audit", "Prove a ledger correct, or list what does not hold");
  command->add_option("LEDGER,--ledger", arguments.ledger,
                      "The ledger file, a copy included; without it the daemon's own");
  command
      ->add_option("--archives", arguments.archives,
                   "Where the ledger's archives are; without it the directory archives beside it")
      ->type_name("DIRECTORY");
  command->add_option("--against", arguments.against,
                      "Compare every ended run with Slurm's records: output of sacct -P, or a jobcomp/filetxt file");
  CLI::Option* against = command->get_option("--against");
  command
      ->add_option("-S,--since", arguments.since,
                   "With --against: only runs that held processors after this instant: 2026-11-01 (UTC)")
      ->needs(against)
      ->type_name("TIME");
  command
      ->add_option("-E,--until", arguments.until,
                   "With --against: only runs that began before this instant, which the records reach")
      ->needs(against)
      ->type_name("TIME");
  CLI::Option* against_head = command->add_option("--against-head", arguments.against_heads,
                                                  "Compare the chain with a signed head; may be given several times");
  against_head->allow_extra_args(false)->type_name("FILE");
  CLI::Option* public_key =
      command->add_option("--public-key", arguments.public_key, "The key that --against-head was signed with");
  against_head->needs(public_key);
  public_key->needs(against_head);
  CLI::Option* head = command->add_flag(
      "--head", arguments.head,
      "Audit nothing: print a signed head, of the daemon or (with LEDGER) the newest that the file holds");
  command
      ->add_option("--sign-with", arguments.sign_with,
                   "With --head: sign the file's present head with this private key")
      ->needs(head)
      ->type_name("FILE");
  command->add_option("-o,--output", arguments.output, "With --head: write it to a file")
      ->needs(head)
      ->type_name("FILE");
  head->excludes(against_head);
  command->add_flag("--json", arguments.json, "Print JSON");
}

std::string what_was_checked(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  if (examination.kind == ExaminationKind::heads) {
    return grouped(report.events, "event") + ": the chain computed from their content against the signed heads";
  }
  if (examination.kind == ExaminationKind::records) {
    return grouped(report.records, "record") + " read, " + grouped(report.runs_compared, "run") + " compared";
  }
  return grouped(report.events, "event") + ", " + grouped(report.segments, "segment") +
         ": hash chain, conservation, books against an independent sum, projections against a rebuild";
}

std::string render_examination(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  std::string text = printable(examination.subject) + '\n';
  text += "  checked: " + what_was_checked(examination) + '\n';
  for (const std::string& note : report.notes) text += "  note: " + printable(note) + '\n';
  for (const ledger::Finding& finding : report.findings)
    text += "  FINDING " + finding.check + ": " + printable(finding.what) + '\n';
  if (report.clean() && examination.is_empty()) {
    return text + "  NOTHING COMPARED: no record is of a run that the ledger has, so nothing is known to be correct\n";
  }
  if (report.clean()) return text + "  correct to the last unit\n";
  return text + "  NOT correct: " + grouped(static_cast<std::int64_t>(report.findings.size()), "finding") + '\n';
}

json examination_json(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  json findings = json::array();
  for (const ledger::Finding& finding : report.findings) {
    findings.push_back({{"check", finding.check}, {"what", finding.what}});
  }
  return {{"subject", examination.subject},
          {"against", name_of(examination.kind)},
          {"events", report.events},
          {"segments", report.segments},
          {"records", report.records},
          {"runs_compared", report.runs_compared},
          {"notes", report.notes},
          {"findings", std::move(findings)},
          {"clean", report.clean() && !examination.is_empty()}};
}

Expected<ExitCode> run_audit(const AuditArguments& arguments, const Endpoint& endpoint,
                             const Environment& environment) {
  if (arguments.head) {
    return run_head({.ledger = arguments.ledger,
                     .sign_with = arguments.sign_with,
                     .output = arguments.output,
                     .json = arguments.json},
                    endpoint, environment);
  }
  std::filesystem::path file = arguments.ledger;
  if (file.empty()) {
    SHAPLEY_TRY_ASSIGN(file, daemon_ledger(endpoint));
  }
  ProgressLine line(environment);
  const auto show = [&line](const ledger::Progress& progress) { line.show(progress); };
  SHAPLEY_TRY_ASSIGN(const Examined examined, examine(file, arguments, show));
  line.clear();
  bool clean = true;
  bool compared = true;
  json all = json::array();
  for (const Examination& examination : examined.examinations) {
    clean = clean && examination.report.clean();
    compared = compared && !examination.is_empty();
    if (!arguments.json) environment.out << render_examination(examination);
    all.push_back(examination_json(examination));
  }
  if (arguments.json) {
    const json whole{
        {"clean", clean && compared}, {"examinations", std::move(all)}, {"missing", missing_json(examined.missing)}};
    environment.out << json_text(whole);
  } else if (examined.missing) {
    environment.out << "MISSING " << printable(described(*examined.missing))
                    << ": what is before it was not audited; --archives DIRECTORY says where it is\n";
  }
  tell_upkeep(endpoint, clean ? Upkeep::clean_audit : Upkeep::audit_with_findings, examined.head.sequence,
              ledger::to_hex(examined.head.hash));
  if (!clean) return ExitCode::findings;
  if (!compared) return ExitCode::nothing_compared;
  return examined.missing ? ExitCode::incomplete : ExitCode::success;
}

}  // namespace shapley::ctl
