// The observer: compares slurmctld's records with the books, and returns the events that the books lack.
//
// Pure: it reads the State and returns events, and keeps no state between calls. So the same record again, or an older
// one, yields no events, and a restart of either side needs no hand-over: the books are the memory.
//
// Times are Slurm's own wherever a record has them. All rules serve one invariant: after the events of a record are
// applied, the run seconds of the record's run in the books equal those that Slurm counts
// (docs/internals/plugin.md#exact-times; pre_suspend_run_s up to suspend_time, and what ran since).
//
// All times have a resolution of seconds. A record that differs from the books only by changes within the second of its
// observation cannot be distinguished from an older one; it yields no events and is `unsettled`: the caller observes it
// again as of the next second, unless a newer record of the job arrived meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/observer/charging.hpp"
#include "daemon/observer/run_writer.hpp"
#include "protocol/classifier.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// The settings of the configuration for reading records.
struct ReadingRules {
  protocol::Classifier classifier;
  Charging charging;
};

struct Observation {
  std::vector<accounting::Event> events;
  std::vector<std::string> warnings;  // each names the job or node
  bool unsettled = false;
  bool mistimed = false;  // the record has times of a wrong clock; there are no events
  LostRuns lost = {};     // runs that it closes or retracts because slurmctld lost them
};

// The time at which a record was read. `previous` is the last instant for which the books contain every record:
// differences from the books happened in (previous, at]. `last_look`: the last look at slurmctld's records before it
// came back, while its remaining jobs are unknown; nullopt: it did not go away. `reliable_since`: slurmctld wrote times
// under a wrong clock until then; nullopt: it did not.
struct Scan {
  Instant at;
  Instant previous = k_beginning_of_time;
  std::optional<Instant> last_look = std::nullopt;
  std::optional<Instant> reliable_since = std::nullopt;
};

// Further input for reading a record. `past`: segments of a run that began before the State's memory horizon.
// `kinds`: of nodes (charging.hpp); without them a waiting job asks for CPUs.
struct Background {
  std::vector<PastSegment> past = {};
  Kinds kinds = {};
};

// One record of job_list.
[[nodiscard]] Observation observe_job(const accounting::State& books, const protocol::JobUpdate& record, Scan scan,
                                      const ReadingRules& rules, const Background& background = {});

// A job whose record is mistimed, because it began, ended or was suspended while the clock was wrong from `begin` to
// `end`. The books have everything from before, so what they lack of the run cannot be known from the record; Slurm's
// accounting may have it, with times that are put right. A run that is open since before `begin` ends there, as one
// whose end was not seen. A run since later, which shapleyctl import has added, ends with the record, if that has an
// end since `end`. After an import since `end` the books have all that Slurm's accounting has, and a run that is open
// goes on.
struct WrongClock {
  Instant begin;
  Instant end;
  bool is_imported = false;
};
[[nodiscard]] Observation observe_mistimed(const accounting::State& books, const protocol::JobUpdate& record,
                                           Instant at, const WrongClock& clock);

// The reason why slurmctld no longer has a job. `purged`: it ended, and its record was purged before a scan.
// `forgotten`: slurmctld was killed before it saved that the job existed, or lost what it had saved.
enum class Departure { purged, forgotten };

// A job that slurmctld no longer has. Its open segments end at `last_alive`, the last instant at which it was known to
// exist, so that only observed time is charged. The open run of a forgotten job is retracted if it began within
// k_few_saves before that.
[[nodiscard]] Observation observe_gone(const accounting::State& books, JobId job, Instant last_alive,
                                       Departure departure = Departure::purged);

// One node. `last_change` is the instant of its last CapacityChanged, if the caller knows it.
[[nodiscard]] Observation observe_node(const accounting::State& books, const protocol::NodeRecord& record,
                                       Instant observed_at, std::optional<Instant> last_change,
                                       const ReadingRules& rules);

// A node that slurmctld no longer has offers nothing from `observed_at` on.
[[nodiscard]] Observation observe_gone_node(const accounting::State& books, const std::string& node,
                                            Instant observed_at, std::optional<Instant> last_change);

}  // namespace shapley::daemon
