// When shapleyd states anew by which mean residual run time the key counts what runs (game/serving_order.hpp). Pure.
//
// A statement changes ranks without anything having started or ended, and everybody who audits them must find it in the
// ledger. So there is one at first, as soon as enough runs have ended for a mean, and later only where the mean has
// moved by much, once a day at most.
//
// The mean is taken to be ten minutes at least. Ranks follow what happened after a scan, an acknowledgement and one of
// slurmctld's passes, some seconds to a minute. What starts has to count for longer than that: with the weight of .1
// the lead of an organization makes up for what it lacks within a * m seconds, and a loop that corrects faster than it
// sees swings (docs/benchmarks.md, "Places").
#pragma once

#include <optional>
#include <span>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "ledger/readers/runs.hpp"

namespace shapley::daemon {

// Of fewer runs no mean is stated.
inline constexpr std::int64_t k_fewest_measured_runs = 20;

inline constexpr Duration k_shortest_residual{600};

// The mean residual run time over runs that have ended, k_shortest_residual to 365 days, and how many these are.
struct MeasuredResidual {
  Duration residual;
  std::int64_t runs = 0;
  friend bool operator==(const MeasuredResidual&, const MeasuredResidual&) = default;
};

// nullopt: fewer than k_fewest_measured_runs have ended, or none of them lasted a second.
[[nodiscard]] std::optional<MeasuredResidual> measured_residual(std::span<const ledger::Run> runs);

// What is to be stated. `last`: the last statement on record, nullptr for none. With one there is nothing to say unless
// the mean has moved by more than a fifth of it. Two statements never have one instant.
[[nodiscard]] std::optional<accounting::ResidualMeasured> residual_statement(Instant now,
                                                                             const accounting::ResidualMeasured* last,
                                                                             const MeasuredResidual& measured);

// When to measure: once a minute until there is a statement; then a day after the last statement and the last look.
class ResidualWatch {
 public:
  // `last` as above.
  [[nodiscard]] bool is_due(Instant now, const accounting::ResidualMeasured* last) const;
  void note_look(Instant now) { last_look_ = now; }

 private:
  std::optional<Instant> last_look_;  // of this process
};

}  // namespace shapley::daemon
