#include "ledger/archive/links.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>

#include "accounting/estimators/table.hpp"
#include "base/calendar.hpp"
#include "base/files.hpp"
#include "ledger/archive/part.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"

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
  const auto books = books_at_cut(archive, nullptr, genesis.sequence, genesis.memory_horizon);
  if (!books) {
    if (books.error().code != Errc::corrupt) return tl::unexpected<Error>(books.error());
    find(report, "its events lead to no books: " + books.error().what);
    return {};
  }
  // Read and written again, since another release may have written it.
  const auto opening = accounting::State::load(genesis.books);
  for (const accounting::FormerEstimator& former : accounting::former_estimators()) {
    if (genesis.books.find(fmt::format("\nestimator {}\n", former.name)) == std::string::npos) continue;
    report.leave_unchecked(fmt::format("the books that the next file begins with: figures by {}", former.name));
  }
  if (opening && opening->save() == books->text) return {};
  find(report, "its events lead to other books than those that the next file begins with");
  return {};
}

// Why `archive` is not of this ledger; "" if it is.
Expected<std::string> identity_fault(const Ledger& ledger, const Ledger& archive) {
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger.identity());
  SHAPLEY_TRY_ASSIGN(const std::string theirs, archive.identity());
  return identity == theirs ? "" : fmt::format("it is of another ledger: {}, not {}", theirs, identity);
}

// Why the archive does not end where the next file continues; "" if it does.
Expected<std::string> end_fault(const Genesis& genesis, const Database& archive) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(archive));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(archive));
  if (head.sequence == genesis.sequence && head.hash == genesis.hash &&
      head.sequence - begin.sequence == genesis.events) {
    return "";
  }
  return fmt::format(
      "it has events {} to {}, the last one with hash {}; the next file goes on after events {} to {}, the last one "
      "with hash {}: it was exchanged or changed",
      begin.sequence + 1, head.sequence, to_hex(head.hash), genesis.sequence - genesis.events + 1, genesis.sequence,
      to_hex(genesis.hash));
}

Expected<Genesis> genesis_of(const Ledger& ledger) {
  SHAPLEY_TRY_ASSIGN(auto genesis, read_genesis(ledger.rows().database()));
  if (!genesis) return fail(Errc::invalid_argument, "the ledger has no archive");
  return *std::move(genesis);
}

Expected<bool> compare(const Ledger& ledger, const Ledger& archive, AuditReport& report) {
  const Database& after = ledger.rows().database();
  const Database& before = archive.rows().database();
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

// An archive is never changed: a later release migrates its own copy.
Expected<void> migrate_copy(const path& plain) {
  SHAPLEY_TRY(open_alone(plain));
  SHAPLEY_TRY_ASSIGN(const Database database, Database::open(plain.string(), SQLITE_OPEN_READWRITE));
  return migrate(database);
}

// /tmp may be in memory, and a month of a large cluster is large.
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
  SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(ledger.rows().database()));
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
  return fmt::format("{} ({} to {}, up to event {} with hash {})", link.name, format_instant(link.begin),
                     format_instant(link.until), link.sequence, link.hash);
}

std::optional<path> find_archive(const path& directory, const std::string& name) {
  std::error_code error;
  // The name is from a file that any user may have made.
  if (path(name).filename() != path(name)) return std::nullopt;
  const path packed = directory / name;
  if (std::filesystem::is_regular_file(packed, error)) return packed;
  const path plain = directory / path(name).stem();
  if (std::filesystem::is_regular_file(plain, error)) return plain;
  return std::nullopt;
}

Expected<OpenedFile> open_archive(const Ledger& ledger, const ArchiveLink& link, const path& directory) {
  const auto there = find_archive(directory, link.name);
  if (!there)
    return fail(Errc::not_found, fmt::format("the archive {} is not in {}", described(link), directory.native()));
  SHAPLEY_TRY_ASSIGN(OpenedFile opened, OpenedFile::open(*there));
  SHAPLEY_TRY_ASSIGN(const Genesis genesis, genesis_of(ledger));
  SHAPLEY_TRY_ASSIGN(std::string fault, identity_fault(ledger, opened.ledger()));
  if (fault.empty()) {
    SHAPLEY_TRY_ASSIGN(fault, end_fault(genesis, opened.ledger().rows().database()));
  }
  if (fault.empty()) return opened;
  return fail(Errc::corrupt, fmt::format("{}: {}; expected is {}; put a copy of that one in its place", there->native(),
                                         fault, described(link)));
}

path archives_near(const path& file) {
  const path directory = directory_of(file);
  return directory.filename() == k_directory_of_archives ? directory : directory / k_directory_of_archives;
}

Expected<bool> audit_link(const Ledger& ledger, const Ledger& archive, AuditReport& report) {
  return compare(ledger, archive, report);
}

namespace {

using std::filesystem::path;

constexpr std::size_t k_buffer = 1U << 16U;
constexpr std::string_view k_database_begins(
    "\xFD"
    "7zXZ\0",
    6);
// More threads would use more memory, 94 MB each, for little gain.
constexpr std::uint32_t k_most_threads = 4;
constexpr std::uint32_t k_level = LZMA_PRESET_DEFAULT;
// Bounds the size of unpacked foreign files: a small file must not fill a disk.
constexpr std::uintmax_t k_most_expansion = 1000;

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { lzma_end(&stream_); }
  lzma_stream& get() { return stream_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

// A file that is being written.
class Output {
 public:
  static Expected<Output> create(const path& file, unsigned mode) {
    SHAPLEY_TRY_ASSIGN(Descriptor out, create_file(file, mode));
    return Output(file, std::move(out));
  }

  Expected<void> write(const std::uint8_t* bytes, std::size_t count) {
    SHAPLEY_TRY(write_all(out_, {reinterpret_cast<const char*>(bytes), count}, file_));
    written_ += count;
    return {};
  }
  [[nodiscard]] std::uintmax_t written() const { return written_; }

 private:
  Output(path file, Descriptor out) : file_(std::move(file)), out_(std::move(out)) {}
  path file_;
  Descriptor out_;
  std::uintmax_t written_ = 0;
};

tl::unexpected<Error> cannot_read(const path& file) {
  return fail(Errc::io, file.string() + ": cannot be read; check path and permissions");
}

std::string words_of(lzma_ret result) {
  switch (result) {
    case LZMA_FORMAT_ERROR:
      return "it is no xz file";
    case LZMA_BUF_ERROR:
      return "it was cut short";
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
      return "it was made by a newer xz";
    default:
      return "its content is damaged";
  }
}

tl::unexpected<Error> lzma_failure(const path& file, lzma_ret result) {
  if (result == LZMA_MEM_ERROR) return fail(Errc::limit, file.string() + ": there is not enough memory");
  return fail(Errc::corrupt, fmt::format("{}: {}", file.string(), words_of(result)));
}

struct Pump {
  path from;
  std::string_view what;       // for progress
  std::uintmax_t most_output;  // bytes; more is Errc::corrupt
};

// Runs all of the input through the stream.
Expected<void> pump(lzma_stream& stream, const Pump& job, Output& out, const OnProgress& on_progress) {
  std::error_code error;
  const auto all = static_cast<std::int64_t>(std::filesystem::file_size(job.from, error));
  SHAPLEY_TRY_ASSIGN(InputFile in, InputFile::open(job.from));
  std::vector<std::uint8_t> input(k_buffer);
  std::vector<std::uint8_t> output(k_buffer);
  lzma_ret result = LZMA_OK;
  lzma_action action = LZMA_RUN;
  for (std::int64_t read = 0; result != LZMA_STREAM_END;) {
    if (stream.avail_in == 0 && action == LZMA_RUN) {
      in.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size()));
      if (in.bad()) return cannot_read(job.from);
      stream.next_in = input.data();
      stream.avail_in = static_cast<std::size_t>(in.gcount());
      read += in.gcount();
      if (in.eof()) action = LZMA_FINISH;
      report_progress(on_progress, {job.what, read, error ? 0 : all});
    }
    stream.next_out = output.data();
    stream.avail_out = output.size();
    result = lzma_code(&stream, action);
    if (result != LZMA_OK && result != LZMA_STREAM_END) return lzma_failure(job.from, result);
    SHAPLEY_TRY(out.write(output.data(), output.size() - stream.avail_out));
    if (out.written() > job.most_output) return fail(Errc::corrupt, job.from.string() + ": it unpacks to too much");
  }
  if (stream.avail_in == 0 && in.peek() == InputFile::traits_type::eof()) return {};
  return fail(Errc::corrupt, job.from.string() + ": something follows its end");
}

}  // namespace

bool is_packed(const path& file) {
  auto in = InputFile::open(file);
  std::array<char, k_database_begins.size()> first{};
  if (in) in->read(first.data(), first.size());
  return in && in->gcount() == static_cast<std::streamsize>(first.size()) &&
         std::string_view(first.data(), first.size()) == k_database_begins;
}

Expected<void> pack(const path& from, const path& to, const OnProgress& on_progress) {
  Stream stream;
  lzma_mt options{};
  options.threads = std::clamp<std::uint32_t>(lzma_cputhreads(), 1, k_most_threads);
  options.preset = k_level;
  options.check = LZMA_CHECK_SHA256;
  if (const lzma_ret begun = lzma_stream_encoder_mt(&stream.get(), &options); begun != LZMA_OK) {
    return lzma_failure(to, begun);
  }
  SHAPLEY_TRY_ASSIGN(Output out, Output::create(to, 0440));
  SHAPLEY_TRY(
      pump(stream.get(), {.from = from, .what = "bytes compressed", .most_output = UINTMAX_MAX}, out, on_progress));
  return sync_file(to);
}

Expected<void> unpack(const path& from, const path& to, const OnProgress& on_progress) {
  std::error_code error;
  const std::uintmax_t packed = std::filesystem::file_size(from, error);
  if (error) return fail(Errc::not_found, fmt::format("{}: {}", from.string(), error.message()));
  Stream stream;
  if (const lzma_ret begun = lzma_stream_decoder(&stream.get(), UINT64_MAX, 0); begun != LZMA_OK) {
    return lzma_failure(from, begun);
  }
  SHAPLEY_TRY_ASSIGN(Output out, Output::create(to, k_live_file_mode));
  return pump(stream.get(), {.from = from, .what = "bytes unpacked", .most_output = packed * k_most_expansion}, out,
              on_progress);
}

Expected<void> compare_bytes(const path& a, const path& b) {
  SHAPLEY_TRY_ASSIGN(InputFile left, InputFile::open(a));
  SHAPLEY_TRY_ASSIGN(InputFile right, InputFile::open(b));
  std::vector<char> ours(k_buffer);
  std::vector<char> theirs(k_buffer);
  while (true) {
    left.read(ours.data(), static_cast<std::streamsize>(ours.size()));
    right.read(theirs.data(), static_cast<std::streamsize>(theirs.size()));
    const auto count = static_cast<std::size_t>(left.gcount());
    if (left.gcount() != right.gcount() || !std::equal(ours.data(), ours.data() + count, theirs.data())) {
      return fail(Errc::corrupt, b.string() + ": it does not read back as it was written; check the disk");
    }
    if (count == 0) return {};
  }
}

}  // namespace shapley::ledger
