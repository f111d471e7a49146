#include "ledger/archive/links.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/calendar.hpp"
#include "ledger/archive/cuts.hpp"
#include "ledger/archive/packed_file.hpp"
#include "ledger/chain/chain_walk.hpp"
#include "ledger/store/copies.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

constexpr std::string_view k_directory_of_archives = "archives";

void find(AuditReport& report, std::string what) {
  report.findings.push_back({"archive", std::move(what)});
}

// A hash chain over the archive's events that the ledger has copies of; nullopt: it lacks one.
Expected<std::optional<Digest>> hash_of_copied(const Database& ledger, const Database& archive, std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement copied, ledger.prepare("SELECT seq FROM main.event_rows WHERE seq <= ?1 ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(Statement event,
                     archive.prepare("SELECT " + std::string(k_event_columns) + " FROM main.events WHERE seq = ?1"));
  copied.bind(1, sequence);
  Digest hash{};
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, copied.step());
    if (!row) return hash;
    SHAPLEY_TRY_ASSIGN(const bool there, event.bind(1, copied.integer(0)).step());
    if (!there) return std::nullopt;
    SHAPLEY_TRY_ASSIGN(hash, hasher.link(hash, event_row_of(event)));
    event.reset();
  }
}

Expected<void> compare_books(const Database& archive, const Genesis& genesis, AuditReport& report) {
  const auto books = books_at_cut(archive, nullptr, genesis.sequence, genesis.horizon);
  if (!books) {
    if (books.error().code != Errc::corrupt) return tl::unexpected<Error>(books.error());
    find(report, "its events lead to no books: " + books.error().what);
    return {};
  }
  // Read and written again, since another release may have written it.
  const auto opening = accounting::State::load(genesis.books);
  if (opening && opening->save() == books->text) return {};
  find(report, "its events lead to other books than those that the next file begins with");
  return {};
}

// Why `archive` is not of this ledger; "": it is.
Expected<std::string> identity_fault(const Ledger& ledger, const Ledger& archive) {
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger.identity());
  SHAPLEY_TRY_ASSIGN(const std::string theirs, archive.identity());
  return identity == theirs ? "" : "it is of another ledger: " + theirs + ", not " + identity;
}

// Why it does not end where the next file goes on; "": it does.
Expected<std::string> end_fault(const Genesis& genesis, const Database& archive) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(archive));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(archive));
  if (head.sequence == genesis.sequence && head.hash == genesis.hash &&
      head.sequence - begin.sequence == genesis.events) {
    return "";
  }
  return "it has events " + std::to_string(begin.sequence + 1) + " to " + std::to_string(head.sequence) +
         ", the last one with hash " + to_hex(head.hash) + "; the next file goes on after events " +
         std::to_string(genesis.sequence - genesis.events + 1) + " to " + std::to_string(genesis.sequence) +
         ", the last one with hash " + to_hex(genesis.hash) + ": it was exchanged or changed";
}

Expected<Genesis> genesis_of(const Ledger& ledger) {
  SHAPLEY_TRY_ASSIGN(auto genesis, read_genesis(LedgerAccess::impl(ledger).database));
  if (!genesis) return fail(Errc::invalid_argument, "the ledger has no archive");
  return *std::move(genesis);
}

Expected<bool> compare(const Ledger& ledger, const Ledger& archive, AuditReport& report) {
  const Database& after = LedgerAccess::impl(ledger).database;
  const Database& before = LedgerAccess::impl(archive).database;
  SHAPLEY_TRY_ASSIGN(const Genesis genesis, genesis_of(ledger));
  SHAPLEY_TRY_ASSIGN(std::string other_ledger, identity_fault(ledger, archive));
  if (!other_ledger.empty()) find(report, std::move(other_ledger));
  SHAPLEY_TRY_ASSIGN(std::string other_end, end_fault(genesis, before));
  if (!other_end.empty()) {
    find(report, std::move(other_end));
    return false;
  }
  SHAPLEY_TRY_ASSIGN(const auto copied, hash_of_copied(after, before, genesis.sequence));
  if (copied != genesis.copies_hash)
    find(report, "the next file has copies of its events that are not as they are here");
  SHAPLEY_TRY(compare_books(before, genesis, report));
  return true;
}

// An archive stays as it was made: a later release brings its own copy up to date.
Expected<void> migrate_copy(const path& plain) {
  SHAPLEY_TRY(open_alone(plain));
  SHAPLEY_TRY_ASSIGN(const Database database, Database::open(plain.string(), SQLITE_OPEN_READWRITE));
  return migrate(database);
}

// /tmp may be memory, and a month of a large cluster takes much.
path directory_of_unpacked() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? path(chosen) : path("/var/tmp");
}

}  // namespace

struct OpenedFile::Unpacked {
  path directory;
  Unpacked() = default;
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked() {
    std::error_code ignored;
    if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  }
};

OpenedFile::OpenedFile(std::shared_ptr<const Unpacked> unpacked, Ledger ledger)
    : unpacked_(std::move(unpacked)), ledger_(std::move(ledger)) {}

Expected<OpenedFile> OpenedFile::open(const path& file) {
  if (!is_packed(file)) {
    SHAPLEY_TRY_ASSIGN(Ledger ledger, Ledger::open(file, OpenMode::read_only));
    return OpenedFile(nullptr, std::move(ledger));
  }
  std::string name = (directory_of_unpacked() / "shapley-archive-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return system_failure(name + ": cannot create it", errno);
  auto unpacked = std::make_shared<Unpacked>();
  unpacked->directory = name;
  const path plain = unpacked->directory / "ledger.db";
  SHAPLEY_TRY(unpack(file, plain, {}));
  auto migrated = migrate_copy(plain);
  if (!migrated) return with_context(file.string(), std::move(migrated).error());
  auto ledger = Ledger::open(plain, OpenMode::read_only);
  if (!ledger) return with_context(file.string(), std::move(ledger).error());
  return OpenedFile(std::move(unpacked), *std::move(ledger));
}

Expected<std::optional<ArchiveLink>> archive_before(const Ledger& ledger, const std::optional<ArchiveLink>& next) {
  SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(LedgerAccess::impl(ledger).database));
  if (!genesis) return std::nullopt;
  if (next && genesis->sequence >= next->sequence) {
    return fail(Errc::corrupt, next->name + ": it says that it begins after its own end; it was exchanged or changed");
  }
  return ArchiveLink{.name = genesis->archive,
                     .begin = genesis->begin,
                     .until = genesis->until,
                     .sequence = genesis->sequence,
                     .hash = to_hex(genesis->hash)};
}

std::string described(const ArchiveLink& link) {
  return link.name + " (" + format_instant(link.begin) + " to " + format_instant(link.until) + ", up to event " +
         std::to_string(link.sequence) + " with hash " + link.hash + ")";
}

std::optional<path> find_archive(const path& directory, const std::string& name) {
  std::error_code error;
  // It comes from a file that anybody may have made.
  if (path(name).filename() != path(name)) return std::nullopt;
  const path packed = directory / name;
  if (std::filesystem::is_regular_file(packed, error)) return packed;
  const path plain = directory / path(name).stem();
  if (std::filesystem::is_regular_file(plain, error)) return plain;
  return std::nullopt;
}

Expected<OpenedFile> open_archive(const Ledger& ledger, const ArchiveLink& link, const path& directory) {
  const auto there = find_archive(directory, link.name);
  if (!there) return fail(Errc::not_found, "the archive " + described(link) + " is not in " + directory.native());
  SHAPLEY_TRY_ASSIGN(OpenedFile opened, OpenedFile::open(*there));
  SHAPLEY_TRY_ASSIGN(const Genesis genesis, genesis_of(ledger));
  SHAPLEY_TRY_ASSIGN(std::string fault, identity_fault(ledger, opened.ledger()));
  if (fault.empty()) {
    SHAPLEY_TRY_ASSIGN(fault, end_fault(genesis, LedgerAccess::impl(opened.ledger()).database));
  }
  if (fault.empty()) return opened;
  return fail(Errc::corrupt, there->native() + ": " + fault + "; expected is " + described(link) +
                                 "; put a copy of that one in its place");
}

path archives_near(const path& file) {
  const path directory = directory_of(file);
  return directory.filename() == k_directory_of_archives ? directory : directory / k_directory_of_archives;
}

Expected<bool> audit_link(const Ledger& ledger, const Ledger& archive, AuditReport& report) {
  return compare(ledger, archive, report);
}

}  // namespace shapley::ledger
