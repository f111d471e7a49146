// The part of Ledger that meets State: checkpoints, recovery, and the projection that needs it.
#include <mutex>
#include <utility>

#include "base/calendar.hpp"
#include "ledger/projections/standings.hpp"
#include "ledger/recovery/checkpoint.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

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

Expected<Recovered> Ledger::recover(const accounting::StateOptions& options, ReplayWatch* watch) const {
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

Expected<Recovered> Ledger::opening(const accounting::StateOptions& options) const {
  auto books = opening_books(impl_->database, options);
  if (!books) return impl_->failed("read what it begins with", std::move(books).error());
  return books;
}

Expected<void> Ledger::save_checkpoint(const accounting::State& state, std::int64_t sequence, Instant at,
                                       const std::atomic<bool>* stop) {
  auto saved = [&]() -> Expected<void> {
    SHAPLEY_TRY(impl_->to_write());
    CheckpointWriting how;
    how.stop = stop;
    return write_checkpoint(impl_->database, *impl_->turns, state, sequence, at, how);
  }();
  if (!saved) return impl_->failed("save checkpoint", std::move(saved).error());
  return {};
}

Expected<void> Ledger::record_standings(Instant day, const accounting::State& state,
                                        std::span<const accounting::Standing> standings,
                                        const accounting::EstimatorSet& by) {
  auto recorded = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    const std::scoped_lock turn(*impl_->turns);
    SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(impl_->database, Transaction::Kind::write));
    const DayOfStandings rows{day_begin(day), writer->head.sequence, by};
    SHAPLEY_TRY(write_standings(impl_->database, "main", rows, state, standings));
    return transaction.commit();
  }();
  if (!recorded) return impl_->failed("record standings", std::move(recorded).error());
  return {};
}

Expected<void> Ledger::rebuild_projections() {
  auto rebuilt = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Writer * writer, impl_->to_write());
    const std::scoped_lock turn(*impl_->turns);
    return rebuild(impl_->database, *writer);
  }();
  if (!rebuilt) return impl_->failed("rebuild projections", std::move(rebuilt).error());
  return {};
}

}  // namespace shapley::ledger
