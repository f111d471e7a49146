// Corrections of the books: what an administrator may ask for, and the events that a correction consists of.
//
// Nothing is edited. An adjustment is an event of its own (accounting::AdjustmentMade), followed by the facts that make
// it effective; these are facts like all others, so books, estimators, checkpoints, archives and audits need no special
// case for adjustments. Planning reads the ledger's tables only. Everything that can be refused is refused here, before
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

// To restate more runs takes several adjustments, so that the feeder does not wait long for one of them.
inline constexpr std::int64_t k_most_adjusted_runs = 20'000;

// Moves runs that began in [since, until) to another organization, and the waits that led to them: the runs of one job
// (all tasks of an array, all parts of a heterogeneous one), of one task or part, of an account or of a user. Exactly
// one of job, account and user_id is set.
struct AttributionAsked {
  std::optional<JobId> job;           // with `task` or `part`: the job of the array or of the heterogeneous job
  std::optional<std::uint32_t> task;  // of the array `job`
  std::optional<std::uint32_t> part;  // of the heterogeneous job `job`, from 0; not both
  std::optional<std::string> account;
  std::optional<std::uint32_t> user_id;
  std::optional<Instant> since;  // required with account and user_id
  std::optional<Instant> until;
  std::string into;
};
constexpr auto description_of(std::type_identity<AttributionAsked>) {
  return describe(supplement("job", &AttributionAsked::job), supplement("task", &AttributionAsked::task),
                  supplement("part", &AttributionAsked::part), supplement("account", &AttributionAsked::account),
                  supplement("user_id", &AttributionAsked::user_id), supplement("since", &AttributionAsked::since),
                  supplement("until", &AttributionAsked::until), member("into", &AttributionAsked::into));
}

// The owners of nodes in [since, until), as agreed afterwards.
struct OwnershipAsked {
  std::string nodes;  // in Slurm's notation
  std::vector<accounting::OwnerPart> owners;
  Instant since;
  std::optional<Instant> until;  // nullopt: now. Later changes are made in the configuration
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

// Work that was agreed on and that no run did (accounting::WorkSettled): `from` gave it, `to` got it.
struct SettlementAsked {
  std::string from;
  std::string to;
  CpuTime work;  // > 0
  Instant at;    // not in the future
};
constexpr auto description_of(std::type_identity<SettlementAsked>) {
  return describe(member("from", &SettlementAsked::from), member("to", &SettlementAsked::to),
                  member("processor_seconds", &SettlementAsked::work), member("at", &SettlementAsked::at));
}

struct ReversalAsked {
  std::uint32_t number = 0;
};

struct AdjustmentAsked {
  std::variant<AttributionAsked, OwnershipAsked, JoinAsked, SettlementAsked, ReversalAsked> what;
  std::string author;
  std::string reason;
};

struct AdjustmentPlan {
  accounting::AdjustmentMade made;
  std::vector<accounting::Event> facts;  // the events that follow it
  CpuTime work;                          // that the runs have done so far: charged processors times seconds

  // The adjustment and its facts, as they are appended: in one transaction.
  [[nodiscard]] std::vector<accounting::Event> events() const;
};

// `books`: those of the ledger, for names and earlier adjustments. Errors say what to do instead:
// Errc::invalid_argument (no reason, unknown organization, node or adjustment, a date in the future, no run to
// correct), Errc::conflict (it was corrected again since, or a configuration still has the old name), Errc::limit (too
// many runs), Errc::denied (it is archived), Errc::io, Errc::corrupt.
[[nodiscard]] Expected<AdjustmentPlan> plan_adjustment(const Ledger& ledger, const accounting::State& books,
                                                       const AdjustmentAsked& asked, Instant now);

}  // namespace shapley::ledger
