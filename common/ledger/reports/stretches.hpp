// What happened between two instants: the typed figures behind `shapleyctl statement` and `shapleyctl history`.
//
// The requested time is cut into stretches, at every instant that the caller names and wherever a period begins,
// because the standings start again from zero there. Each stretch has the books at its begin and at its end, both for
// the period that it lies in, and what was held in it, by organization of the job and owner of the processors. So for
// every organization u
//     closing.got - opening.got      = Sum over owners o of held[u, o]
//     closing.given - opening.given  = Sum over users  v of held[v, u]     by direct_contr
// to the unit, apart from what was settled; is_exact() checks it. Times are seconds since the epoch; months and days
// are those of UTC.
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
  OrgId organization;         // of the job
  OrgId owner;                // of the processors
  std::uint32_t account = 0;  // index in PastBooks::accounts()
  std::uint32_t user_id = 0;
  friend auto operator<=>(const HeldKey&, const HeldKey&) = default;
};
using Held = std::map<HeldKey, CpuTime>;

struct Stretch {
  Instant begin;
  Instant end;
  Instant period_begin;                       // of the period that holds it
  bool opens_period = false;                  // it begins where the period does: every sum was zero
  bool closes_period = false;                 // it ends where the period does
  std::vector<accounting::Standing> opening;  // by OrgId
  std::vector<accounting::Standing> closing;  // as many
  Held held;                                  // without zeros
  std::vector<CpuTime> waited;                // by OrgId: what its startable jobs asked for, times how long
};

// Called for each stretch, in the order of time; may ask `books` for names of organizations and accounts.
using VisitStretch = std::function<void(const Stretch& stretch, PastBooks& books)>;
// Called with the books at every midnight and end of a stretch, before they forget what has ended.
using BeforeForgetting = std::function<void(PastBooks& books)>;

struct StretchesAsked {
  Instant since;
  Instant until;
  std::vector<Instant> cuts = {};  // between them, ascending
  bool with_until = false;         // what was settled at `until` itself counts, too
};

// The stretches of [since, until), from the one in which the books begin. REQUIRES: books of that time that were not
// moved yet; since < until. Errors as of PastBooks.
[[nodiscard]] Expected<void> for_each_stretch(PastBooks& books, const StretchesAsked& asked, const VisitStretch& visit,
                                              const BeforeForgetting& before_forgetting = {});

// By user and owner: result[u][o], as long as `organizations`, without accounts and users.
using OwnerMatrix = std::vector<std::vector<CpuTime>>;
[[nodiscard]] OwnerMatrix matrix_of(const Held& held, std::size_t organizations);

// The estimators that is_exact() needs, and the wanted one.
[[nodiscard]] accounting::EstimatorSet needed_for_stretches(accounting::EstimatorId wanted);
// Whether what was held agrees with what every organization got and gave by the books.
[[nodiscard]] bool is_exact(const Stretch& stretch);

}  // namespace shapley::ledger
