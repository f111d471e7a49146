// The part of Ledger that meets State: checkpoints, recovery, and the projection that needs it.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/calendar.hpp"
#include "ledger/projections/standings.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

constexpr std::int64_t k_checkpoints_kept = 3;

// The hash of the event row `sequence`; zeros for 0, nullopt when there is no such row.
Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence) {
  if (sequence == 0) return Digest{};
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT hash FROM event_rows WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, sequence).step());
  if (!row) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const Digest hash, digest_from(select.blob(0)));
  return hash;
}

// The books of one checkpoint row (sequence, at, text, sha), unless it does not fit the events or cannot be read.
Expected<std::optional<Recovered>> books_of(const Database& database, const Statement& row,
                                            accounting::StateOptions options) {
  const std::int64_t sequence = row.integer(0);
  SHAPLEY_TRY_ASSIGN(const auto event_hash, hash_of_event(database, sequence));
  if (!event_hash) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(const Digest expected, hasher.checkpoint(*event_hash, row.integer(1), row.text(2)));
  if (!std::ranges::equal(expected, row.blob(3))) return std::nullopt;
  auto state = accounting::State::load(row.text(2), options);
  if (!state) return std::nullopt;
  return Recovered{.state = *std::move(state), .last_sequence = sequence};
}

// The newest checkpoint that can be used, else empty books.
Expected<Recovered> newest_checkpoint(const Database& database, accounting::StateOptions options) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT sequence, at, text, sha FROM checkpoints ORDER BY sequence DESC"));
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return Recovered{.state = accounting::State(options)};
    SHAPLEY_TRY_ASSIGN(auto books, books_of(database, select, options));
    if (books) return *std::move(books);
  }
}

Expected<Recovered> recover_from(const Database& database, accounting::StateOptions options, bool from_scratch) {
  // All reading from one snapshot, however long it takes, while shapleyd writes on.
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  if (from_scratch) return replay_by_time(database, head.sequence, options);
  SHAPLEY_TRY_ASSIGN(Recovered checkpoint, newest_checkpoint(database, options));
  Replay replay(database, options, std::move(checkpoint));
  SHAPLEY_TRY(replay.advance_to(head.sequence));
  return std::move(replay.books());
}

Expected<void> store_checkpoint(const Database& database, Writer& writer, const accounting::State& state,
                                std::int64_t sequence, Instant at) {
  SHAPLEY_TRY_ASSIGN(const auto event_hash, hash_of_event(database, sequence));
  if (!event_hash) return fail(Errc::invalid_argument, "there is no event " + std::to_string(sequence));
  const std::string text = state.save();
  SHAPLEY_TRY_ASSIGN(const Digest sha, writer.hasher.checkpoint(*event_hash, at.value, text));
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  SHAPLEY_TRY_ASSIGN(
      Statement insert,
      database.prepare("INSERT OR REPLACE INTO checkpoints(sequence, at, text, sha) VALUES (?1, ?2, ?3, ?4)"));
  SHAPLEY_TRY(insert.bind(1, sequence).bind(2, at.value).bind(3, text).bind_blob(4, sha).run());
  SHAPLEY_TRY_ASSIGN(Statement forget,
                     database.prepare("DELETE FROM checkpoints WHERE sequence NOT IN "
                                      "(SELECT sequence FROM checkpoints ORDER BY sequence DESC LIMIT ?1)"));
  SHAPLEY_TRY(forget.bind(1, k_checkpoints_kept).run());
  return transaction.commit();
}

Expected<void> rebuild(const Database& database, Writer& writer) {
  SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database, Transaction::Kind::write));
  SHAPLEY_TRY(writer.projector.clear());
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY(reader.visit(0, writer.head.sequence,
                           [&](const StoredEvent& e) { return writer.projector.project(e.event, e.sequence); }));
  SHAPLEY_TRY(rebuild_standings(database, "main"));
  return transaction.commit();
}

}  // namespace

Expected<Recovered> Ledger::recover(accounting::StateOptions options) const {
  auto books = recover_from(impl_->database, options, /*from_scratch=*/false);
  if (!books) return impl_->failed("recover", std::move(books).error());
  return books;
}

Expected<Recovered> Ledger::recover_from_scratch(accounting::StateOptions options) const {
  auto books = recover_from(impl_->database, options, /*from_scratch=*/true);
  if (!books) return impl_->failed("recover from scratch", std::move(books).error());
  return books;
}

Expected<void> Ledger::save_checkpoint(const accounting::State& state, std::int64_t sequence, Instant at) {
  auto saved = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    return store_checkpoint(impl_->database, *writer, state, sequence, at);
  }();
  if (!saved) return impl_->failed("save checkpoint", std::move(saved).error());
  return {};
}

Expected<void> Ledger::record_standings(Instant day, const accounting::State& state,
                                        std::span<const accounting::Standing> standings) {
  auto recorded = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(impl_->database, Transaction::Kind::write));
    const auto estimators = accounting::estimator_ids();
    const DayOfStandings rows{day_begin(day), writer->head.sequence, {estimators.begin(), estimators.end()}};
    SHAPLEY_TRY(write_standings(impl_->database, "main", rows, state, standings));
    return transaction.commit();
  }();
  if (!recorded) return impl_->failed("record standings", std::move(recorded).error());
  return {};
}

Expected<void> Ledger::rebuild_projections() {
  auto rebuilt = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    return rebuild(impl_->database, *writer);
  }();
  if (!rebuilt) return impl_->failed("rebuild projections", std::move(rebuilt).error());
  return {};
}

}  // namespace shapley::ledger
