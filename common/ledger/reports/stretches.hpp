// What happened between two instants: the typed figures behind `shapleyctl statement` and `shapleyctl history`.
//
// The time that is asked is cut into stretches, at every instant that the caller names and wherever a period begins,
// for there the standings start again from zero. Of each stretch the books at its begin and at its end, both of the
// period that it lies in, and what was held in it, whose jobs on whose processors. So for every organization u
//     closing.got - opening.got      = Sum over owners o of held[u, o]
//     closing.given - opening.given  = Sum over users  v of held[v, u]     by direct_contr
// to the unit; is_exact() looks. Times are seconds since the epoch; months and days are those of UTC.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_books.hpp"

namespace shapley::ledger {

// Work of one user's jobs, under one account, on one owner's processors.
struct HeldKey {
  OrgId organization;         // whose jobs
  OrgId owner;                // whose processors
  std::uint32_t account = 0;  // of PastBooks::accounts()
  std::uint32_t user_id = 0;
  friend auto operator<=>(const HeldKey&, const HeldKey&) = default;
};
using Held = std::map<HeldKey, CpuTime>;

struct Stretch {
  Instant begin;
  Instant end;
  Instant period_begin;                       // of the period that holds it
  bool opens_period = false;                  // the period begins where it does: every sum was zero
  bool closes_period = false;                 // the period ends where it does
  std::vector<accounting::Standing> opening;  // by OrgId
  std::vector<accounting::Standing> closing;  // as many
  Held held;                                  // none that is zero
  std::vector<CpuTime> waited;                // by OrgId: what its startable jobs asked for, times how long
};

// Hears of each stretch, in the order of time, and may ask `books` for names of organizations and accounts.
using VisitStretch = std::function<void(const Stretch& stretch, PastBooks& books)>;
// Hears of the books at every midnight and end of a stretch, before they forget what is over.
using BeforeForgetting = std::function<void(PastBooks& books)>;

// The stretches of [since, until), from the one in which the books begin. `cuts`: instants between them, ascending.
// REQUIRES: books of that time, not moved yet; since < until. Errors as of PastBooks.
[[nodiscard]] Expected<void> for_each_stretch(PastBooks& books, Instant since, Instant until,
                                              const std::vector<Instant>& cuts, const VisitStretch& visit,
                                              const BeforeForgetting& before_forgetting = {});

// By user and owner: result[u][o], as long as `organizations`, without accounts and users.
using OwnerMatrix = std::vector<std::vector<CpuTime>>;
[[nodiscard]] OwnerMatrix matrix_of(const Held& held, std::size_t organizations);

// What is_exact() looks at besides what an asker wants.
[[nodiscard]] accounting::EstimatorSet needed_for_stretches(accounting::EstimatorId wanted);
// Whether what was held is what the books say that every organization got and gave.
[[nodiscard]] bool is_exact(const Stretch& stretch);

}  // namespace shapley::ledger
