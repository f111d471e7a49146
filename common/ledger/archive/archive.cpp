#include "ledger/archive/archive.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "ledger/archive/links.hpp"
#include "ledger/archive/part.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/ledger_file.hpp"

namespace shapley::ledger {

namespace {

using accounting::State;
using std::filesystem::path;

// Readable by the ledger's group, like copies: auditors need archives, too.
constexpr mode_t k_directory_mode = 0750;

Expected<void> make_directory(const path& ledger, const path& directory) {
  if (::mkdir(directory.c_str(), k_directory_mode) != 0 && errno != EEXIST) {
    return system_failure(directory.string() + ": cannot create it", errno);
  }
  take_owner_of(ledger, directory);
  return sync_file(directory_of(directory));
}

Expected<void> sign(const path& file, const SigningKey& key, Instant now) {
  std::string text;
  std::int64_t sequence = 0;
  {
    SHAPLEY_TRY_ASSIGN(const Ledger ledger, Ledger::open(file, OpenMode::read_only));
    SHAPLEY_TRY_ASSIGN(const SignedHead head, sign_head(ledger, key, now));
    text = head.text();
    sequence = head.sequence;
  }
  SHAPLEY_TRY_ASSIGN(const Database database, Database::open(file.string(), SQLITE_OPEN_READWRITE));
  SHAPLEY_TRY_ASSIGN(Statement insert,
                     database.prepare("INSERT OR REPLACE INTO main.heads(sequence, at, text) VALUES (?1, ?2, ?3)"));
  return insert.bind(1, sequence).bind(2, now.value).bind(3, text).run();
}

// The figures that people are shown, and what goes on.
bool same_books(State& a, State& b) {
  const Instant t = std::max(a.now(), b.now());
  a.advance(t);
  b.advance(t);
  const auto same_row = [](const accounting::Standing& x, const accounting::Standing& y) {
    return x.organization == y.organization && x.psi.value == y.psi.value && x.got.value == y.got.value &&
           x.credits == y.credits && x.charged.value == y.charged.value && x.owned.value == y.owned.value &&
           x.used.value == y.used.value && x.waiting.value == y.waiting.value && x.lent.value == y.lent.value &&
           x.borrowed.value == y.borrowed.value;
  };
  const auto same_period = [&](const accounting::ClosedPeriod& x, const accounting::ClosedPeriod& y) {
    return x.begin == y.begin && x.end == y.end && std::ranges::equal(x.standings, y.standings, same_row);
  };
  return a.organizations() == b.organizations() && std::ranges::equal(a.standings(), b.standings(), same_row) &&
         std::ranges::equal(a.closed_periods(), b.closed_periods(), same_period) &&
         a.jobs_with_open_segments() == b.jobs_with_open_segments() && a.nodes() == b.nodes() &&
         a.configured_order() == b.configured_order() && a.period_begin() == b.period_begin();
}

// An archive that is being made. What a killed process left of it is removed first.
struct Begun {
  explicit Begun(const path& archive)
      : plain(archive.string() + ".plain"), packed(archive.string() + ".packed"), again(archive.string() + ".again") {}
  PartialFile plain;
  PartialFile packed;
  PartialFile again;
};

class Archivist {
 public:
  Archivist(const path& ledger, const SigningKey* key, Instant now, const OnProgress& on_progress)
      : ledger_(ledger), directory_(archives_of(ledger)), key_(key), now_(now), on_progress_(on_progress) {}

  Expected<ArchiveResult> run() {
    ArchiveResult result;
    SHAPLEY_TRY_ASSIGN(result.bytes_before, size_of_ledger());
    SHAPLEY_TRY_ASSIGN(const WriterLock lock, acquire());
    const PartialFile rest(ledger_.string() + ".archiving");
    {
      SHAPLEY_TRY_ASSIGN(const Database database, open_old_for_writing(ledger_, on_progress_));
      SHAPLEY_TRY(take_alone(database));
      SHAPLEY_TRY(make_all(database, rest, result));
      if (result.archives.empty()) return result;
    }
    take_owner_of(ledger_, rest.file());
    report_progress(on_progress_, {.what = "what stays takes the ledger's place"});
    std::error_code error;
    result.bytes_after = std::filesystem::file_size(rest.file(), error);
    SHAPLEY_TRY(rename_file(rest.file(), ledger_));
    report_progress(on_progress_, {.what = "done"});
    return result;
  }

 private:
  Expected<std::uintmax_t> size_of_ledger() const {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(ledger_, error);
    if (error) return fail(Errc::not_found, error.message() + "; check the path");
    return bytes;
  }

  // If there was no lock file, root has just created it.
  Expected<WriterLock> acquire() const {
    auto lock = WriterLock::acquire(ledger_);
    if (lock) take_owner_of(ledger_, ledger_.string() + ".lock");
    return lock;
  }

  Expected<void> make_all(const Database& database, const PartialFile& rest, ArchiveResult& result) {
    SHAPLEY_TRY_ASSIGN(const Cuts cuts, plan_cuts(database, ledger_, on_progress_));
    result.uncut = cuts.uncut;
    if (cuts.made.empty()) return {};
    SHAPLEY_TRY(make_directory(ledger_, directory_));
    SHAPLEY_TRY_ASSIGN(std::optional<Genesis> before, read_genesis(database));
    for (const Genesis& cut : cuts.made) {
      SHAPLEY_TRY_ASSIGN(Archive archive, make_archive(before, cut));
      result.archives.push_back(std::move(archive));
      before = cut;
    }
    SHAPLEY_TRY_ASSIGN(result.verified, write_rest(database, *std::move(before), rest));
    return {};
  }

  Expected<void> compare_books(const Database& database, Recovered after) {
    report_progress(on_progress_, {.what = "the books are compared"});
    SHAPLEY_TRY_ASSIGN(Recovered before, recover_books(database, {}));
    if (same_books(before.state, after.state)) return {};
    return fail(Errc::corrupt, "the books of what would stay differ from the ledger's; nothing was changed; report it");
  }

  // Makes the archive from `before` to `cut`, complete and under its name.
  Expected<Archive> make_archive(const std::optional<Genesis>& before, const Genesis& cut) {
    Archive archive{.file = directory_ / cut.archive,
                    .begin = cut.begin,
                    .until = cut.until,
                    .events = cut.events,
                    .verified = {.events = cut.sequence, .hash = to_hex(cut.hash)}};
    LedgerPart part{.genesis = before, .last = cut.sequence, .hash = cut.hash};
    const Begun begun(archive.file);
    std::error_code error;
    if (std::filesystem::exists(archive.file, error)) {
      SHAPLEY_TRY(take_up(archive.file, begun, part));
    } else {
      SHAPLEY_TRY(make(archive.file, begun, part));
    }
    archive.bytes = std::filesystem::file_size(archive.file, error);
    return archive;
  }

  // Uses an archive that an earlier try left.
  Expected<void> take_up(const path& file, const Begun& begun, const LedgerPart& part) {
    auto fits = unpack(file, begun.plain.file(), on_progress_);
    if (fits) fits = check_part(ledger_, begun.plain.file(), part, on_progress_);
    if (fits || fits.error().code != Errc::corrupt) return fits;
    return fail(Errc::conflict,
                fmt::format("{} is there already, and is not what is to be archived ({}); move it away and try again",
                            file.string(), fits.error().what));
  }

  Expected<void> make(const path& file, const Begun& begun, LedgerPart& part) {
    const path& plain = begun.plain.file();
    SHAPLEY_TRY(begun.plain.create(k_live_file_mode));
    SHAPLEY_TRY(write_part(ledger_, plain, part, on_progress_));
    if (key_ != nullptr) SHAPLEY_TRY(sign(plain, *key_, now_));
    SHAPLEY_TRY(check_part(ledger_, plain, part, on_progress_));
    SHAPLEY_TRY(pack(plain, begun.packed.file(), on_progress_));
    SHAPLEY_TRY(unpack(begun.packed.file(), begun.again.file(), on_progress_));
    report_progress(on_progress_, {.what = "what was compressed is compared"});
    SHAPLEY_TRY(compare_bytes(plain, begun.again.file()));
    take_owner_of(ledger_, begun.packed.file());
    SHAPLEY_TRY(begun.packed.become(file));
    report_progress(on_progress_, {.what = "an archive is there"});
    return {};
  }

  // Writes the file that stays, not yet under its name.
  Expected<BackupResult> write_rest(const Database& database, Genesis genesis, const PartialFile& rest) {
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
    LedgerPart part{.genesis = std::move(genesis), .last = head.sequence, .hash = head.hash, .has_checkpoints = true};
    SHAPLEY_TRY(rest.create(k_live_file_mode));
    SHAPLEY_TRY(write_part(ledger_, rest.file(), part, on_progress_));
    SHAPLEY_TRY(check_part(ledger_, rest.file(), part, on_progress_));
    SHAPLEY_TRY_ASSIGN(const Database written, open_alone(rest.file()));
    SHAPLEY_TRY_ASSIGN(Recovered replayed, replay_by_time(written, head.sequence, {}));
    SHAPLEY_TRY(compare_books(database, std::move(replayed)));
    return BackupResult{.events = head.sequence, .hash = to_hex(head.hash)};
  }

  path ledger_;
  path directory_;
  const SigningKey* key_;
  Instant now_;
  const OnProgress& on_progress_;
};

}  // namespace

path archives_of(const path& ledger) {
  return directory_of(ledger) / "archives";
}

Expected<ArchiveResult> archive_closed_periods(const path& ledger, const SigningKey* key, Instant now,
                                               const OnProgress& on_progress) {
  auto result = Archivist(ledger, key, now, on_progress).run();
  if (!result) return with_context("archive: " + ledger.string(), std::move(result).error());
  return result;
}

}  // namespace shapley::ledger
