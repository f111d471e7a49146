// The virtual schedules of the present: a copy of the settled ones that goes on from the horizon. They are made when
// contributions are wanted, and dropped when a fact is older than what they keep open; then they are made again from
// the settled ones and the facts since.
//
// Single-threaded; the estimator `hindsight` owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "accounting/estimators/attendance.hpp"
#include "accounting/estimators/coalition_books.hpp"
#include "accounting/estimators/period_shares.hpp"
#include "accounting/estimators/players.hpp"
#include "accounting/estimators/request_facts.hpp"
#include "base/contract.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// The number of requests that are sent to schedules at once.
inline constexpr std::size_t k_batch = 512;

using When = std::tuple<Instant, OrgId, Kind>;
using Capacities = std::map<When, std::int64_t>;

// Adds `by` to the change at `when`; false if no change is left then.
template <typename Key>
bool add_change(std::map<Key, std::int64_t>& changes, const Key& when, std::int64_t by) {
  if ((changes[when] += by) != 0) return true;
  changes.erase(when);
  return false;
}

// The facts that the estimator knows, and the schedules up to the horizon.
struct SettledFacts {
  std::size_t organizations = 0;
  std::size_t exact = hindsight::k_exact_players;  // up to so many players all coalitions are kept
  Players players;
  RequestFacts requests;               // without those that ended before the horizon
  Capacities capacities;               // changes from the horizon on
  std::vector<KindDivided> divisions;  // all of them
  Attendance attendance;
  std::vector<Instant> boundaries;
  ClosedShares closed;  // of the first periods, which no fact changes any more
  Instant horizon = k_beginning_of_time;
  CoalitionBooks settled;  // ends at the horizon

  // Contributions are wanted for the players of every period that is not final, and for all players.
  [[nodiscard]] std::vector<std::size_t> sizes_of(std::size_t of_players);
  // Sends the divisions of kinds in [horizon, until). REQUIRES: no later request was sent.
  void divide_kinds(CoalitionBooks& books, Instant until) const;
  // The boundaries before `until` that the schedules do not have yet.
  void mark_boundaries(CoalitionBooks::Schedules& schedules, Instant until) const;
};

class PresentSchedules {
 public:
  // Drops them; they are made again, from the settled ones and all facts since, when contributions are wanted.
  void drop();
  // Whether there are any.
  [[nodiscard]] bool are_there() const { return books_.has_value(); }
  // REQUIRES: they are there.
  [[nodiscard]] CoalitionBooks& books() {
    SHAPLEY_REQUIRE(are_there());
    return *books_;
  }
  [[nodiscard]] const Attendance::Span& attended() const { return attended_; }
  // The latest instant at which contributions were wanted.
  [[nodiscard]] Instant latest() const { return latest_; }

  // Some facts are noted here, too: which of them are to be sent, and when runs began.
  void note(int sign, const SegmentFact& segment);
  void note_capacity(const When& when, std::int64_t by);
  void note_boundary(Instant boundary);
  void note_ranks() { ranks_changed_ = true; }

  // Makes the schedules reach t. False: the effort did not suffice.
  [[nodiscard]] bool synchronize(SettledFacts& facts, Instant t, std::uint64_t effort);
  // Takes the players from the facts; if their order changed, the schedules are dropped.
  void set_players(SettledFacts& facts);
  // From now on the coalitions that the facts name are kept.
  void set_coalitions(SettledFacts& facts);
  [[nodiscard]] std::optional<std::size_t> player_of(OrgId organization) const;
  // No fact before `horizon` will come. REQUIRES: the facts are still those from their own horizon on.
  void forget_before(SettledFacts& facts, Instant horizon);

  [[nodiscard]] std::size_t bytes() const;

 private:
  enum class Outcome : std::uint8_t { done, more, too_old };

  void begin(SettledFacts& facts);
  [[nodiscard]] std::optional<GroupKey> next_stale(const SettledFacts& facts) const;
  [[nodiscard]] bool may_clamp(const SettledFacts& facts) const;
  [[nodiscard]] bool send_capacities(const SettledFacts& facts);
  [[nodiscard]] bool send_attendance(SettledFacts& facts, Instant t);
  [[nodiscard]] Outcome send_requests(const SettledFacts& facts, Instant t, std::uint64_t effort,
                                      Instant until = k_end_of_time);
  [[nodiscard]] bool sent_until(const SettledFacts& facts, Instant released, Instant t, Instant until,
                                std::uint64_t effort);
  [[nodiscard]] bool settle_before(SettledFacts& facts, Instant horizon);
  void settle(Instant t);

  std::optional<CoalitionBooks> books_;
  std::vector<OrgId> players_;
  std::vector<std::optional<std::size_t>> player_of_;  // by OrgId
  std::vector<std::size_t> sizes_;                     // of the coalitions whose schedules are kept
  bool ranks_changed_ = false;
  Attendance::Span attended_;             // the attendance that the schedules have
  Instant latest_ = k_beginning_of_time;  // at which contributions were wanted
  bool is_beginning_ = false;             // some facts from before they were made are still to be sent
  std::optional<GroupKey> begun_until_;   // while is_beginning_: groups up to this one were sent
  std::set<GroupKey> stale_;              // to be sent
  Capacities stale_capacities_;
  std::int64_t groups_sent_ = 0;           // since the reach of the latest runs was computed last
  std::map<Instant, std::int64_t> begun_;  // runs by their begin, as far as they may be kept open
  std::uint64_t sent_ = 0;                 // requests that were sent
  std::uint64_t next_batch_ = 0;           // value of sent_ at which the next batch is complete
};

}  // namespace shapley::accounting
