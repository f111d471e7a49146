// Books made anew in a thread of their own, while the ledger is read and written on, and saved as a checkpoint.
//
// The thread reads through a connection of its own: recover_books() from one snapshot, then, snapshot by snapshot, what
// was appended meanwhile, until hardly anything is missing. All members are called from one thread, the owner's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/recovery/background.hpp"
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
  struct Result {
    Recovered books;
    std::int64_t checkpoint = 0;  // the last event in the checkpoint of them
    Expected<void> saved;         // the checkpoint; on error the books are good all the same
  };

  // `turns` is the ledger's (Ledger::turns). Errc::unavailable: there is no thread to be had.
  [[nodiscard]] static Expected<std::unique_ptr<Rebuild>> start(std::filesystem::path ledger,
                                                                std::shared_ptr<std::mutex> turns, Options options);
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
