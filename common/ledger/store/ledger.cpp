#include "ledger/store/ledger.hpp"

#include <limits>
#include <utility>

#include "ledger/chain/signed_head.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"
#include "ledger/store/query.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;

// Appends one event to the open transaction and moves `head` on; duplicates and conflicts only count.
Expected<void> append_one(Writer& writer, const Event& event, Instant received, Head& head, AppendResult& result) {
  SHAPLEY_TRY(well_formed(event));
  const std::string key = accounting::event_key(event);
  const std::string payload = encode(event);
  const EventRow row{.sequence = head.sequence + 1,
                     .key = key,
                     .at = time_of(event).value,
                     .received = received.value,
                     .kind = kind_of(event),
                     .payload = payload};
  SHAPLEY_TRY_ASSIGN(const bool contradiction, writer.projector.contradicts(event));
  if (contradiction) {
    result.conflicts.push_back(key);
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const auto known, writer.store.find(event));
  if (known) {
    SHAPLEY_TRY_ASSIGN(const std::string recorded, writer.store.payload_of(*known));
    if (recorded == payload) {
      ++result.duplicates;
    } else {
      result.conflicts.push_back(key);
    }
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const Digest hash, writer.hasher.link(head.hash, row));
  SHAPLEY_TRY(writer.store.insert(event, row, hash));
  head = {.sequence = row.sequence, .hash = hash};
  result.accepted.push_back(event);
  ++result.appended;
  return writer.projector.project(event, row.sequence);
}

Expected<AppendResult> append_all(const Database& database, Writer& writer, std::span<const Event> events,
                                  Instant received) {
  AppendResult result;
  Head head = writer.head;
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  for (const Event& event : events) SHAPLEY_TRY(append_one(writer, event, received, head, result));
  SHAPLEY_TRY(transaction.commit());
  writer.head = head;
  return result;
}

Expected<Writer> make_writer(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Head head, read_head(database));
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(EventStore store, EventStore::create(database));
  return Writer{
      .hasher = std::move(hasher), .projector = Projector(database, "main"), .store = std::move(store), .head = head};
}

}  // namespace

Expected<Head> read_head(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row) return Head{};
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(1)));
  return Head{.sequence = select.integer(0), .hash = hash};
}

tl::unexpected<Error> Ledger::Impl::failed(std::string_view operation, Error error) const {
  return with_context("ledger: " + std::string(operation) + ": " + file.string(), std::move(error));
}

Expected<Writer*> Ledger::Impl::to_write() {
  if (!writer) return fail(Errc::denied, "it was opened for reading only");
  return &*writer;
}

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
      Impl{file, std::move(lock), std::move(*database), std::nullopt, std::make_shared<std::mutex>()});
  if (impl->lock) {
    auto writer = make_writer(impl->database);
    if (!writer) return failed(std::move(writer).error());
    impl->writer = std::move(*writer);
  }
  return Ledger(std::move(impl));
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Expected<AppendResult> Ledger::append(std::span<const Event> events, Instant received) {
  auto result = [&]() -> Expected<AppendResult> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    const std::scoped_lock turn(*impl_->turns);
    auto appended = append_all(impl_->database, *writer, events, received);
    if (!appended) writer->store.rolled_back();
    return appended;
  }();
  if (!result) return impl_->failed("append", std::move(result).error());
  return result;
}

Expected<void> Ledger::for_each_event(std::int64_t after,
                                      const std::function<Expected<void>(const StoredEvent&)>& visit) const {
  auto done = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(impl_->database));
    return reader.visit(after, std::numeric_limits<std::int64_t>::max(), visit);
  }();
  if (!done) return impl_->failed("read", std::move(done).error());
  return {};
}

std::int64_t Ledger::last_sequence() const {
  if (impl_->writer) return impl_->writer->head.sequence;
  // A reader looks again: the file may have grown. What cannot be read holds no events.
  return impl_->database.integer("SELECT COALESCE(MAX(seq), 0) FROM event_rows").value_or(0);
}

std::shared_ptr<std::mutex> Ledger::turns() const {
  return impl_->turns;
}

Expected<std::string> Ledger::identity() const {
  SHAPLEY_TRY_ASSIGN(const auto rows, query(*this, "SELECT ledger FROM identity"));
  if (rows.size() != 1) return impl_->failed("read identity", {Errc::corrupt, "it has no identity, or several"});
  return rows[0][0];
}

Expected<void> Ledger::store_head(const SignedHead& head) {
  auto stored = [&]() -> Expected<void> {
    SHAPLEY_TRY(impl_->to_write());
    const std::scoped_lock turn(*impl_->turns);
    SHAPLEY_TRY_ASSIGN(Statement insert,
                       impl_->database.prepare("INSERT INTO heads(sequence, at, text) VALUES (?1, ?2, ?3) "
                                               "ON CONFLICT(sequence) DO NOTHING"));
    const std::string text = head.text();
    return insert.bind(1, head.sequence).bind(2, head.time.value).bind(3, text).run();
  }();
  if (!stored) return impl_->failed("store head", std::move(stored).error());
  return {};
}

}  // namespace shapley::ledger
