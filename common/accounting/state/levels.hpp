// Levels: what organizations offer, ask for, lend and borrow in the last second of every period, and now.
//
// A change at t counts in every period that ends after t. Periods that ended at or before the horizon are settled:
// nothing changes them any more. Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

struct Level {
  MicroProcessors owned;     // offered, by ownership and capacity
  MicroProcessors waiting;   // asked for by its startable pending jobs
  MicroProcessors lent;      // its processors held by other organizations' jobs
  MicroProcessors borrowed;  // other organizations' processors held by its jobs
  friend bool operator==(const Level&, const Level&) = default;
  Level& operator+=(const Level& other);
};

class Levels {
 public:
  struct Period {
    Instant end;
    std::vector<Level> rows;  // by OrgId
  };

  Levels() : periods_{{k_end_of_time, {}}} {}

  void resize(std::size_t organizations);  // more of them; those that were keep their levels
  void change(Instant t, OrgId organization, const Level& change);
  // Lends and borrows where the piece is held in a period's last second.
  void fold_piece(int sign, const Piece& piece);

  void close_period(Instant boundary);
  // Replaces the boundaries; periods that are not settled have no levels then. No settled period may change.
  void set_boundaries(const std::vector<Instant>& boundaries);
  void settle(Instant horizon) { horizon_ = horizon; }
  [[nodiscard]] bool settled(const Period& period) const { return period.end <= horizon_; }

  [[nodiscard]] const std::vector<Period>& periods() const { return periods_; }  // ascending; the last is open
  [[nodiscard]] std::vector<Period>& periods() { return periods_; }

 private:
  Instant horizon_ = k_beginning_of_time;
  std::vector<Period> periods_;
};

}  // namespace shapley::accounting
