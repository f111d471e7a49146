// Corrections of the books by an administrator, and the facts that only a correction makes.
#pragma once

#include <cstdint>
#include <string>

#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

enum class AdjustmentKind : std::uint8_t { attribute, own, rename, merge, reverse, settle };

// An administrator corrected the books. The `facts` events after this one belong to it and were stored with it, in one
// transaction: for `attribute` segments that are retracted and stated again under another organization, for `own`
// statements of ownership with this revision, for `settle` one WorkSettled, for `reverse` the events that undo
// adjustment `reverses`. `rename` and `merge` have none: the row of `organization` is part of the row of `into` from
// then on, for all times, until an adjustment reverses that (State::row_of); no figure of other organizations depends
// on it. Identity: `number`.
struct AdjustmentMade {
  std::uint32_t number = 0;  // 1, 2, 3, ...
  Instant at;                // when it was made
  AdjustmentKind kind = AdjustmentKind::attribute;
  std::string organization;  // rename, merge: the organization whose row it is; settle: the one that gave; else empty
  std::string into;          // attribute: the new organization of the runs; rename, merge: of the row; settle: the one
                             // that got; else empty
  std::string what;          // in words: "job 4711"
  std::uint32_t reverses = 0;
  std::int64_t runs = 0;   // number of runs that it moves to another organization
  std::int64_t facts = 0;  // number of events that follow
  std::string author;      // as the kernel reports, with the name from the user database if it has one: "uid 0 (root)"
  std::string reason;
  friend bool operator==(const AdjustmentMade&, const AdjustmentMade&) = default;
};
constexpr auto description_of(std::type_identity<AdjustmentMade>) {
  return describe("adjustment_made", member<Role::identity>("number", &AdjustmentMade::number),
                  member<Role::time>("at", &AdjustmentMade::at), member("kind", &AdjustmentMade::kind),
                  member("organization", &AdjustmentMade::organization), member("into", &AdjustmentMade::into),
                  member("what", &AdjustmentMade::what), member("reverses", &AdjustmentMade::reverses),
                  member("runs", &AdjustmentMade::runs), member("facts", &AdjustmentMade::facts),
                  member("author", &AdjustmentMade::author), member("reason", &AdjustmentMade::reason))
      .kept("adjustment");
}

// Work that was agreed on and that no run did: a payment, an opening balance, a write-off. From `at` on the books are
// as if at that instant the jobs of `to` had got `work` on processors of `from`: it is part of got and psi of `to`, and
// of given and phi of `from` by every estimator. So, with t >= at,
//     psi[to](t) += work * (t - at),   phi[from](t) += work * (t - at)      [SR13 Eq. 3, unit parts executed at `at`]
// and Sum(psi) = Sum(phi) still holds. It counts in the period that contains `at`. What coalitions would have done
// alone does not depend on it. Negative: the amount is taken back by the adjustment that reverses the former one.
struct WorkSettled {
  std::uint32_t adjustment = 0;  // the number of the adjustment that it belongs to
  Instant at;
  std::string from;  // gave
  std::string to;    // got; another one than `from`
  CpuTime work;      // not 0; -k_max_settled to k_max_settled
  friend bool operator==(const WorkSettled&, const WorkSettled&) = default;
};
constexpr auto description_of(std::type_identity<WorkSettled>) {
  return describe("work_settled", member<Role::identity>("adjustment", &WorkSettled::adjustment),
                  member<Role::time>("at", &WorkSettled::at), member("from", &WorkSettled::from),
                  member("to", &WorkSettled::to), member("work", &WorkSettled::work))
      .kept("settled");
}

// 277 million core-hours.
inline constexpr CpuTime k_max_settled{1'000'000'000'000'000'000};

}  // namespace shapley::accounting
