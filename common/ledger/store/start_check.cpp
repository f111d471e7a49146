#include "ledger/store/start_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/mutex.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

constexpr std::uintmax_t k_pages_checked_up_to = 64U << 20U;  // a fraction of a second
constexpr std::int64_t k_events_checked = 1000;
// The views that the daemon itself uses.
constexpr std::array<std::string_view, 4> k_views_read{"events", "jobs", "segment_nodes", "segments"};

// SQLite's file format, section 4.1: big-endian words magic, version, page size, number, two salts, two sums.
constexpr std::size_t k_header_bytes = 32;
using LogHeader = std::array<unsigned char, k_header_bytes>;
constexpr std::uint32_t k_log_magic = 0x377f0682;  // the last bit: sums over big-endian words

std::uint32_t word(const LogHeader& header, std::size_t index, bool big_endian) {
  const unsigned char* b = &header.at(4 * index);
  const auto at = [b](std::size_t i) { return static_cast<std::uint32_t>(b[i]); };
  return big_endian ? at(0) << 24U | at(1) << 16U | at(2) << 8U | at(3)
                    : at(3) << 24U | at(2) << 16U | at(1) << 8U | at(0);
}

bool is_log_header(const LogHeader& header) {
  const std::uint32_t magic = word(header, 0, true);
  if ((magic & ~1U) != k_log_magic) return false;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t i = 0; i < 6; i += 2) {
    first += word(header, i, (magic & 1U) != 0) + second;
    second += word(header, i + 1, (magic & 1U) != 0) + first;
  }
  return first == word(header, 6, true) && second == word(header, 7, true);
}

std::string log_of(const std::filesystem::path& ledger) {
  return ledger.string() + "-wal";
}

// nullopt: there is no log, or not even a header of one.
std::optional<LogHeader> log_header(const std::filesystem::path& ledger) {
  auto in = InputFile::open(log_of(ledger));
  if (!in) return std::nullopt;
  LogHeader header{};
  in->read(reinterpret_cast<char*>(header.data()), header.size());
  if (in->gcount() < static_cast<std::streamsize>(header.size())) return std::nullopt;
  return header;
}

Expected<void> check_nothing_missing(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const Schema genuine, genuine_schema(newest_schema()));
  SHAPLEY_TRY_ASSIGN(const Schema found, schema_of(database));
  for (const SchemaObject& object : genuine) {
    // Other views are for auditors: the audit reports them.
    if (object.type == "view" && std::ranges::find(k_views_read, object.name) == k_views_read.end()) continue;
    if (!found.contains(object)) return fail(Errc::corrupt, fmt::format("{} {} is missing", object.type, object.name));
  }
  return {};
}

Expected<void> check_end_of_chain(const Database& database, const Head& head) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  const std::int64_t after = std::max(begin.sequence, head.sequence - k_events_checked);
  Digest previous = begin.hash;
  if (after > begin.sequence) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT hash FROM event_rows WHERE seq = ?1"));
    SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, after).step());
    if (!row) return fail(Errc::corrupt, fmt::format("event {} is missing", after));
    SHAPLEY_TRY_ASSIGN(previous, digest_from(select.blob(0)));
  }
  return check_chain(database, after, previous);
}

Expected<void> check_not_cut(const Database& database, const std::string& table, const Head& head) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t known, database.integer("SELECT COALESCE(MAX(sequence), 0) FROM " + table));
  if (known <= head.sequence) return {};
  return fail(Errc::corrupt, fmt::format("its events end at {}, but its {} know event {}: events were lost",
                                         head.sequence, table, known));
}

}  // namespace

bool has_sound_log(const std::filesystem::path& ledger) {
  const auto header = log_header(ledger);
  return header && is_log_header(*header);
}

Expected<void> check_log_header(const std::filesystem::path& ledger) {
  const std::string log = log_of(ledger);
  const auto header = log_header(ledger);
  const bool begun = header && std::ranges::any_of(*header, [](unsigned char byte) { return byte != 0; });
  if (!begun || is_log_header(*header)) return {};
  return fail(Errc::corrupt, fmt::format("its write-ahead log {} has a damaged header, so acknowledged events in it "
                                         "cannot be read; to go on without them move the log away",
                                         log));
}

Expected<void> check_pages(const Database& database, const std::filesystem::path& ledger) {
  std::error_code error;
  if (std::filesystem::file_size(ledger, error) > k_pages_checked_up_to || error) return {};
  // Compares each index with its table, too: a row that an index lacks is not found by it.
  SHAPLEY_TRY_ASSIGN(Statement check, database.prepare("PRAGMA integrity_check(1)"));
  SHAPLEY_TRY_ASSIGN(const bool answered, check.step());
  if (answered && check.text(0) == "ok") return {};
  return fail(Errc::corrupt, "a page is damaged: " + std::string(answered ? check.text(0) : "no answer"));
}

Expected<void> check_content(const Database& database) {
  SHAPLEY_TRY(check_nothing_missing(database));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  SHAPLEY_TRY(check_end_of_chain(database, head));
  SHAPLEY_TRY(check_not_cut(database, "checkpoints", head));
  return check_not_cut(database, "heads", head);
}

const SchemaObject* find_object(const Schema& schema, std::string_view type, std::string_view name) {
  const auto found = std::find_if(schema.begin(), schema.end(), [=](const SchemaObject& object) {
    return object.type == type && object.name == name;
  });
  return found == schema.end() ? nullptr : &*found;
}

Expected<Schema> schema_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_master"));
  Schema schema;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return schema;
    schema.insert({.type = std::string(select.text(0)),
                   .name = std::string(select.text(1)),
                   .table = std::string(select.text(2)),
                   .sql = std::string(select.text(3))});
  }
}

// Cached, because every opened file is compared with it, and making it takes longer than the rest of opening a file.
Expected<Schema> genuine_schema(std::int64_t version) {
  static Mutex mutex;
  static std::map<std::int64_t, Schema> made SHAPLEY_GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  if (const auto known = made.find(version); known != made.end()) return known->second;
  SHAPLEY_TRY_ASSIGN(const Database scratch, Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  SHAPLEY_TRY(migrate(scratch, version));
  SHAPLEY_TRY_ASSIGN(Schema schema, schema_of(scratch));
  return made.emplace(version, std::move(schema)).first->second;
}

Expected<void> check_nothing_foreign(const Database& database, std::int64_t version) {
  SHAPLEY_TRY_ASSIGN(const Schema genuine, genuine_schema(version));
  SHAPLEY_TRY_ASSIGN(const Schema found, schema_of(database));
  for (const SchemaObject& object : found) {
    if (genuine.contains(object)) continue;
    const bool ours =
        std::any_of(genuine.begin(), genuine.end(), [&](const SchemaObject& o) { return o.name == object.name; });
    return fail(Errc::corrupt,
                fmt::format("{} {}{}; nothing of the file was read, since what is not the program's may stand for "
                            "anything; the way out is {}shapleyctl restore BACKUP",
                            object.type, object.name, ours ? " is not as the program makes it" : " was added by hand",
                            ours ? "" : "to drop it (with sqlite3), or "));
  }
  return {};
}

}  // namespace shapley::ledger
