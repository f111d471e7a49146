// The books proper: psi and direct phi of every organization in every period, as sums of pieces.
//
// A piece is a part of a run that one organization's job held on processors of one owner during [begin, end). Each
// piece adds the same amount to the psi of the job's organization and to the phi of the owner, in every period it
// touches; that is why Sum(psi) = Sum(phi) at every instant. Posting and removing are exact inverses and commute, so
// neither the order of events nor their repetition can leave a trace.
//
// In a closed period a piece that goes on to the period's end or beyond counts as running: the period's sums are
// evaluated at its end, where both forms agree, and its running processors are those of its last second.
// Single-threaded; the caller owns it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

struct Piece {
  OrgId organization;  // whose job
  OrgId owner;         // whose processors
  MicroProcessors processors;
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it runs
};

// One organization's sums in one period.
struct Account {
  game::UtilitySum got;    // psi
  game::UtilitySum given;  // phi_direct
  MicroProcessors on_own;  // running processors that are both its jobs' and its own
  friend bool operator==(const Account&, const Account&) = default;
};

class Books {
 public:
  struct PeriodAccounts {
    Instant begin;
    Instant end;
    std::vector<Account> accounts;  // by OrgId
  };

  Books() : periods_{{k_beginning_of_time, k_end_of_time, {}}} {}

  void join(std::size_t organizations);  // accounts for so many organizations in every period
  void post(const Piece& piece) { fold(1, piece); }
  void remove(const Piece& piece) { fold(-1, piece); }

  // Ends the current period at `boundary`; what runs there begins anew in the next one. REQUIRES: every piece posted so
  // far begins before `boundary`, and ends at or before it if it ends.
  void close_period(Instant boundary);
  // Replaces the boundaries. REQUIRES: pieces that touch instants after the first boundary that changes are all
  // removed.
  void set_boundaries(const std::vector<Instant>& boundaries);

  [[nodiscard]] const std::vector<PeriodAccounts>& periods() const { return periods_; }
  [[nodiscard]] std::vector<PeriodAccounts>& periods() { return periods_; }
  [[nodiscard]] const PeriodAccounts& current() const { return periods_.back(); }

 private:
  void fold(int sign, const Piece& piece);

  std::vector<PeriodAccounts> periods_;  // ascending and gapless; the last one is open
};

}  // namespace shapley::accounting
