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
#include <optional>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/node_use.hpp"

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
  // By OrgId, as long as there were organizations:
  std::vector<CpuTime> waited;       // what its startable jobs asked for, times how long
  std::vector<CpuTime> offered;      // its processors, times how long
  std::vector<CpuTime> idle_wanted;  // what of them was idle while startable jobs asked for it (IdleSweep)
  std::optional<NodeUse> use = {};   // where it is asked for
};

// What startable jobs asked for of idle processors. At each instant it is the smaller one of both sums, of all owners'
// idle processors and of all waiting jobs, and each owner's part of it is as its part of the idle processors, rounded
// down to the millionth of a processor. Whether a job could have used these very processors is not asked.
class IdleSweep {
 public:
  // Processors are idle, or no longer (negative), or asked for, during [begin, end).
  void idle(OrgId owner, ProcessorMillionths processors, Instant begin, Instant end);
  void waits(ProcessorMillionths processors, Instant begin, Instant end);
  // Adds what was asked for of each owner's. REQUIRES: it is as long as there are organizations.
  void add_wanted(std::vector<CpuTime>& wanted) &&;

 private:
  struct Change {
    Instant at;
    std::optional<OrgId> owner;  // nullopt: of what is asked for
    Int128 delta;
  };
  std::vector<Change> changes_;
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
  bool with_use = false;           // Stretch::use
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
