// Books made anew in a thread of their own, while the ledger is read and written on.
//
// The thread reads through a connection of its own, opened for reading only: recover_books() from one snapshot, then,
// snapshot by snapshot, what was appended meanwhile, until hardly anything is missing. All members are called from one
// thread, the owner's.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/recovery/replay_watch.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

class Rebuild {
 public:
  struct Options {
    accounting::StateOptions state = {};
    // The books end at most so many events before the ledger's head at the end of the rebuild: the owner applies the
    // rest, which takes some milliseconds.
    std::int64_t left_to_owner = 1000;
  };

  // Errc::unavailable: there is no thread to be had.
  [[nodiscard]] static Expected<std::unique_ptr<Rebuild>> start(std::filesystem::path ledger, Options options);
  // Ends the thread if it still runs, which takes it some milliseconds.
  ~Rebuild();
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;

  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] int percent() const { return watch_.percent(); }
  // Waits for the end. Once.
  [[nodiscard]] Expected<Recovered> take();

 private:
  Rebuild() = default;
  [[nodiscard]] Expected<Recovered> run(const std::filesystem::path& ledger, const Options& options);

  ReplayWatch watch_;
  std::optional<Expected<Recovered>> books_;  // the thread's until ended_
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace shapley::ledger
