#include "ledger/replication/chain_copy.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/encoding/event_store.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/acknowledged.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace fs = std::filesystem;

namespace {

using accounting::Event;

Expected<std::vector<ChainRow>> read_rows(const Database& database, std::int64_t after, ChainLimits limits) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY_ASSIGN(Statement hashes, database.prepare("SELECT hash FROM event_rows WHERE seq > ?1 ORDER BY seq"));
  hashes.bind(1, after);
  std::vector<ChainRow> rows;
  std::size_t bytes = 0;
  bool full = false;
  const auto add = [&](const StoredEvent& stored) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(const bool there, hashes.step());
    if (!there) return fail(Errc::corrupt, fmt::format("event {} has no hash", stored.sequence));
    SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(hashes.blob(0)));
    rows.push_back({.sequence = stored.sequence,
                    .received = stored.received,
                    .kind = std::string(kind_of(stored.event)),
                    .payload = encode(stored.event),
                    .hash = hash});
    bytes += rows.back().payload.size();
    full = bytes >= limits.bytes;
    // Ends the walk; the error does not leave this function.
    return full ? fail(Errc::limit, "enough") : Expected<void>{};
  };
  auto read = reader.visit(after, after + limits.rows, add);
  if (!read && !full) return tl::unexpected<Error>(std::move(read).error());
  return rows;
}

Expected<ChainPart> read_part(const Database& database, const Position& position, ChainLimits limits) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  SHAPLEY_TRY_ASSIGN(const auto hash, hash_of_event(database, position.sequence));
  ChainPart part{.head = head, .holds = hash == position.hash, .rows = {}};
  if (!part.holds) return part;
  SHAPLEY_TRY_ASSIGN(part.rows, read_rows(database, position.sequence, limits));
  return part;
}

// Appends one row to the open transaction.
Expected<Event> append_row(AppendRows& writer, const ChainRow& row) {
  const auto wrong = [&](Errc code, const std::string& what) {
    return fail(code, fmt::format("event {}: {}", row.sequence, what));
  };
  const std::int64_t last = writer.head().sequence;
  if (row.sequence != last + 1) {
    return wrong(Errc::conflict, "does not follow the ledger's last event, " + std::to_string(last));
  }
  auto decoded = decode(row.kind, row.payload);
  if (!decoded) return wrong(Errc::corrupt, decoded.error().what);
  const std::string key = accounting::event_key(*decoded);
  const EventRow content{.sequence = row.sequence,
                         .key = key,
                         .at = time_of(*decoded).value,
                         .received = row.received.value,
                         .kind = row.kind,
                         .payload = row.payload};
  if (const std::string fault = row_fault(content, *decoded); !fault.empty()) return wrong(Errc::corrupt, fault);
  SHAPLEY_TRY_ASSIGN(const bool contradiction, writer.projector().contradicts(*decoded));
  SHAPLEY_TRY_ASSIGN(const auto known, writer.store().find(*decoded));
  if (contradiction || known) return wrong(Errc::corrupt, key + " is in the chain before");
  SHAPLEY_TRY_ASSIGN(const Digest hash, writer.add(*decoded, content));
  if (hash != row.hash) return wrong(Errc::corrupt, "its hash does not follow from the row before it and its content");
  return decoded;
}

// The last event that two chains have in common; a chain has all events that it archived.
Expected<std::int64_t> last_in_common(const Ledger& one, const Ledger& other) {
  std::int64_t common = 0;
  std::int64_t parted = std::min(one.last_sequence(), other.last_sequence()) + 1;
  while (parted - common > 1) {
    const std::int64_t middle = common + (parted - common) / 2;
    SHAPLEY_TRY_ASSIGN(const auto hash, hash_at(one, middle));
    SHAPLEY_TRY_ASSIGN(const auto other_hash, hash_at(other, middle));
    (hash && other_hash && *hash != *other_hash ? parted : common) = middle;
  }
  return common;
}

Expected<Parted> compare(const Ledger& aside, const Ledger& present) {
  Parted parted;
  SHAPLEY_TRY_ASSIGN(parted.common, last_in_common(aside, present));
  SHAPLEY_TRY_ASSIGN(EventStore store, EventStore::create(present.rows().database()));
  SHAPLEY_TRY(aside.for_each_event(parted.common, [&](const StoredEvent& stored) -> Expected<void> {
    if (std::holds_alternative<accounting::ControllerBegan>(stored.event)) return {};
    ++parted.events;
    SHAPLEY_TRY_ASSIGN(const auto known, store.find(stored.event));
    if (!known) {
      ++parted.absent;
      return {};
    }
    SHAPLEY_TRY_ASSIGN(const std::string recorded, store.payload_of(*known));
    if (recorded != encode(stored.event)) ++parted.different;
    return {};
  }));
  return parted;
}

Expected<fs::path> rename_ledger(const fs::path& ledger, const fs::path& aside) {
  // Opening and closing it moves the content of its log into the file, so that only one file has to be renamed.
  SHAPLEY_TRY(Ledger::open(ledger, OpenMode::create_or_write));
  SHAPLEY_TRY_ASSIGN(const WriterLock lock, WriterLock::acquire(ledger));
  std::error_code error;
  if (fs::exists(ledger.string() + "-wal", error)) {
    return fail(Errc::conflict, "a process reads it; it is renamed when no process does");
  }
  if (fs::exists(aside, error)) return fail(Errc::conflict, aside.string() + " is there already");
  // It is of the ledger that is set aside. Without it nothing can be missing in the one that begins.
  fs::remove(acknowledged_file(ledger), error);
  SHAPLEY_TRY(rename_file(ledger, aside));
  return aside;
}

}  // namespace

Expected<Position> head_of(const Ledger& ledger) {
  return ledger.rows().run("read the last event", read_head);
}

Expected<std::optional<Digest>> hash_at(const Ledger& ledger, std::int64_t sequence) {
  return ledger.rows().run("read a hash", hash_of_event, sequence);
}

Expected<ChainPart> chain_after(const Ledger& ledger, const Position& position, ChainLimits limits,
                                QueryBudget budget) {
  return ledger.rows().run("read the chain", [&](const Database& database) {
    const StepLimit limit(database, budget.steps, budget.ended);
    return read_part(database, position, limits);
  });
}

Expected<std::vector<Event>> append_copied(Ledger& ledger, std::span<const ChainRow> rows) {
  return ledger.rows().run("append copied events", [&](const Database&) -> Expected<std::vector<Event>> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, ledger.to_append());
    return writer->in_transaction([&]() -> Expected<std::vector<Event>> {
      std::vector<Event> events;
      for (const ChainRow& row : rows) {
        SHAPLEY_TRY_ASSIGN(Event event, append_row(*writer, row));
        events.push_back(std::move(event));
      }
      return events;
    });
  });
}

Expected<void> adopt_identity(Ledger& ledger, const std::string& identity) {
  constexpr std::size_t k_digits = 32;
  return ledger.rows().run("take over the identity", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, ledger.to_append());
    if (writer->head().sequence != 0) return fail(Errc::conflict, "it has events, so it keeps its own");
    if (!is_hex(identity, k_digits)) {
      return fail(Errc::invalid_argument, fmt::format("'{}' is no identity of a ledger", identity));
    }
    return writer->in_transaction([&]() -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(Statement update, database.prepare("UPDATE identity SET ledger = ?1"));
      return update.bind(1, identity).run();
    });
  });
}

Expected<Parted> compare_parted(const Ledger& aside, const Ledger& present) {
  auto parted = compare(aside, present);
  if (parted) return parted;
  return present.rows().failed("compare with " + aside.rows().file().string(), parted.error());
}

Expected<fs::path> set_aside(const fs::path& ledger, Instant now) {
  auto renamed = rename_ledger(ledger, fmt::format("{}.superseded-{}", ledger.string(), stamp_of(now)));
  if (!renamed) return with_context("ledger: set aside: " + ledger.string(), std::move(renamed).error());
  return renamed;
}

}  // namespace shapley::ledger
