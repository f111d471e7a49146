#include "ledger/store/ledger.hpp"

#include <cstdlib>
#include <limits>
#include <utility>

#include "base/contract.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;

// Appends one event to the open transaction; a refused event is only counted.
Expected<void> append_one(AppendRows& rows, const Event& event, Instant received, AppendResult& result) {
  SHAPLEY_TRY(well_formed(event));
  const std::string key = accounting::event_key(event);
  const std::string payload = encode(event);
  const EventRow row{.sequence = rows.head().sequence + 1,
                     .key = key,
                     .at = time_of(event).value,
                     .received = received.value,
                     .kind = kind_of(event),
                     .payload = payload};
  SHAPLEY_TRY_ASSIGN(const bool contradiction, rows.projector().contradicts(event));
  if (contradiction) {
    result.conflicts.push_back(key);
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const auto known, rows.store().find(event));
  if (known) {
    SHAPLEY_TRY_ASSIGN(const std::string recorded, rows.store().payload_of(*known));
    if (recorded == payload) {
      ++result.duplicates;
    } else {
      result.conflicts.push_back(key);
    }
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const bool archived, rows.is_archived(event));
  if (archived) {
    result.archived.push_back(key);
    return {};
  }
  SHAPLEY_TRY(rows.add(event, row));
  result.accepted.push_back(event);
  ++result.appended;
  return {};
}

}  // namespace

struct Ledger::Impl {
  // The lock outlives the connection: members are destroyed in reverse, and the last act of a connection writes.
  std::optional<WriterLock> lock;
  ReadRows rows;
  std::optional<AppendRows> writer;
  std::shared_ptr<Mutex> turns;  // held while writing: Ledger::turns
  std::optional<NamedFiles> names = std::nullopt;
};

Expected<Ledger> Ledger::open(const std::filesystem::path& file, OpenMode mode, const OnProgress& on_progress) {
  const auto failed = [&](Error error) { return with_context("ledger: open: " + file.string(), std::move(error)); };
  std::optional<WriterLock> lock;
  if (mode == OpenMode::create_or_write) {
    auto acquired = WriterLock::acquire(file);
    if (!acquired) return failed(std::move(acquired).error());
    lock = std::move(*acquired);
  }
  auto database = mode == OpenMode::create_or_write      ? open_for_writing(file, on_progress)
                  : mode == OpenMode::read_beside_writer ? open_beside_writer(file)
                                                         : open_for_reading(file);
  if (!database) return failed(std::move(database).error());
  auto impl = std::make_unique<Impl>(
      Impl{std::move(lock), ReadRows(file, std::move(*database)), std::nullopt, std::make_shared<Mutex>()});
  if (impl->lock) {
    auto writer = AppendRows::create(impl->rows.database(), impl->turns);
    if (!writer) return failed(std::move(writer).error());
    impl->writer = std::move(*writer);
    impl->names.emplace(file);
  }
  return Ledger(std::move(impl));
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

const ReadRows& Ledger::rows() const {
  return impl_->rows;
}

Expected<AppendRows*> Ledger::to_append() {
  if (!impl_->writer) return fail(Errc::denied, "it was opened for reading only");
  return &*impl_->writer;
}

Expected<AppendResult> Ledger::append(std::span<const Event> events, Instant received) {
  return rows().run("append", [&](const Database&) -> Expected<AppendResult> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, to_append());
    return writer->in_transaction([&]() -> Expected<AppendResult> {
      AppendResult result;
      for (const Event& event : events) SHAPLEY_TRY(append_one(*writer, event, received, result));
      return result;
    });
  });
}

Expected<bool> Ledger::is_archived(const Event& event) {
  SHAPLEY_TRY_ASSIGN(AppendRows * writer, to_append());
  return writer->is_archived(event);
}

Expected<std::optional<Instant>> Ledger::archived_before() const {
  return ledger::archived_before(rows().database());
}

Expected<void> Ledger::for_each_event(std::int64_t after,
                                      const std::function<Expected<void>(const StoredEvent&)>& visit) const {
  return rows().run("read", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    return reader.visit(after, std::numeric_limits<std::int64_t>::max(), visit);
  });
}

std::int64_t Ledger::last_sequence() const {
  if (impl_->writer) return impl_->writer->head().sequence;
  // A reader looks again: the file may have grown. What cannot be read holds no events.
  return rows()
      .database()
      .integer(
          "SELECT MAX(COALESCE((SELECT MAX(seq) FROM event_rows), 0), "
          "COALESCE((SELECT sequence FROM genesis), 0))")
      .value_or(0);
}

Expected<void> Ledger::check_names() const {
  return impl_->names ? impl_->names->check() : Expected<void>{};
}

std::shared_ptr<Mutex> Ledger::turns() const {
  return impl_->turns;
}

namespace {

// The texts that `sql` selects; Errc::corrupt: another value is among them.
Expected<std::vector<std::string>> texts_of(const Database& database, std::string_view sql) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
  std::vector<std::string> texts;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return texts;
    if (!take_column(select, 0, texts.emplace_back())) return fail(Errc::corrupt, "a row is damaged");
  }
}

}  // namespace

Expected<std::string> Ledger::identity() const {
  return rows().run("read identity", [](const Database& database) -> Expected<std::string> {
    SHAPLEY_TRY_ASSIGN(auto found, texts_of(database, "SELECT ledger FROM identity"));
    if (found.size() != 1) return fail(Errc::corrupt, "it has no identity, or several");
    return std::move(found.front());
  });
}

Expected<void> Ledger::store_head(const SignedHead& head) {
  return rows().run("store head", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(AppendRows * writer, to_append());
    return writer->in_transaction([&]() -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO heads(sequence, at, text) VALUES (?1, ?2, ?3) "
                                                            "ON CONFLICT(sequence) DO NOTHING"));
      const std::string text = head.text();
      return insert.bind(1, head.sequence).bind(2, head.time.value).bind(3, text).run();
    });
  });
}

Expected<SignedHead> sign_head(const Ledger& ledger, const SigningKey& key, Instant now) {
  return ledger.rows().run("sign head", [&](const Database& database) -> Expected<SignedHead> {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head last, read_head(database));
    SignedHead head;
    head.sequence = last.sequence;
    head.hash = to_hex(last.hash);
    head.time = now;
    SHAPLEY_TRY_ASSIGN(head.ledger, ledger.identity());
    head.key = key.public_key().fingerprint();
    SHAPLEY_TRY_ASSIGN(head.signature, key.sign(head.signed_text()));
    return head;
  });
}

Expected<std::optional<SignedHead>> newest_stored_head(const Ledger& ledger) {
  return ledger.rows().run(
      "read the newest signed head", [](const Database& database) -> Expected<std::optional<SignedHead>> {
        SHAPLEY_TRY_ASSIGN(const auto found,
                           texts_of(database, "SELECT text FROM heads ORDER BY sequence DESC LIMIT 1"));
        if (found.empty()) return std::nullopt;
        SHAPLEY_TRY_ASSIGN(SignedHead head, parse_head(found.front()));
        return head;
      });
}

Expected<AppendRows> AppendRows::create(const Database& database, std::shared_ptr<Mutex> turns) {
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(EventStore store, EventStore::create(database));
  SHAPLEY_TRY_ASSIGN(const auto before, ledger::archived_before(database));
  return AppendRows(database, std::move(turns), std::move(hasher), std::move(store), head, before);
}

Expected<Digest> AppendRows::add(const Event& event, const EventRow& row) {
  SHAPLEY_REQUIRE(row.sequence == head_.sequence + 1);
  SHAPLEY_TRY_ASSIGN(const Digest hash, hasher_.link(head_.hash, row));
  SHAPLEY_TRY(store_.insert(event, row, hash));
  SHAPLEY_TRY(projector_.project(event, row.sequence));
  head_ = {.sequence = row.sequence, .hash = hash};
  return hash;
}

Expected<bool> AppendRows::is_archived(const Event& event) {
  if (!archived_before_) return false;
  return projector_.reaches_before(event, *archived_before_);
}

}  // namespace shapley::ledger
