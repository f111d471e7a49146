// A checkpoint made in a thread of its own, while the ledger is read and written on.
//
// The thread makes the books anew, from the newest checkpoint and the events since then, and writes them down: so the
// thread that serves has nothing to do with it but to start it. It needs a core for some seconds and, meanwhile, as
// much memory again as the books have. All members are called from one thread, the owner's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/recovery/background.hpp"

namespace shapley::ledger {

class CheckpointThread {
 public:
  struct Options {
    accounting::StateOptions state = {};
    std::int64_t upto = 0;         // the last event in it
    Instant now;                   // what is older than the horizon then is forgotten
    Instant keep = k_end_of_time;  // but nothing from this instant on
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: there is no thread to be had.
  [[nodiscard]] static Expected<std::unique_ptr<CheckpointThread>> start(std::filesystem::path ledger,
                                                                         std::shared_ptr<std::mutex> turns,
                                                                         const Options& options);
  // Ends the thread if it still runs, which takes some tenths of a second; the checkpoint is there or it is not.
  ~CheckpointThread() = default;
  CheckpointThread(const CheckpointThread&) = delete;
  CheckpointThread& operator=(const CheckpointThread&) = delete;

  [[nodiscard]] bool has_ended() const { return background_->has_ended(); }
  [[nodiscard]] std::int64_t upto() const { return upto_; }
  // Waits for the end; whether the checkpoint is written.
  [[nodiscard]] Expected<void> take();

 private:
  explicit CheckpointThread(std::int64_t upto) : upto_(upto) {}

  std::int64_t upto_;
  Expected<void> written_;                  // the thread's until it has ended
  std::unique_ptr<Background> background_;  // ends before what it uses
};

}  // namespace shapley::ledger
