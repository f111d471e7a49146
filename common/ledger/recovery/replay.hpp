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
#include "ledger/store/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Visits the events with sequence <= upto, ordered by their own time, then by sequence.
[[nodiscard]] Expected<void> visit_by_time(const Database& database, std::int64_t upto,
                                           const std::function<Expected<void>(const StoredEvent&)>& visit);

// The books after the events up to `upto`, in the order of their own times. Errc::corrupt if that order does not
// suffice.
[[nodiscard]] Expected<Recovered> replay_by_time(const Database& database, std::int64_t upto,
                                                 accounting::StateOptions options);

// Books that follow the ledger in the order in which events were appended, as shapleyd does.
class Replay {
 public:
  Replay(const Database& database, accounting::StateOptions options) : database_(&database), options_(options) {}
  // Begins from a checkpoint instead of from nothing.
  Replay(const Database& database, accounting::StateOptions options, Recovered from)
      : database_(&database), options_(options), books_(std::move(from)) {}

  // Applies the events up to `upto`; a replay by time takes over where an event is older than the books remember.
  [[nodiscard]] Expected<void> advance_to(std::int64_t upto);
  [[nodiscard]] Recovered& books() { return books_; }

 private:
  const Database* database_;
  accounting::StateOptions options_;
  Recovered books_{.state = accounting::State(options_)};
};

}  // namespace shapley::ledger
