#include "ctl/commands/audit.hpp"

#include <array>
#include <deque>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/paint.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/consortium/consortium_audit.hpp"
#include "ledger/store/ledger.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::array k_kinds{"itself", "records", "heads", "consortium"};  // by ExaminationKind

json missing_json(const std::optional<ledger::ArchiveLink>& missing) {
  if (!missing) return nullptr;
  return {{"archive", missing->name},
          {"begin", missing->begin.value},
          {"until", missing->until.value},
          {"sequence", missing->sequence},
          {"hash", missing->hash}};
}

Expected<ledger::SignedHead> head_of_daemon(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json reply, client.ask({{"request", "head"}}));
  const auto text = reply.find("head");
  if (text == reply.end() || !text->is_string()) return fail(Errc::protocol, "shapleyd: its answer holds no head");
  return ledger::parse_head(text->get<std::string>());
}

Expected<ledger::SignedHead> head_of_file(const std::string& file, const std::string& sign_with) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  if (!sign_with.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::SigningKey key, ledger::SigningKey::read(sign_with));
    return ledger::sign_head(ledger, key, wall_clock());
  }
  SHAPLEY_TRY_ASSIGN(auto newest, ledger::newest_stored_head(ledger));
  if (newest) return *std::move(newest);
  return fail(Errc::not_found, file +
                                   ": holds no signed head; sign one with --sign-with KEY, or let shapleyd sign "
                                   "(signing_key in its configuration)");
}

std::string head_json(const ledger::SignedHead& head) {
  const std::string text = head.text();
  const std::string mark = "\nsignature: ";
  const std::string signature = text.substr(text.find(mark) + mark.size(), 2 * head.signature.size());
  const json object{
      {"ledger", head.ledger}, {"sequence", head.sequence}, {"hash", head.hash}, {"time", format_instant(head.time)},
      {"key", head.key},       {"signature", signature},    {"text", text}};
  return tables::json_text(object);
}

Expected<ExitCode> print_head(const AuditArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::SignedHead head, wanted_head(arguments.ledger, arguments.sign_with, endpoint));
  const std::string text = arguments.json ? head_json(head) : head.text();
  if (!arguments.output.empty()) {
    SHAPLEY_TRY(shapley::replace_file(arguments.output, text, shapley::Readers::by_umask));
    return ExitCode::success;
  }
  environment.out << text;
  return ExitCode::success;
}

}  // namespace

void add_audit(CLI::App& app, AuditArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "audit", "Prove that a ledger is correct (hash chain, sums and tables), or list every finding");
  command
      ->add_option("LEDGER,--ledger", arguments.ledger,
                   "Audit this ledger file or a copy of it (default: the daemon's own)")
      ->type_name("FILE");
  command
      ->add_option("--archives", arguments.archives,
                   "Look for the ledger's archives here (default: the directory archives beside the ledger)")
      ->type_name("DIRECTORY");
  CLI::Option* against = command->add_option(
      "--against", arguments.against,
      "Compare every ended run with Slurm's records: output of sacct -P, or a jobcomp/filetxt file");
  against->type_name("FILE");
  command->add_option("-S,--since", arguments.since, "Compare only runs that held processors after this instant")
      ->needs(against)
      ->type_name("TIME");
  command
      ->add_option("-E,--until", arguments.until,
                   "Compare only runs that began before this instant; the records have to reach it")
      ->needs(against)
      ->type_name("TIME");
  CLI::Option* against_head = command->add_option("--against-head", arguments.against_heads,
                                                  "Compare the chain with a signed head; may be given several times");
  against_head->allow_extra_args(false)->type_name("FILE");
  CLI::Option* public_key = command->add_option("--public-key", arguments.public_key,
                                                "Verify the signature of --against-head with this public key");
  public_key->type_name("FILE");
  against_head->needs(public_key);
  public_key->needs(against_head);
  CLI::Option* consortium = command->add_option(
      "--consortium", arguments.consortium,
      "Compare the statements of other clusters with the ledgers of these; may be given several times");
  consortium->type_name("LEDGER");
  command
      ->add_option("--consortium-key", arguments.consortium_keys,
                   "Verify the statements of another cluster with this public key; may be given several times")
      ->needs(consortium)
      ->type_name("FILE");
  CLI::Option* head = command->add_flag(
      "--head", arguments.head,
      "Print a signed head instead of an audit: the daemon's or, with LEDGER, the newest in the file");
  command
      ->add_option("--sign-with", arguments.sign_with, "Sign the present head of the ledger file with this private key")
      ->needs(head)
      ->type_name("FILE");
  command->add_option("-o,--output", arguments.output, "Write the head to this file")->needs(head)->type_name("FILE");
  head->excludes(against_head);
  head->excludes(consortium);
  command->add_flag("--json", arguments.json, "Print the report as JSON");
}

std::string what_was_checked(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  if (examination.kind == ExaminationKind::heads) {
    return grouped(report.events, "event") + ": the chain computed from their content against the signed heads";
  }
  if (examination.kind == ExaminationKind::records) {
    return fmt::format("{} read, {} compared", grouped(report.records, "record"), grouped(report.runs_compared, "run"));
  }
  if (examination.kind == ExaminationKind::consortium) {
    return fmt::format("{} against the ledgers that they are of, ranks at {} against the sum over clusters",
                       grouped(report.statements, "statement"), grouped(report.rank_checks, "instant"));
  }
  return fmt::format(
      "{}, {}: hash chain, conservation, books against an independent sum, projections against a rebuild",
      grouped(report.events, "event"), grouped(report.segments, "segment"));
}

std::string render_examination(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  std::string text = printable(examination.subject) + '\n';
  text += fmt::format("  checked: {}\n", what_was_checked(examination));
  for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", printable(note));
  for (const ledger::Finding& finding : report.findings)
    text += fmt::format("  FINDING {}: {}\n", finding.check, printable(finding.what));
  for (const std::string& missing : report.missing) text += fmt::format("  MISSING {}\n", printable(missing));
  for (const std::string& unchecked : report.unchecked) text += fmt::format("  NOT CHECKED {}\n", printable(unchecked));
  if (report.clean() && examination.is_empty()) {
    if (examination.kind == ExaminationKind::consortium)
      return text + "  NOTHING COMPARED: no statement could be compared, so nothing is known to be correct\n";
    return text + "  NOTHING COMPARED: no record is of a run that the ledger has, so nothing is known to be correct\n";
  }
  if (report.clean()) {
    if (!report.missing.empty()) return text + "  what was compared is correct to the last unit\n";
    return text + (report.unchecked.empty() ? "  correct to the last unit\n"
                                            : "  what was checked is correct to the last unit\n");
  }
  return fmt::format("{}  NOT correct: {}\n", text,
                     grouped(static_cast<std::int64_t>(report.findings.size()), "finding"));
}

json examination_json(const Examination& examination) {
  const ledger::AuditReport& report = examination.report;
  json findings = json::array();
  for (const ledger::Finding& finding : report.findings) {
    findings.push_back({{"check", finding.check}, {"what", finding.what}});
  }
  return {{"subject", examination.subject},  {"against", k_kinds.at(static_cast<std::size_t>(examination.kind))},
          {"events", report.events},         {"segments", report.segments},
          {"records", report.records},       {"runs_compared", report.runs_compared},
          {"statements", report.statements}, {"rank_checks", report.rank_checks},
          {"notes", report.notes},           {"missing", report.missing},
          {"findings", std::move(findings)}, {"clean", report.clean() && !examination.is_empty()},
          {"unchecked", report.unchecked}};
}

Expected<ExitCode> run_audit(const AuditArguments& arguments, const Endpoint& endpoint,
                             const Environment& environment) {
  if (arguments.head) return print_head(arguments, endpoint, environment);
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
  bool complete = !examined.missing;
  json all = json::array();
  for (const Examination& examination : examined.examinations) {
    clean = clean && examination.report.clean();
    compared = compared && !examination.is_empty();
    complete = complete && examination.report.missing.empty();
    if (!arguments.json) environment.out << render_examination(examination);
    all.push_back(examination_json(examination));
  }
  if (arguments.json) {
    const json whole{
        {"clean", clean && compared}, {"examinations", std::move(all)}, {"missing", missing_json(examined.missing)}};
    environment.out << tables::json_text(whole);
  } else if (examined.missing) {
    environment.out << "MISSING " << printable(described(*examined.missing))
                    << ": what is before it was not audited; --archives DIRECTORY says where it is\n";
  }
  report_upkeep(endpoint, {.done = ledger::UpkeepDone::audit,
                           .sequence = examined.head.sequence,
                           .hash = ledger::to_hex(examined.head.hash),
                           .clean = clean});
  if (!clean) return ExitCode::findings;
  if (!compared) return ExitCode::nothing_compared;
  return complete ? ExitCode::success : ExitCode::incomplete;
}

namespace {

Expected<std::vector<ledger::SignedHead>> verified_heads(const AuditArguments& arguments) {
  std::vector<ledger::SignedHead> heads;
  if (arguments.against_heads.empty()) return heads;
  SHAPLEY_TRY_ASSIGN(const ledger::PublicKey key, ledger::PublicKey::read(arguments.public_key));
  for (const std::string& file : arguments.against_heads) {
    SHAPLEY_TRY_ASSIGN(ledger::SignedHead head, ledger::read_head_file(file));
    if (auto good = ledger::verify_signature(head, key); !good) return with_context(file, std::move(good).error());
    heads.push_back(std::move(head));
  }
  return heads;
}

// Ledgers of the consortium, open, and public keys.
struct OtherLedgers {
  std::deque<ledger::OpenedFile> opened;
  std::vector<ledger::LedgerOfConsortium> ledgers;
  std::vector<ledger::PublicKey> keys;
};

Expected<OtherLedgers> opened_consortium(const AuditArguments& arguments) {
  OtherLedgers consortium;
  for (const std::string& file : arguments.consortium_keys) {
    SHAPLEY_TRY_ASSIGN(ledger::PublicKey key, ledger::PublicKey::read(file));
    consortium.keys.push_back(std::move(key));
  }
  for (const std::string& file : arguments.consortium) {
    SHAPLEY_TRY_ASSIGN(ledger::OpenedFile opened, ledger::OpenedFile::open(file));
    consortium.opened.push_back(std::move(opened));
    consortium.ledgers.push_back({arguments.is_for_others ? std::filesystem::path(file).filename().native() : file,
                                  &consortium.opened.back().ledger()});
  }
  return consortium;
}

// The ledger itself, then the archives before it, the newest first.
class Examiner {
 public:
  Examiner(const std::filesystem::path& file, const AuditArguments& arguments, const ledger::ComparedInterval& interval,
           std::vector<ledger::SignedHead> heads, OtherLedgers consortium, const ledger::OnProgress& on_progress)
      : file_(file),
        directory_(arguments.archives.empty() ? ledger::archives_near(file)
                                              : std::filesystem::path(arguments.archives)),
        against_(arguments.against),
        interval_(interval),
        heads_(std::move(heads)),
        consortium_(std::move(consortium)),
        on_progress_(on_progress) {
    for (const std::string& head : arguments.against_heads) names_of_heads_ += ' ' + head;
  }

  Expected<Examined> run() {
    SHAPLEY_TRY_ASSIGN(ledger::OpenedFile opened, ledger::OpenedFile::open(file_));
    SHAPLEY_TRY_ASSIGN(examined_.head, ledger::head_of(opened.ledger()));
    SHAPLEY_TRY(examine(file_, opened.ledger(), nullptr));
    if (!against_.empty()) SHAPLEY_TRY(compare_records(opened.ledger()));
    std::optional<ledger::ArchiveLink> link;
    while (true) {
      SHAPLEY_TRY(compare_statements(opened.ledger()));
      SHAPLEY_TRY_ASSIGN(link, ledger::archive_before(opened.ledger(), link));
      SHAPLEY_TRY(compare_heads(opened.ledger(), link));
      if (!link) break;
      SHAPLEY_TRY_ASSIGN(auto before, open_archive(*link));
      if (!before) break;
      SHAPLEY_TRY_ASSIGN(const bool linked, examine(path_of(*link), before->ledger(), &opened.ledger()));
      if (!linked) break;
      opened = *std::move(before);
    }
    note_heads_without_file();
    return std::move(examined_);
  }

 private:
  void add(std::string subject, ExaminationKind kind, ledger::AuditReport report) {
    examined_.examinations.push_back({.subject = std::move(subject), .kind = kind, .report = std::move(report)});
  }

  // False: this is not the archive that precedes `next`, so earlier archives are unknown.
  Expected<bool> examine(const std::filesystem::path& file, const ledger::Ledger& ledger, const ledger::Ledger* next) {
    path_ = file;
    SHAPLEY_TRY_ASSIGN(ledger::AuditReport report, ledger::audit(ledger, {.on_progress = on_progress_}));
    bool linked = true;
    if (next != nullptr) {
      SHAPLEY_TRY_ASSIGN(linked, ledger::audit_link(*next, ledger, report));
    }
    add(file.native(), ExaminationKind::itself, std::move(report));
    return linked;
  }

  // The runs of the ledger and of as many archives as the records reach back over, all of which are open at the same
  // time. The list ends at an archive that is missing, damaged or another file; the examination of the files reports
  // it.
  Expected<void> compare_records(const ledger::Ledger& ledger) {
    SHAPLEY_TRY_ASSIGN(const std::optional<Instant> first, ledger::first_recorded_start(ledger, against_));
    std::deque<ledger::OpenedFile> archives;
    std::vector<const ledger::Ledger*> files{&ledger};
    std::optional<ledger::ArchiveLink> link;
    while (first) {
      SHAPLEY_TRY_ASSIGN(link, ledger::archive_before(*files.back(), link));
      if (!link || link->until <= *first) break;
      auto opened = ledger::open_archive(*files.back(), *link, directory_);
      if (!opened) break;
      archives.push_back(*std::move(opened));
      files.push_back(&archives.back().ledger());
    }
    SHAPLEY_TRY_ASSIGN(ledger::AuditReport report, ledger::audit_against(files, against_, interval_));
    if (files.size() > 1)
      report.notes.push_back(fmt::format("of the archives {} were compared, too", files.size() - 1));
    add(fmt::format("{} against {}", file_.native(), against_), ExaminationKind::records, std::move(report));
    return {};
  }

  // The runs of the events that this file itself contains.
  Expected<void> compare_heads(const ledger::Ledger& ledger, const std::optional<ledger::ArchiveLink>& link) {
    std::vector<ledger::SignedHead> own;
    std::erase_if(heads_, [&](const ledger::SignedHead& head) {
      const bool is_own = !link || head.sequence > link->sequence;
      if (is_own) own.push_back(head);
      return is_own;
    });
    if (own.empty()) return {};
    SHAPLEY_TRY_ASSIGN(ledger::AuditReport report, ledger::audit_against_heads(ledger, own));
    add(path_.native() + names_of_heads_, ExaminationKind::heads, std::move(report));
    return {};
  }

  // Those that this file has of its own. An archive from before there was a consortium has none.
  Expected<void> compare_statements(const ledger::Ledger& ledger) {
    if (consortium_.ledgers.empty()) return {};
    SHAPLEY_TRY_ASSIGN(
        ledger::AuditReport report,
        ledger::audit_consortium(ledger, consortium_.ledgers, consortium_.keys, {.on_progress = on_progress_}));
    if (path_ != file_ && report.rank_checks == 0) return {};
    std::string subject = path_.native() + " with";
    for (const ledger::LedgerOfConsortium& other : consortium_.ledgers) subject += ' ' + other.file;
    add(std::move(subject), ExaminationKind::consortium, std::move(report));
    return {};
  }

  void note_heads_without_file() {
    if (heads_.empty()) return;
    ledger::AuditReport report;
    for (const ledger::SignedHead& head : heads_) {
      report.findings.push_back(
          {"head", fmt::format("the head of event {}: no file was read that has this event", head.sequence)});
    }
    add(file_.native() + names_of_heads_, ExaminationKind::heads, std::move(report));
  }

  [[nodiscard]] std::filesystem::path path_of(const ledger::ArchiveLink& link) const {
    return ledger::find_archive(directory_, link.name).value_or(directory_ / link.name);
  }

  // nullopt: it is missing or cannot be read, and the report says so.
  Expected<std::optional<ledger::OpenedFile>> open_archive(const ledger::ArchiveLink& link) {
    const auto there = ledger::find_archive(directory_, link.name);
    if (!there) {
      examined_.missing = link;
      return std::nullopt;
    }
    auto opened = ledger::OpenedFile::open(*there);
    if (opened) return std::optional(*std::move(opened));
    if (opened.error().code != Errc::corrupt) return tl::unexpected<Error>(std::move(opened).error());
    ledger::AuditReport report;
    report.findings.push_back({"archive", opened.error().what});
    report.notes.push_back(
        fmt::format("expected is {}; neither it nor what is before it was examined", described(link)));
    add(there->native(), ExaminationKind::itself, std::move(report));
    return std::nullopt;
  }

  std::filesystem::path file_;
  std::filesystem::path directory_;
  std::string against_;
  ledger::ComparedInterval interval_;
  std::vector<ledger::SignedHead> heads_;  // not compared yet
  OtherLedgers consortium_;
  const ledger::OnProgress& on_progress_;
  std::string names_of_heads_ = " against";
  std::filesystem::path path_;  // of the file that is open
  Examined examined_;
};

}  // namespace

Expected<Examined> examine(const std::filesystem::path& file, const AuditArguments& arguments,
                           const ledger::OnProgress& on_progress) {
  // The key is checked first, because that is quick: a wrong key should not be reported after an hour.
  SHAPLEY_TRY_ASSIGN(const TimesAsked times, parse_times(arguments.since, arguments.until));
  SHAPLEY_TRY_ASSIGN(std::vector<ledger::SignedHead> heads, verified_heads(arguments));
  SHAPLEY_TRY_ASSIGN(OtherLedgers consortium, opened_consortium(arguments));
  return Examiner(file, arguments, {times.since, times.until}, std::move(heads), std::move(consortium), on_progress)
      .run();
}

Expected<ledger::SignedHead> wanted_head(const std::string& ledger, const std::string& sign_with,
                                         const Endpoint& endpoint) {
  if (!ledger.empty()) return head_of_file(ledger, sign_with);
  if (sign_with.empty()) return head_of_daemon(endpoint);
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path own, daemon_ledger(endpoint));
  return head_of_file(own.string(), sign_with);
}

void add_keygen(CLI::App& app, KeygenArguments& arguments) {
  CLI::App* command = app.add_subcommand("keygen", "Generate the pair of keys that signs heads of the ledger");
  command
      ->add_option("FILE", arguments.file,
                   "Write the private key to this file (mode 0600), and the public key to FILE.pub")
      ->required()
      ->type_name("");
}

Expected<ExitCode> run_keygen(const KeygenArguments& arguments, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::PublicKey key, ledger::make_key_files(arguments.file));
  environment.out << "private key: " << printable(arguments.file) << " (for shapleyd's user alone)\n"
                  << "public key: " << printable(arguments.file) << ".pub (give it to every member)\n"
                  << "fingerprint: " << key.fingerprint() << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
