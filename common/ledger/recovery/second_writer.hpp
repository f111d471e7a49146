// The connection through which a thread writes checkpoints beside the one that appends events, without keeping it
// waiting.
//
// Its transactions are short and not synced one by one: what they wrote is synced and folded into the file between
// them, outside the lock, so that the log stays short and the next append has little to sync.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

class SecondWriter {
 public:
  // Once `stop` is set, what it does ends with Errc::limit or Errc::unavailable.
  [[nodiscard]] static Expected<SecondWriter> open(const std::filesystem::path& ledger, const std::atomic<bool>& stop);

  [[nodiscard]] const Database& database() const { return *database_; }
  // A checkpoint of the books after event `sequence` (checkpoint.hpp), dated to their present.
  [[nodiscard]] Expected<void> write(std::mutex& turns, const accounting::State& state, std::int64_t sequence) const;

 private:
  SecondWriter(Database database, const std::atomic<bool>& stop);

  const std::atomic<bool>* stop_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<StepLimit> limit_;
};

}  // namespace shapley::ledger
