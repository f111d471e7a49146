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

Expected<Recovered> Ledger::recover(accounting::StateOptions options, ReplayWatch* watch) const {
  const StepLimit stop(impl_->database, 0, watch == nullptr ? nullptr : &watch->stop);
  auto books = recover_books(impl_->database, options, watch);
  if (!books) return impl_->failed("recover", std::move(books).error());
  return books;
}

Expected<Recovered> Ledger::recover_from_scratch(accounting::StateOptions options) const {
  auto books = [&]() -> Expected<Recovered> {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(impl_->database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(impl_->database));
    return replay_by_time(impl_->database, head.sequence, options);
  }();
  if (!books) return impl_->failed("recover from scratch", std::move(books).error());
  return books;
}

Expected<Recovered> Ledger::opening() const {
  auto books = opening_books(impl_->database, {});
  if (!books) return impl_->failed("read what it begins with", std::move(books).error());
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
