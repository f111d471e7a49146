// Corrections of the books: what an administrator may ask, and the events that it takes.
//
// Nothing is edited. An adjustment is an event of its own (accounting::AdjustmentMade) and, right behind it, the facts
// that make it effective; these are facts like all others, so books, estimators, checkpoints, archives and audits know
// nothing of adjustments. Planning reads the ledger's tables only. All that can be refused is refused here, before
// anything is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// More runs are restated by several adjustments, so that the feeder does not wait long for one of them.
inline constexpr std::int64_t k_most_adjusted_runs = 20'000;

// Runs of one job (all tasks of an array, all parts of a heterogeneous one), of one task or part, of an account or of a
// user that began in [since, until) become another organization's, and the waits that led to them. Exactly one of job,
// account and user_id is there.
struct AttributionAsked {
  std::optional<JobId> job;           // with `task` or `part`: the array's, the heterogeneous job's
  std::optional<std::uint32_t> task;  // of the array `job`
  std::optional<std::uint32_t> part;  // of the heterogeneous job `job`, from 0; not both
  std::optional<std::string> account;
  std::optional<std::uint32_t> user_id;
  std::optional<Instant> since;  // account and user: both are there
  std::optional<Instant> until;
  std::string into;
};
constexpr auto description_of(std::type_identity<AttributionAsked>) {
  return describe(supplement("job", &AttributionAsked::job), supplement("task", &AttributionAsked::task),
                  supplement("part", &AttributionAsked::part), supplement("account", &AttributionAsked::account),
                  supplement("user_id", &AttributionAsked::user_id), supplement("since", &AttributionAsked::since),
                  supplement("until", &AttributionAsked::until), member("into", &AttributionAsked::into));
}

// Who owned nodes in [since, until), agreed afterwards.
struct OwnershipAsked {
  std::string nodes;  // in Slurm's notation
  std::vector<accounting::OwnerPart> owners;
  Instant since;
  std::optional<Instant> until;  // nullopt: now. Later is for the configuration to say.
};
constexpr auto description_of(std::type_identity<OwnershipAsked>) {
  return describe(member("nodes", &OwnershipAsked::nodes), member("owners", &OwnershipAsked::owners),
                  member("since", &OwnershipAsked::since), supplement("until", &OwnershipAsked::until));
}

// The row of one organization becomes a part of another's.
struct JoinAsked {
  accounting::AdjustmentKind kind = accounting::AdjustmentKind::rename;  // or merge
  std::string organization;
  std::string into;
};

struct ReversalAsked {
  std::uint32_t number = 0;
};

struct AdjustmentAsked {
  std::variant<AttributionAsked, OwnershipAsked, JoinAsked, ReversalAsked> what;
  std::string author;
  std::string reason;
};

struct AdjustmentPlan {
  accounting::AdjustmentMade made;
  std::vector<accounting::Event> facts;  // those that follow it
  CpuTime work;                          // that the runs have done so far: charged processors times seconds

  // All of it, as it is appended: in one transaction.
  [[nodiscard]] std::vector<accounting::Event> events() const;
};

// `books`: those of the ledger, for names and earlier adjustments. Errors say what to do instead:
// Errc::invalid_argument (no reason, unknown organization, node or adjustment, a date in the future, no run to
// correct), Errc::conflict (what was corrected again since, a configuration that still has the old name), Errc::limit
// (too many runs), Errc::denied (it is archived), Errc::io, Errc::corrupt.
[[nodiscard]] Expected<AdjustmentPlan> plan_adjustment(const Ledger& ledger, const accounting::State& books,
                                                       const AdjustmentAsked& asked, Instant now);

}  // namespace shapley::ledger
