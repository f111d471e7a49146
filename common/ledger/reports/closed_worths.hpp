// What cooperation was worth in closed periods, by all that became known later.
//
// Books forget what coalitions did in a period when nothing can change it any more. So they are asked before each time
// that they forget; what they said last stays.
#pragma once

#include <map>
#include <optional>

#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

class ClosedWorths {
 public:
  // Of the periods that end after `since`.
  explicit ClosedWorths(Instant since) : since_(since) {}

  // REQUIRES: always the same books, before they forget what is after the instant of the last look.
  void look(accounting::State& books);
  // nullptr: no look found one, or there is no period that ends then. Valid until the next look.
  [[nodiscard]] const accounting::CooperationWorth* of_period_until(Instant end) const;

 private:
  struct Known {
    std::optional<accounting::CooperationWorth> worth;
    bool is_final = false;  // nothing changes it any more, or it could not be said from the first look on
  };

  Instant since_;
  std::map<Instant, Known> known_;  // by the period's end
};

}  // namespace shapley::ledger
