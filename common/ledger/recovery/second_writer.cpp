#include "ledger/recovery/second_writer.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "ledger/recovery/checkpoint.hpp"
#include "ledger/store/ledger_file.hpp"

namespace shapley::ledger {

namespace {

// After each transaction: long enough for whoever waits for the lock to be woken up and take it.
constexpr std::chrono::milliseconds k_pause{2};
constexpr int k_transactions_between_folds = 4;

}  // namespace

Expected<SecondWriter> SecondWriter::open(const std::filesystem::path& ledger, const std::atomic<bool>& stop) {
  SHAPLEY_TRY_ASSIGN(Database database, open_second_writer(ledger));
  return SecondWriter(std::move(database), stop);
}

SecondWriter::SecondWriter(Database database, const std::atomic<bool>& stop)
    : stop_(&stop),
      database_(std::make_unique<Database>(std::move(database))),
      limit_(std::make_unique<StepLimit>(*database_, 0, stop_)) {}

Expected<void> SecondWriter::write(std::mutex& turns, const accounting::State& state, std::int64_t sequence) const {
  // A fold gives way to readers and to others who fold: what it leaves, the next one takes.
  const auto fold = [this] { return database_->execute("PRAGMA wal_checkpoint(PASSIVE)"); };
  int transactions = 0;
  CheckpointWriting how;
  how.stop = stop_;
  how.between = [&]() -> Expected<void> {
    std::this_thread::sleep_for(k_pause);
    return ++transactions % k_transactions_between_folds == 0 ? fold() : Expected<void>{};
  };
  SHAPLEY_TRY(write_checkpoint(*database_, turns, state, sequence, state.now(), how));
  return fold();
}

}  // namespace shapley::ledger
