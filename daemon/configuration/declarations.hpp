// The declarations of organizations, periods and ownership that a configuration adds to the ledger.
//
// The past is not rewritten: except at the first start with a new ledger, statements are effective from the load on. A
// date in the file that is before the load and not in the ledger takes effect at the load, with a warning. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/books/books.hpp"
#include "ledger/readers/runs.hpp"

namespace shapley::daemon {

struct Declarations {
  std::vector<accounting::Event> events;
  std::vector<std::string> warnings;
};

// The events in the order in which they have to be appended; none if the ledger contains the same already. `now` is
// moved past the last recorded declaration if both would be in the same second. At the first start (the ledger has no
// declaration) ownership is declared from the beginning of time, so that all dates of the file are effective. `keys`:
// the fingerprints of the other clusters' public keys, in the configuration's order.
[[nodiscard]] Declarations declare(const config::Configuration& configuration, const std::string& text,
                                   const Declared& declared, Instant now, const std::vector<std::string>& keys = {});

// Decides when shapleyd records a new mean residual run time, by which the key counts running jobs
// (game/serving_order.hpp). Pure.
//
// A new value changes ranks although no job has started or ended, and must be in the ledger for an auditor. So the
// first one is recorded as soon as enough runs have ended for a mean, and later ones only if the mean has changed much,
// at most once a day.
//
// The least mean is ten minutes. Ranks follow a change after a scan, an acknowledgement and one of slurmctld's passes,
// which takes some seconds to a minute. A started job has to count for longer than that: with a weight a of .1 an
// organization makes up for its lag within a * m seconds, and a control loop that corrects faster than it observes
// oscillates (docs/benchmarks.md, "Places").

// With fewer runs no mean is recorded.
inline constexpr std::int64_t k_fewest_measured_runs = 20;

inline constexpr Duration k_shortest_residual{600};

// The mean residual run time over runs that have ended, from k_shortest_residual to 365 days, and the number of these
// runs.
struct MeasuredResidual {
  Duration residual;
  std::int64_t runs = 0;
  friend bool operator==(const MeasuredResidual&, const MeasuredResidual&) = default;
};

// nullopt: fewer than k_fewest_measured_runs have ended, or none of them lasted a second.
[[nodiscard]] std::optional<MeasuredResidual> measured_residual(std::span<const ledger::EndedRun> runs);

// The event to record. `last`: the last recorded one, nullptr for none. If there is one, a new event is recorded only
// if the mean has changed by more than a fifth. No two events have the same instant.
[[nodiscard]] std::optional<accounting::ResidualMeasured> residual_statement(Instant now,
                                                                             const accounting::ResidualMeasured* last,
                                                                             const MeasuredResidual& measured);

// When to measure: once a minute until there is an event; then a day after the last event and the last measurement.
class ResidualWatch {
 public:
  // `last` as above.
  [[nodiscard]] bool is_due(Instant now, const accounting::ResidualMeasured* last) const;
  void note_look(Instant now) { last_look_ = now; }

 private:
  std::optional<Instant> last_look_;  // of this process
};

// The mean residual run time, weighted by processors: sum(q d^2) / (2 sum(q d)) over ended runs of q processors and d
// seconds, rounded down. nullopt: none lasted a second.
[[nodiscard]] std::optional<Duration> mean_residual_run_time(std::span<const ledger::EndedRun> runs);

}  // namespace shapley::daemon
