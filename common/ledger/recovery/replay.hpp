// Folding stored events into State: the one way from the ledger to the books.
//
// An event that State refuses (Errc::conflict, ...) changed nothing when shapleyd met it, and is passed over here too;
// an audit lists such events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/recovery/replay_watch.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Visits the events with sequence <= upto, ordered by their own time, then by sequence.
[[nodiscard]] Expected<void> visit_by_time(const Database& database, std::int64_t upto,
                                           const std::function<Expected<void>(const StoredEvent&)>& visit);

// The books after the events up to `upto`, in the order of their own times. Errc::corrupt if that order does not
// suffice.
[[nodiscard]] Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto,
                                                 accounting::StateOptions options, ReplayWatch* watch = nullptr);

// The books of all events (of those up to `upto`), by the shortest way that there is: from the newest checkpoint which
// remembers back to everything that was appended after it; where there is none, from all events in the order of their
// own times.
[[nodiscard]] Expected<Recovered> recover_books(const Database& database, accounting::StateOptions options,
                                                ReplayWatch* watch = nullptr,
                                                std::optional<std::int64_t> upto = std::nullopt);

// The hash of the event row `sequence`; zeros for 0, nullopt when there is no such row.
[[nodiscard]] Expected<std::optional<Digest>> hash_of_event(const Database& database, std::int64_t sequence);

// Books that follow the ledger in the order in which events were appended, as shapleyd does.
class Replay {
 public:
  Replay(const Database& database, accounting::StateOptions options) : database_(&database), options_(options) {}
  // Begins from these books instead of from nothing.
  Replay(const Database& database, accounting::StateOptions options, Recovered from, ReplayWatch* watch = nullptr)
      : database_(&database), options_(options), watch_(watch), books_(std::move(from)) {}

  // Applies the events up to `upto`; a replay by time takes over where an event is older than the books remember.
  [[nodiscard]] Expected<void> advance_to(std::int64_t upto);
  // The same without taking over: false, and the books are of no use, if an event is older than they remember.
  [[nodiscard]] Expected<bool> follow_to(std::int64_t upto);
  [[nodiscard]] Recovered& books() { return books_; }

 private:
  const Database* database_;
  accounting::StateOptions options_;
  ReplayWatch* watch_ = nullptr;
  Recovered books_{.state = accounting::State(options_)};
};

}  // namespace shapley::ledger
