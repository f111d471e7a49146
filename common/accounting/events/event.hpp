// Events: everything the books know. The ledger stores them, State folds them, nothing else changes the books.
//
// An event is a fact with its own time, never an observation time where Slurm's record has an exact one. Each has an
// identity (event_key): two events with one identity are the same fact, so applying one twice changes nothing, and any
// order of the same set of events gives the same books.
//
// A kind of event is its struct, its description (base/description.hpp) and its place in `Event`, all in this file;
// those of jobs and their segments are in job_events.hpp, those about other clusters in consortium_events.hpp,
// corrections in adjustment_events.hpp.
//
// Units: see base/types.hpp. Organizations are named, not numbered, in events, so that a ledger can be read by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "accounting/events/adjustment_events.hpp"
#include "accounting/events/consortium_events.hpp"
#include "accounting/events/job_events.hpp"
#include "base/calendar.hpp"
#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// Names of the two rows that are always in the books: jobs of no organization, nodes of no organization.
inline constexpr std::string_view k_guests = "guests";
inline constexpr std::string_view k_commons = "commons";

// The organizations of the configuration in its order (ties of ranks go to the first). In force from `at` until the
// next such event. An organization not named before joins the books; one no longer named keeps its row and rank order
// after the named ones. guests and commons are implied and come last.
struct OrganizationsDeclared {
  Instant at;
  std::vector<std::string> names;
  friend bool operator==(const OrganizationsDeclared&, const OrganizationsDeclared&) = default;
};
constexpr auto description_of(std::type_identity<OrganizationsDeclared>) {
  return describe("organizations_declared", member<Role::identity_and_time>("at", &OrganizationsDeclared::at),
                  member("names", &OrganizationsDeclared::names));
}

inline constexpr std::int64_t k_whole_node = 1'000'000;  // parts per million

// One owner's part of a node in parts per million. What the parts leave of the whole node belongs to commons.
struct OwnerPart {
  std::string organization;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const OwnerPart&, const OwnerPart&) = default;
};
constexpr auto description_of(std::type_identity<OwnerPart>) {
  return describe("part", member("organization", &OwnerPart::organization),
                  member("parts_per_million", &OwnerPart::parts_per_million));
}

struct OwnershipSpan {
  Instant from;
  std::vector<OwnerPart> owners;  // empty: commons. Each organization once; parts > 0, sum <= 1,000,000.
  friend bool operator==(const OwnershipSpan&, const OwnershipSpan&) = default;
};
constexpr auto description_of(std::type_identity<OwnershipSpan>) {
  return describe("span", member("from", &OwnershipSpan::from), member("owners", &OwnershipSpan::owners));
}

// Who owns `node` at every instant from `effective` on, as agreed at `effective`: spans ascending by `from`, the last
// one open. It replaces what earlier statements said about instants >= effective and leaves the past alone. Spans may
// begin before `effective` (they hold from `effective` on) or after it (a dated hand-over that is already known).
// `revision` is the number of the adjustment that restates it, 0: none; of several with one node and `effective` the
// one of the highest revision holds, and the others do not.
struct OwnershipStated {
  std::string node;
  Instant effective;
  std::vector<OwnershipSpan> spans;
  std::uint32_t revision = 0;
  friend bool operator==(const OwnershipStated&, const OwnershipStated&) = default;
};
constexpr auto description_of(std::type_identity<OwnershipStated>) {
  return describe("ownership_stated", member<Role::identity>("node", &OwnershipStated::node),
                  member<Role::identity_and_time>("effective", &OwnershipStated::effective),
                  member("spans", &OwnershipStated::spans),
                  member<Role::identity_supplement>("revision", &OwnershipStated::revision))
      .kept("statement");
}

// From `at` on the node offers `processors` (0: down, drained or gone). `ordinal` orders several changes of one second.
// `whole` is the worth of the whole node, offered or not: the runs there are together charged no more. 0: not known;
// then nothing is shared. `cpus`, `memory` and `gres` are the basis of its worth and of the charge of runs.
//
// Where runs are charged something else than what they block (game/blocked.hpp), `usable_cpus` says how many CPUs jobs
// may use now: all, or 0 (down, drained or gone). What is owned, used, lent and borrowed of the node is then counted in
// CPUs. nullopt: it is counted by `processors`, `whole` and the charges of runs.
struct CapacityChanged {
  std::string node;
  Instant at;
  std::uint32_t ordinal = 0;
  ProcessorMillionths processors{};
  ProcessorMillionths whole{};
  std::uint32_t cpus = 0;           // that jobs may use
  std::int64_t memory = 0;          // MiB that jobs may use
  std::vector<Resource> gres = {};  // configured, ascending by name
  std::optional<std::uint32_t> usable_cpus = std::nullopt;
  friend bool operator==(const CapacityChanged&, const CapacityChanged&) = default;
};
constexpr auto description_of(std::type_identity<CapacityChanged>) {
  return describe("capacity_changed", member<Role::identity>("node", &CapacityChanged::node),
                  member<Role::identity_and_time>("at", &CapacityChanged::at),
                  member<Role::identity>("ordinal", &CapacityChanged::ordinal),
                  member("processors", &CapacityChanged::processors),
                  member<Role::supplement>("whole", &CapacityChanged::whole),
                  member<Role::supplement>("cpus", &CapacityChanged::cpus),
                  member<Role::supplement>("memory", &CapacityChanged::memory),
                  member<Role::supplement>("gres", &CapacityChanged::gres),
                  member<Role::supplement>("usable_cpus", &CapacityChanged::usable_cpus));
}

// Periods in force from `at` on; the boundary of the old rule that is under way is replaced by the new rule's next one.
struct PeriodDeclared {
  Instant at;
  Period period = Period::none;
  friend bool operator==(const PeriodDeclared&, const PeriodDeclared&) = default;
};
constexpr auto description_of(std::type_identity<PeriodDeclared>) {
  return describe("period_declared", member<Role::identity_and_time>("at", &PeriodDeclared::at),
                  member("period", &PeriodDeclared::period));
}

// The configuration in force from `at`, as text, so that members can read the rules that made the books.
struct ConfigurationLoaded {
  Instant at;
  std::string text;
  friend bool operator==(const ConfigurationLoaded&, const ConfigurationLoaded&) = default;
};
constexpr auto description_of(std::type_identity<ConfigurationLoaded>) {
  return describe("configuration_loaded", member<Role::identity_and_time>("at", &ConfigurationLoaded::at),
                  member("text", &ConfigurationLoaded::text));
}

// One organization's own part of the guarantee, in parts per million of the processors that it owns.
struct GuaranteedPart {
  std::string organization;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const GuaranteedPart&, const GuaranteedPart&) = default;
};
constexpr auto description_of(std::type_identity<GuaranteedPart>) {
  return describe("guaranteed", member("organization", &GuaranteedPart::organization),
                  member("parts_per_million", &GuaranteedPart::parts_per_million));
}

// Where the jobs of no organization stand: by their key, as an organization's do, or after those of every organization.
enum class Guests : std::uint8_t { ranked, last };

// What ranks look at: a horizon ahead (game/serving_order.hpp), or how far there is to brake (game/braking.hpp).
enum class KeyRule : std::uint8_t { horizon, braking };

// The rule of ranks in force from `at` until the next such event: the estimator of phi, the part that is guaranteed to
// every organization except those in `exceptions` (ascending by name, each once), where guests stand, and what ranks
// look at; with KeyRule::horizon also how many seconds ahead (0: the published rule) and how much what runs counts,
// which are 0 with another one. The books do not depend on it; it is recorded to show by which rule ranks were made.
struct RankingDeclared {
  Instant at;
  std::string contribution;
  std::int64_t horizon = 0;
  std::int64_t guarantee = 0;  // parts per million, 0 to 1,000,000
  std::vector<GuaranteedPart> exceptions;
  std::int64_t running_weight = 0;  // parts per million, 0 to 1,000,000
  Guests guests = Guests::ranked;
  KeyRule rule = KeyRule::horizon;
  friend bool operator==(const RankingDeclared&, const RankingDeclared&) = default;
};
constexpr auto description_of(std::type_identity<RankingDeclared>) {
  return describe("ranking_declared", member<Role::identity_and_time>("at", &RankingDeclared::at),
                  member("contribution", &RankingDeclared::contribution), member("horizon", &RankingDeclared::horizon),
                  member("guarantee", &RankingDeclared::guarantee), member("exceptions", &RankingDeclared::exceptions),
                  member<Role::supplement>("running_weight", &RankingDeclared::running_weight),
                  member<Role::supplement>("guests", &RankingDeclared::guests),
                  member<Role::supplement>("rule", &RankingDeclared::rule))
      .kept("ranking");
}

// The mean residual run time by which the key counts what runs (m of game/serving_order.hpp), in force from `at` until
// the next such event, as shapleyd measured it over the runs that ended last. The books do not depend on it; it is
// recorded to show how ranks were made.
struct ResidualMeasured {
  Instant at;
  std::int64_t seconds = 0;  // > 0
  std::int64_t runs = 0;     // number of runs that it was measured over
  friend bool operator==(const ResidualMeasured&, const ResidualMeasured&) = default;
};
constexpr auto description_of(std::type_identity<ResidualMeasured>) {
  return describe("residual_measured", member<Role::identity_and_time>("at", &ResidualMeasured::at),
                  member("seconds", &ResidualMeasured::seconds), member("runs", &ResidualMeasured::runs))
      .kept("residual");
}

// The worth of a CPU of these nodes.
struct NodeWeight {
  std::string nodes;        // as the configuration writes them
  std::int64_t weight = 1;  // > 0
  friend bool operator==(const NodeWeight&, const NodeWeight&) = default;
};
constexpr auto description_of(std::type_identity<NodeWeight>) {
  return describe("node_weight", member("nodes", &NodeWeight::nodes), member("weight", &NodeWeight::weight));
}

// The rule by which runs are charged from `at` on, until the next such event (docs/reference/configuration.md,
// `charge`). What was booked stays: segments say what they were charged, capacities what nodes are worth.
struct ChargeDeclared {
  Instant at;
  std::string charge;             // "dominant", "cpu", "weights", "billing"
  std::vector<Resource> weights;  // for the charge `weights`: what one unit of a resource counts; ascending by name
  std::vector<NodeWeight> node_weights;
  friend bool operator==(const ChargeDeclared&, const ChargeDeclared&) = default;
};
constexpr auto description_of(std::type_identity<ChargeDeclared>) {
  return describe("charge_declared", member<Role::identity_and_time>("at", &ChargeDeclared::at),
                  member("charge", &ChargeDeclared::charge), member("weights", &ChargeDeclared::weights),
                  member("node_weights", &ChargeDeclared::node_weights))
      .kept("charge");
}

// From `at` on jobs with this placement may use these nodes and no others; before the first such event, none. A
// placement is the text of what jobs ask of their nodes, in Slurm's terms ("partition=batch nodes=n1"), so many waits
// share it. `ordinal` orders several changes of one second.
struct PlacementResolved {
  std::string placement;
  Instant at;
  std::uint32_t ordinal = 0;
  std::string nodes;  // in Slurm's notation ("n[1-4],gpu1"); empty: none
  friend bool operator==(const PlacementResolved&, const PlacementResolved&) = default;
};
constexpr auto description_of(std::type_identity<PlacementResolved>) {
  return describe("placement_resolved", member<Role::identity>("placement", &PlacementResolved::placement),
                  member<Role::identity_and_time>("at", &PlacementResolved::at),
                  member<Role::identity>("ordinal", &PlacementResolved::ordinal),
                  member("nodes", &PlacementResolved::nodes));
}

// Observations that were made under a wrong clock. Not written any more: only ledgers of version 1.0 have it. The books
// do not depend on it; it says with which times they were read, or what the books lack. Identity: `at`, `message`.
struct ObservationsMistimed {
  Instant at;                 // when the wrong clock was found
  std::int64_t message = 0;   // the number of the last of their messages
  std::int64_t messages = 0;  // how many
  Instant since;              // when the first of them arrived
  Instant observed_from;      // the earliest and the latest time at which they claim to have been made
  Instant observed_to;
  Duration ahead;  // seconds that the clock was ahead (negative: behind), which were subtracted; 0: not known, so
                   // the observations were not read
  friend bool operator==(const ObservationsMistimed&, const ObservationsMistimed&) = default;
};
constexpr auto description_of(std::type_identity<ObservationsMistimed>) {
  return describe("observations_mistimed", member<Role::identity_and_time>("at", &ObservationsMistimed::at),
                  member<Role::identity>("message", &ObservationsMistimed::message),
                  member("messages", &ObservationsMistimed::messages), member("since", &ObservationsMistimed::since),
                  member("observed_from", &ObservationsMistimed::observed_from),
                  member("observed_to", &ObservationsMistimed::observed_to),
                  member("ahead", &ObservationsMistimed::ahead))
      .kept("mistimed");
}

// With two controllers, whether the other one answered before this one began to write, so that its whole ledger was
// taken over.
enum class PeerAnswer : std::uint8_t { answered, silent };

// From `at` on the shapleyd on `host` writes this ledger, because the plugin of the slurmctld there feeds it. It
// continues after the event `after` of that hash (hexadecimal; zeros: no event). The books do not depend on it.
struct ControllerBegan {
  std::int64_t after = 0;
  Instant at;
  std::string hash;
  std::string host;
  PeerAnswer peer = PeerAnswer::answered;
  friend bool operator==(const ControllerBegan&, const ControllerBegan&) = default;
};
constexpr auto description_of(std::type_identity<ControllerBegan>) {
  return describe("controller_began", member<Role::identity>("after", &ControllerBegan::after),
                  member<Role::time>("at", &ControllerBegan::at), member("hash", &ControllerBegan::hash),
                  member("host", &ControllerBegan::host), member("peer", &ControllerBegan::peer))
      .kept("beginning");
}

// Why slurmctld's records were not read for a time. slurmctld_down: there is no sign that slurmctld ran then, so
// nothing can have started. unobserved: it ran for at least a part of the time, without the plugin. dropped: the plugin
// made more observations than it can keep while shapleyd did not accept them. wrong_clock: the wall clock was wrong, so
// that slurmctld wrote wrong times. events_lost: the records were read, and the ledger lost what it had of that time:
// it was restored from a copy, or its log was damaged.
enum class GapCause : std::uint8_t { slurmctld_down, unobserved, dropped, wrong_clock, events_lost };

// From `begin`, or a little later, to `end` no process read slurmctld's records. The books do not depend on it: what
// the records still show afterwards is booked with Slurm's own times. Runs whose records were overwritten or purged
// within the gap are missing (requeued ones at once, ended ones after MinJobAge), as are waits, and changes of nodes
// that were undone. After a wrong clock all runs are missing that began within the gap, and ends within it.
struct ObservationGap {
  Instant begin;
  Instant end;  // > begin
  GapCause cause = GapCause::slurmctld_down;
  friend bool operator==(const ObservationGap&, const ObservationGap&) = default;
};
constexpr auto description_of(std::type_identity<ObservationGap>) {
  return describe("observation_gap", member<Role::identity>("begin", &ObservationGap::begin),
                  member<Role::identity_and_time>("end", &ObservationGap::end), member("cause", &ObservationGap::cause))
      .kept("gap");
}

// slurmctld came back without records that it had had: without the state that it saves (`slurmctld -c`, a lost
// StateSaveLocation), or killed before it saved. `closed` runs had begun more than a few saves before `seen`, when they
// were seen last: they end there, with so many processor-seconds until then. `retracted` runs had begun later, so that
// Slurm may have no record of them; they count for nothing. `at` is when the loss was detected. The books do not depend
// on it: what it counts are facts of their own, stored before it.
struct StateLost {
  Instant at;
  Instant seen;  // <= at
  std::int64_t closed = 0;
  std::int64_t closed_seconds = 0;  // processor-seconds
  std::int64_t retracted = 0;
  std::int64_t retracted_seconds = 0;  // processor-seconds
  friend bool operator==(const StateLost&, const StateLost&) = default;
};
constexpr auto description_of(std::type_identity<StateLost>) {
  return describe("state_lost", member<Role::identity_and_time>("at", &StateLost::at), member("seen", &StateLost::seen),
                  member("closed", &StateLost::closed), member("closed_seconds", &StateLost::closed_seconds),
                  member("retracted", &StateLost::retracted),
                  member("retracted_seconds", &StateLost::retracted_seconds))
      .kept("state_loss");
}

// The books are those of the cluster of this ClusterName, from `at` on until the next such event: the name that the
// first feeder reported, or one that an administrator set after a renaming. No other cluster's records are read. The
// books do not depend on it.
struct ClusterNamed {
  Instant at;
  std::string cluster;
  std::string author;  // "the first feeder", or as the kernel reports: "uid 0 (root)"
  std::string reason;  // empty: the first feeder named it
  friend bool operator==(const ClusterNamed&, const ClusterNamed&) = default;
};
constexpr auto description_of(std::type_identity<ClusterNamed>) {
  return describe("cluster_named", member<Role::identity_and_time>("at", &ClusterNamed::at),
                  member("cluster", &ClusterNamed::cluster), member("author", &ClusterNamed::author),
                  member("reason", &ClusterNamed::reason))
      .kept("cluster");
}

// Bytes of the longest name of a user.
inline constexpr std::size_t k_most_user_name = 255;

// From `at` on until the next such event the user of this number is called so where the jobs come from. The books do
// not depend on it; papers name users by it, wherever they are made.
struct UserNamed {
  Instant at;
  std::uint32_t user_id = 0;
  std::string name;
  friend bool operator==(const UserNamed&, const UserNamed&) = default;
};
constexpr auto description_of(std::type_identity<UserNamed>) {
  return describe("user_named", member<Role::identity_and_time>("at", &UserNamed::at),
                  member<Role::identity>("user_id", &UserNamed::user_id), member("name", &UserNamed::name))
      .kept("user");
}

// Runs that no shapleyd observed, from an export of Slurm's accounting: their own events are stored right before this
// one, in the same transaction or, in a new ledger, in all of it. The books do not depend on it; it is recorded to show
// where those runs come from. Identity: `at`, `sha256`.
struct HistoryImported {
  Instant at;              // when the import was made
  std::string file;        // name of the export
  std::string sha256;      // of its bytes, hexadecimal
  std::int64_t rows = 0;   // number of jobs in it
  std::int64_t runs = 0;   // number of runs that were imported
  std::int64_t known = 0;  // number of runs that the ledger had already
  Instant since;           // the earliest start and the latest end of what was imported
  Instant until;
  std::string author;  // who did it, as the kernel reports: "uid 0"
  std::string reason;
  friend bool operator==(const HistoryImported&, const HistoryImported&) = default;
};
constexpr auto description_of(std::type_identity<HistoryImported>) {
  return describe("history_imported", member<Role::identity_and_time>("at", &HistoryImported::at),
                  member("file", &HistoryImported::file), member<Role::identity>("sha256", &HistoryImported::sha256),
                  member("rows", &HistoryImported::rows), member("runs", &HistoryImported::runs),
                  member("known", &HistoryImported::known), member("since", &HistoryImported::since),
                  member("until", &HistoryImported::until), member("author", &HistoryImported::author),
                  member("reason", &HistoryImported::reason))
      .kept("import");
}

// The coalitions for which hindsight keeps what they would have done alone: all of them, those that phi by pairs needs
// (the ones of 1, 2, k-2 and k-1 players, and of all), or none.
enum class Coalitions : std::uint8_t { all, pairs, none };

// From `at` on hindsight keeps only these coalitions, because the former ones took `needed` bytes of memory, more than
// the `bound` that is allowed. This is permanent, for all periods that are not closed.
struct HindsightBounded {
  Instant at;
  Coalitions coalitions = Coalitions::pairs;  // not all
  std::int64_t needed = 0;
  std::int64_t bound = 0;
  friend bool operator==(const HindsightBounded&, const HindsightBounded&) = default;
};
constexpr auto description_of(std::type_identity<HindsightBounded>) {
  return describe("hindsight_bounded", member<Role::identity_and_time>("at", &HindsightBounded::at),
                  member("coalitions", &HindsightBounded::coalitions), member("needed", &HindsightBounded::needed),
                  member("bound", &HindsightBounded::bound))
      .kept("bounded");
}

// How jobs start in the virtual schedules of hindsight: any part of them as capacity becomes free, or the whole job.
enum class JobsStart : std::uint8_t { parts, whole };

// Kinds that HindsightDefined can list. What is in none of them is a kind, too.
inline constexpr std::size_t k_most_listed_kinds = 63;

// The definition of hindsight in force from `at` until the next such event, for requests released since then: how jobs
// start, and which nodes are alike for placing them (ownership/kinds.hpp), by the number of the kind: kind 1 is the
// first one. Before the first such event jobs start in parts, and all nodes are of kind 0, as are afterwards the nodes
// that are not listed.
struct HindsightDefined {
  Instant at;
  JobsStart jobs = JobsStart::whole;
  std::vector<std::string> kinds;  // in Slurm's notation ("n[1-4],gpu1"), no node twice; empty: no nodes
  friend bool operator==(const HindsightDefined&, const HindsightDefined&) = default;
};
constexpr auto description_of(std::type_identity<HindsightDefined>) {
  return describe("hindsight_defined", member<Role::identity_and_time>("at", &HindsightDefined::at),
                  member("jobs", &HindsightDefined::jobs), member("kinds", &HindsightDefined::kinds))
      .kept("defined");
}

using Event =
    std::variant<SegmentOpened, SegmentClosed, SegmentRetracted, OrganizationsDeclared, OwnershipStated,
                 CapacityChanged, PeriodDeclared, JobDescribed, ConfigurationLoaded, RankingDeclared, ChargeDeclared,
                 PlacementResolved, ObservationsMistimed, ControllerBegan, JobChanged, ObservationGap, HistoryImported,
                 AdjustmentMade, ResidualMeasured, StateLost, ClusterNamed, HindsightBounded, StandingReceived,
                 ConsortiumDeclared, WorkSettled, LedgerReplaced, UserNamed, HindsightDefined>;

// Stable lower-case word of the event's kind ("segment_opened", ...), as stored in the ledger.
[[nodiscard]] std::string_view kind_of(const Event& event);

// The instant that an event concerns (begin, end, at, effective, submit).
[[nodiscard]] Instant time_of(const Event& event);

// The identity of the fact as text: kind and identifying members ("segment_opened/run/17/1700000000/0"). Two events
// with one key must be equal; State::apply reports a differing second one as Errc::conflict.
[[nodiscard]] std::string event_key(const Event& event);

[[nodiscard]] std::string_view name_of(SegmentKind kind);
[[nodiscard]] std::string_view name_of(CloseReason reason);
[[nodiscard]] std::string_view name_of(Guests guests);
[[nodiscard]] std::string_view name_of(KeyRule rule);
[[nodiscard]] std::string_view name_of(PeerAnswer answer);
[[nodiscard]] std::string_view name_of(GapCause cause);
[[nodiscard]] std::string_view name_of(Coalitions coalitions);
[[nodiscard]] std::string_view name_of(AdjustmentKind kind);
[[nodiscard]] std::string_view name_of(JobsStart jobs);

constexpr auto values_of(std::type_identity<SegmentKind>) {
  return std::array{SegmentKind::run, SegmentKind::wait};
}
constexpr auto values_of(std::type_identity<CloseReason>) {
  return std::array{CloseReason::ended,   CloseReason::suspended, CloseReason::requeued, CloseReason::resized,
                    CloseReason::started, CloseReason::changed,   CloseReason::vanished};
}
constexpr auto values_of(std::type_identity<Guests>) {
  return std::array{Guests::ranked, Guests::last};
}
constexpr auto values_of(std::type_identity<KeyRule>) {
  return std::array{KeyRule::horizon, KeyRule::braking};
}
constexpr auto values_of(std::type_identity<PeerAnswer>) {
  return std::array{PeerAnswer::answered, PeerAnswer::silent};
}
constexpr auto values_of(std::type_identity<GapCause>) {
  return std::array{GapCause::slurmctld_down, GapCause::unobserved, GapCause::dropped, GapCause::wrong_clock,
                    GapCause::events_lost};
}
constexpr auto values_of(std::type_identity<Coalitions>) {
  return std::array{Coalitions::all, Coalitions::pairs, Coalitions::none};
}
constexpr auto values_of(std::type_identity<JobsStart>) {
  return std::array{JobsStart::parts, JobsStart::whole};
}
constexpr auto values_of(std::type_identity<AdjustmentKind>) {
  return std::array{AdjustmentKind::attribute, AdjustmentKind::own,     AdjustmentKind::rename,
                    AdjustmentKind::merge,     AdjustmentKind::reverse, AdjustmentKind::settle};
}

}  // namespace shapley::accounting
