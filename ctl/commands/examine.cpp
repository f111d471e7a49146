#include "ctl/commands/examine.hpp"

#include <deque>
#include <utility>

#include "ctl/offline.hpp"
#include "ledger/chain/signed_head.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

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

Expected<ledger::ComparedInterval> interval_of(const AuditArguments& arguments) {
  ledger::ComparedInterval interval;
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(interval.since, parse_past_time(arguments.since, "--since"));
  }
  if (!arguments.until.empty()) {
    SHAPLEY_TRY_ASSIGN(interval.until, parse_time(arguments.until, "--until"));
  }
  SHAPLEY_TRY(check_interval(interval.since, interval.until));
  return interval;
}

// The ledger itself, then the archives that it goes on from, the newest first.
class Examiner {
 public:
  Examiner(const std::filesystem::path& file, const AuditArguments& arguments, const ledger::ComparedInterval& interval,
           std::vector<ledger::SignedHead> heads, const ledger::OnProgress& on_progress)
      : file_(file),
        directory_(arguments.archives.empty() ? ledger::archives_near(file)
                                              : std::filesystem::path(arguments.archives)),
        against_(arguments.against),
        interval_(interval),
        heads_(std::move(heads)),
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

  // False: it is not the archive that `next` begins after, so nothing is known of what is before it.
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

  // The runs of the ledger and of as many archives as the records reach back over, which are open all at once. One that
  // is missing, damaged or another file ends them; the examination that goes from file to file says so.
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
      report.notes.push_back("of the archives " + std::to_string(files.size() - 1) + " were compared, too");
    add(file_.native() + " against " + against_, ExaminationKind::records, std::move(report));
    return {};
  }

  // Those of the events that this file has of its own.
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

  void note_heads_without_file() {
    if (heads_.empty()) return;
    ledger::AuditReport report;
    for (const ledger::SignedHead& head : heads_) {
      report.findings.push_back(
          {"head", "the head of event " + std::to_string(head.sequence) + ": no file was read that has this event"});
    }
    add(file_.native() + names_of_heads_, ExaminationKind::heads, std::move(report));
  }

  [[nodiscard]] std::filesystem::path path_of(const ledger::ArchiveLink& link) const {
    return ledger::find_archive(directory_, link.name).value_or(directory_ / link.name);
  }

  // nullopt: it is missing, or cannot be read; the one or the other was noted.
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
    report.notes.push_back("expected is " + described(link) + "; neither it nor what is before it was examined");
    add(there->native(), ExaminationKind::itself, std::move(report));
    return std::nullopt;
  }

  std::filesystem::path file_;
  std::filesystem::path directory_;
  std::string against_;
  ledger::ComparedInterval interval_;
  std::vector<ledger::SignedHead> heads_;  // not compared yet
  const ledger::OnProgress& on_progress_;
  std::string names_of_heads_ = " against";
  std::filesystem::path path_;  // of the file that is open
  Examined examined_;
};

}  // namespace

Expected<Examined> examine(const std::filesystem::path& file, const AuditArguments& arguments,
                           const ledger::OnProgress& on_progress) {
  // First, because it is quick: a wrong key should not be found out after an hour.
  SHAPLEY_TRY_ASSIGN(const ledger::ComparedInterval interval, interval_of(arguments));
  SHAPLEY_TRY_ASSIGN(std::vector<ledger::SignedHead> heads, verified_heads(arguments));
  return Examiner(file, arguments, interval, std::move(heads), on_progress).run();
}

}  // namespace shapley::ctl
