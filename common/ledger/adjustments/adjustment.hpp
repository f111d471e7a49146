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
#include "reports/adjustments.hpp"

namespace shapley::ledger {

// To restate more runs takes several adjustments, so that the feeder does not wait long for one of them.
inline constexpr std::int64_t k_most_adjusted_runs = 20'000;

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
