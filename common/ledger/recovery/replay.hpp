// Folding stored events into State: the one way from the ledger to the books.
//
// An event that State refuses (Errc::conflict, ...) changed nothing when shapleyd met it, and is passed over here too;
// an audit lists such events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/recovery/lookback.hpp"
#include "ledger/recovery/replay_watch.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Visits the events with after < sequence <= upto, ordered by their own time, then by sequence.
[[nodiscard]] Expected<void> visit_by_time(const Database& database, std::int64_t after, std::int64_t upto,
                                           const std::function<Expected<void>(const StoredEvent&)>& visit);

// The books that the ledger begins with: empty ones, or those after the last event of its archive (store/genesis.hpp).
// Errc::corrupt when they cannot be read.
[[nodiscard]] Expected<Recovered> opening_books(const Database& database, accounting::StateOptions options);

// Applies the events after those that `books` know, up to `upto`, in the order of their own times. The books remember
// what their options give, and what is from `keep` on. Errc::corrupt if an event is older than they remember.
[[nodiscard]] Expected<void> advance_by_time(const Database& database, Recovered& books, std::int64_t upto,
                                             ReplayWatch* watch = nullptr, Instant keep = k_end_of_time,
                                             const ReplayPace& pace = {});

// The books after the events up to `upto`, in the order of their own times. Errc::corrupt if that order does not
// suffice. They remember what the options give, and what is from `keep` on.
[[nodiscard]] Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto,
                                                 accounting::StateOptions options, ReplayWatch* watch = nullptr,
                                                 Instant keep = k_end_of_time);

// The books of all events (of those up to `upto`), by the shortest way that there is: from the newest checkpoint which
// remembers back to everything that was appended after it; where there is none, from all events in the order of their
// own times. However many events that are: the books forget at this pace on the way.
[[nodiscard]] Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options,
                                                ReplayWatch* watch = nullptr,
                                                std::optional<std::int64_t> upto = std::nullopt,
                                                const ReplayPace& pace = {});

// The hash of the event row `sequence`; zeros for 0, nullopt when there is no such row.
[[nodiscard]] Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence);

// Books that follow the ledger in the order in which events were appended, as shapleyd does.
class Replay {
 public:
  // Begins from these books, and forgets on the way what it may.
  Replay(const Database& database, accounting::StateOptions options, Recovered from, Forgetting forgetting,
         ReplayWatch* watch = nullptr)
      : database_(&database),
        options_(options),
        forgetting_(std::move(forgetting)),
        watch_(watch),
        books_(std::move(from)) {}
  // Begins from these books, and forgets nothing.
  Replay(const Database& database, accounting::StateOptions options, Recovered from, ReplayWatch* watch = nullptr)
      : database_(&database), options_(options), watch_(watch), books_(std::move(from)) {}

  // Applies the events up to `upto`; a replay by time takes over where an event is older than the books remember.
  [[nodiscard]] Expected<void> advance_to(std::int64_t upto);
  // The same without taking over: false, and the books are of no use, if an event is older than they remember.
  [[nodiscard]] Expected<bool> follow_to(std::int64_t upto);
  [[nodiscard]] Recovered& books() { return books_; }
  // Forgets what the books may, if they may forget anything on the way.
  void forget() {
    if (forgetting_) forgetting_->now(books_.last_sequence + 1, books_.state);
  }

 private:
  const Database* database_;
  accounting::StateOptions options_;
  std::optional<Forgetting> forgetting_;
  ReplayWatch* watch_ = nullptr;
  Recovered books_;
};

}  // namespace shapley::ledger
