// Work in a thread of its own, which its owner can follow and end. All members are called from one thread, the owner's.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

class Background {
 public:
  // `name` is for the log. `work` is to end soon after the watch's `stop` is set. Errc::unavailable: no thread
  // can be started.
  [[nodiscard]] static Expected<std::unique_ptr<Background>> start(std::string name,
                                                                   std::function<void(ReplayWatch&)> work);
  // Ends it if it still runs.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // What the work wrote may be read from then on.
  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] int percent() const { return watch_.percent(); }
  void wait();

 private:
  Background() = default;

  ReplayWatch watch_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

// A checkpoint made in a thread of its own, while the ledger is read and written on.
//
// The thread makes the books again, from the newest checkpoint and the events since then, and writes them down: so the
// thread that serves has nothing to do with it but to start it. It needs a core for some seconds and, meanwhile, as
// much memory again as the books have. All members are called from one thread, the owner's.
class CheckpointThread {
 public:
  struct Options {
    accounting::StateOptions state = {};
    std::int64_t upto = 0;         // the last event in it
    Instant now;                   // what is older than the memory horizon then is forgotten
    Instant keep = k_end_of_time;  // but nothing from this instant on
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: no thread can be started.
  [[nodiscard]] static Expected<std::unique_ptr<CheckpointThread>> start(std::filesystem::path ledger,
                                                                         std::shared_ptr<Mutex> turns,
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

// Books made again in a thread of their own, while the ledger is read and written on, and saved as a checkpoint.
//
// The thread reads through a connection of its own: recover_books() from one snapshot, then, snapshot by snapshot, what
// was appended meanwhile, until hardly anything is missing. All members are called from one thread, the owner's.
class Rebuild {
 public:
  struct Options {
    accounting::StateOptions state = {};
    // The books end at most so many events before the ledger's head at the end of the rebuild: the owner applies the
    // rest, which takes some milliseconds.
    std::int64_t left_to_owner = 1000;
  };
  struct Result {
    Recovered books;
    std::int64_t checkpoint = 0;  // the last event in the checkpoint of them
    Expected<void> saved;         // the checkpoint; on error the books are good nevertheless
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: no thread can be started.
  [[nodiscard]] static Expected<std::unique_ptr<Rebuild>> start(std::filesystem::path ledger,
                                                                std::shared_ptr<Mutex> turns, Options options);
  // Ends the thread if it still runs, which takes some tenths of a second.
  ~Rebuild() = default;
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;

  [[nodiscard]] bool has_ended() const { return background_->has_ended(); }
  [[nodiscard]] int percent() const { return background_->percent(); }
  // Waits for the end. Once.
  [[nodiscard]] Expected<Result> take();

 private:
  Rebuild() = default;

  std::optional<Expected<Result>> result_;  // the thread's until it has ended
  std::unique_ptr<Background> background_;  // ends before what it uses
};

}  // namespace shapley::ledger
