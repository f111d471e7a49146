// Work in a separate thread that its owner can follow and end. All members are called from one thread, the owner's.
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
  // `name` is for the log. `work` should end soon after the watch's `stop` is set. Errc::unavailable: no thread can be
  // started.
  [[nodiscard]] static Expected<std::unique_ptr<Background>> start(std::string name,
                                                                   std::function<void(ReplayWatch&)> work);
  // Ends the work if it is still running.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Once true, what the work wrote may be read.
  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] int percent() const { return watch_.percent(); }
  void wait();

 private:
  Background() = default;

  ReplayWatch watch_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

// A checkpoint that is made in a separate thread, while the ledger is read and written.
//
// The thread makes the books again, from the newest checkpoint and the events since then, and writes them down, so the
// serving thread only has to start it. It needs a core for some seconds and, meanwhile, as much memory again as the
// books use. All members are called from one thread, the owner's.
class CheckpointThread {
 public:
  struct Options {
    accounting::StateOptions state = {};
    std::int64_t upto = 0;         // the last event in it
    Instant now;                   // what is older than the memory horizon at this time is forgotten
    Instant keep = k_end_of_time;  // nothing from this instant on is forgotten
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: no thread can be started.
  [[nodiscard]] static Expected<std::unique_ptr<CheckpointThread>> start(std::filesystem::path ledger,
                                                                         std::shared_ptr<Mutex> turns,
                                                                         const Options& options);
  // Ends the thread if it is still running, which takes some tenths of a second; the checkpoint is complete or absent.
  ~CheckpointThread() = default;
  CheckpointThread(const CheckpointThread&) = delete;
  CheckpointThread& operator=(const CheckpointThread&) = delete;

  [[nodiscard]] bool has_ended() const { return background_->has_ended(); }
  [[nodiscard]] std::int64_t upto() const { return upto_; }
  // Waits for the end and returns whether the checkpoint was written.
  [[nodiscard]] Expected<void> take();

 private:
  explicit CheckpointThread(std::int64_t upto) : upto_(upto) {}

  std::int64_t upto_;
  Expected<void> written_;                  // owned by the thread until it has ended
  std::unique_ptr<Background> background_;  // destroyed before what it uses
};

// Makes the books again in a separate thread, while the ledger is read and written, and saves them as a checkpoint.
//
// The thread reads through a connection of its own: recover_books() from one snapshot, then, snapshot by snapshot, what
// was appended meanwhile, until hardly anything is missing. All members are called from one thread, the owner's.
class Rebuild {
 public:
  struct Options {
    accounting::StateOptions state = {};
    // At the end of the rebuild the books lack at most so many events of the ledger: the owner applies these, which
    // takes some milliseconds.
    std::int64_t left_to_owner = 1000;
  };
  struct Result {
    Recovered books;
    std::int64_t checkpoint = 0;  // the last event in the checkpoint of the books
    Expected<void> saved;         // whether the checkpoint was written; the books are valid in any case
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: no thread can be started.
  [[nodiscard]] static Expected<std::unique_ptr<Rebuild>> start(std::filesystem::path ledger,
                                                                std::shared_ptr<Mutex> turns, Options options);
  // Ends the thread if it is still running, which takes some tenths of a second.
  ~Rebuild() = default;
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;

  [[nodiscard]] bool has_ended() const { return background_->has_ended(); }
  [[nodiscard]] int percent() const { return background_->percent(); }
  // Waits for the end and returns the result. Call it once.
  [[nodiscard]] Expected<Result> take();

 private:
  Rebuild() = default;

  std::optional<Expected<Result>> result_;  // owned by the thread until it has ended
  std::unique_ptr<Background> background_;  // destroyed before what it uses
};

}  // namespace shapley::ledger
