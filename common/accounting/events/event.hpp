// Events: everything the books know. The ledger stores them, State folds them, nothing else changes the books.
//
// An event is a fact with its own time, never an observation time where Slurm's record has an exact one. Each has an
// identity (event_key): two events with one identity are the same fact, so applying one twice changes nothing, and any
// order of the same set of events gives the same books.
//
// A kind of event is its struct, its description (description.hpp) and its place in `Event`, all in this file.
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

#include "accounting/events/description.hpp"
#include "base/calendar.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// Names of the two rows that are always in the books: jobs of no organization, nodes of no organization.
inline constexpr std::string_view k_guests = "guests";
inline constexpr std::string_view k_commons = "commons";

// A run holds processors on nodes; a wait is a pending job that Slurm could start now (the demand of shapley_rate).
enum class SegmentKind : std::uint8_t { run, wait };

// Identity of a segment. `anchor` is the start_time of the run (for a wait: the instant the job became eligible);
// `ordinal` numbers the segments of one (kind, job, anchor), from 0, as suspend/resume or resize cut it. The anchor
// keeps identities apart when Slurm reuses a job id or starts a job again.
struct SegmentKey {
  SegmentKind kind = SegmentKind::run;
  JobId job;
  Instant anchor;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};
template <>
inline constexpr auto k_description<SegmentKey> = describe("key", member<Role::identity>("kind", &SegmentKey::kind),
                                                           member<Role::identity>("job", &SegmentKey::job),
                                                           member<Role::identity>("anchor", &SegmentKey::anchor),
                                                           member<Role::identity>("ordinal", &SegmentKey::ordinal));

// So much of a generic resource (GRES), by Slurm's name without a type ("gres/gpu").
struct Resource {
  std::string name;
  std::int64_t count = 0;  // >= 0
  friend bool operator==(const Resource&, const Resource&) = default;
};
template <>
inline constexpr auto k_description<Resource> = describe("resource", member("name", &Resource::name),
                                                         member("count", &Resource::count));

// What a segment holds on one node: what it is charged, and, as the charge follows from it, what Slurm allocated.
// Where the runs of a node are charged more than the whole node together, it is shared among them (sharing.hpp).
struct NodeShare {
  std::string node;
  MicroProcessors processors{};     // charged, > 0
  std::uint32_t cpus = 0;           // allocated; 0: not known, then it was charged by CPUs
  std::int64_t memory = 0;          // MiB allocated; 0: none, or Slurm does not allocate memory
  std::vector<Resource> gres = {};  // allocated, ascending by name
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};
template <>
inline constexpr auto k_description<NodeShare> = describe("on", member("node", &NodeShare::node),
                                                          member("processors", &NodeShare::processors),
                                                          member<Role::supplement>("cpus", &NodeShare::cpus),
                                                          member<Role::supplement>("memory", &NodeShare::memory),
                                                          member<Role::supplement>("gres", &NodeShare::gres));

// [begin, ...) of `organization`. For a run, `nodes` names where (each node once, ascending by name) and `processors`
// is their sum. For a wait `nodes` is empty. `placement` says which nodes the job may use (PlacementResolved), a run's
// those that its request could have used; empty: any.
//
// Of a run, `released` is when Slurm could have started it first: on the segment with which the run began, absent from
// later ones (after a suspension or a resize), whose own begin it is then, and where it is not known. It is never after
// `begin`. Where the request was booked as waiting, it is the anchor of that wait.
//
// `waited_as` is the job as which a task of an array waits or waited: that of the array's record, even where the task
// has a record of its own already; 0: its own job, or a run that did not wait. So the order of an array's tasks among
// the requests of their organization does not depend on when slurmctld made records of them.
struct SegmentOpened {
  SegmentKey key;
  std::string organization;
  Instant begin;
  MicroProcessors processors;
  std::vector<NodeShare> nodes;
  std::string placement = {};
  std::optional<Instant> released = std::nullopt;
  JobId waited_as = {};
  friend bool operator==(const SegmentOpened&, const SegmentOpened&) = default;
};
template <>
inline constexpr auto k_description<SegmentOpened> =
    describe("segment_opened", member<Role::identity>("", &SegmentOpened::key),
             member("organization", &SegmentOpened::organization), member<Role::time>("begin", &SegmentOpened::begin),
             member("processors", &SegmentOpened::processors), member("nodes", &SegmentOpened::nodes),
             member<Role::supplement>("placement", &SegmentOpened::placement),
             member<Role::supplement>("released", &SegmentOpened::released),
             member<Role::supplement>("waited_as", &SegmentOpened::waited_as));

enum class CloseReason : std::uint8_t { ended, suspended, requeued, resized, started, changed, vanished };

// The segment's exclusive end. end < begin is an error; end == begin leaves a segment without effect.
// `started` and `changed` end waits (the job started; its demand or eligibility changed). `job_state` is Slurm's word
// for the state that followed ("COMPLETED", "SUSPENDED", ...), for auditors only.
struct SegmentClosed {
  SegmentKey key;
  Instant end;
  CloseReason reason = CloseReason::ended;
  std::string job_state;
  friend bool operator==(const SegmentClosed&, const SegmentClosed&) = default;
};
template <>
inline constexpr auto k_description<SegmentClosed> = describe("segment_closed",
                                                              member<Role::identity>("", &SegmentClosed::key),
                                                              member<Role::time>("end", &SegmentClosed::end),
                                                              member("reason", &SegmentClosed::reason),
                                                              member("job_state", &SegmentClosed::job_state));

// Slurm's own books do not hold this segment after all (slurmctld was killed before it saved the start), or, of a wait,
// what was asked for was withdrawn before it started (daemon/observer/wait_writer.hpp). It counts for nothing, whatever
// else is known of it. `at` is when that was learned.
struct SegmentRetracted {
  SegmentKey key;
  Instant at;
  friend bool operator==(const SegmentRetracted&, const SegmentRetracted&) = default;
};
template <>
inline constexpr auto k_description<SegmentRetracted> = describe("segment_retracted",
                                                                 member<Role::identity>("", &SegmentRetracted::key),
                                                                 member<Role::time>("at", &SegmentRetracted::at));

// The organizations of the configuration in its order (ties of ranks go to the first). In force from `at` until the
// next such event. An organization not named before joins the books; one no longer named keeps its row and rank order
// after the named ones. guests and commons are implied and come last.
struct OrganizationsDeclared {
  Instant at;
  std::vector<std::string> names;
  friend bool operator==(const OrganizationsDeclared&, const OrganizationsDeclared&) = default;
};
template <>
inline constexpr auto k_description<OrganizationsDeclared> =
    describe("organizations_declared", member<Role::identity_and_time>("at", &OrganizationsDeclared::at),
             member("names", &OrganizationsDeclared::names));

inline constexpr std::int64_t k_whole_node = 1'000'000;  // parts per million

// One owner's part of a node in parts per million. What the parts leave of the whole node belongs to commons.
struct OwnerPart {
  std::string organization;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const OwnerPart&, const OwnerPart&) = default;
};
template <>
inline constexpr auto k_description<OwnerPart> = describe("part", member("organization", &OwnerPart::organization),
                                                          member("parts_per_million", &OwnerPart::parts_per_million));

struct OwnershipSpan {
  Instant from;
  std::vector<OwnerPart> owners;  // empty: commons. Each organization once; parts > 0, sum <= 1,000,000.
  friend bool operator==(const OwnershipSpan&, const OwnershipSpan&) = default;
};
template <>
inline constexpr auto k_description<OwnershipSpan> = describe("span", member("from", &OwnershipSpan::from),
                                                              member("owners", &OwnershipSpan::owners));

// Who owns `node` at every instant from `effective` on, as agreed at `effective`: spans ascending by `from`, the last
// one open. It replaces what earlier statements said about instants >= effective and leaves the past alone. Spans may
// begin before `effective` (they hold from `effective` on) or after it (a dated hand-over that is already known).
// `revision` is the number of the adjustment that states it anew, 0: none; of several with one node and `effective` the
// one of the highest revision speaks, and the others do not.
struct OwnershipStated {
  std::string node;
  Instant effective;
  std::vector<OwnershipSpan> spans;
  std::uint32_t revision = 0;
  friend bool operator==(const OwnershipStated&, const OwnershipStated&) = default;
};
template <>
inline constexpr auto k_description<OwnershipStated> =
    describe("ownership_stated", member<Role::identity>("node", &OwnershipStated::node),
             member<Role::identity_and_time>("effective", &OwnershipStated::effective),
             member("spans", &OwnershipStated::spans),
             member<Role::identity_supplement>("revision", &OwnershipStated::revision))
        .kept("statement");

// From `at` on the node offers `processors` (0: down, drained or gone). `ordinal` orders several changes of one second.
// `whole` is what the node is worth whether it offers that or not: no more is charged to the runs there together. 0:
// not known, nothing is shared. The rest is what its worth and the charge of runs are made of.
struct CapacityChanged {
  std::string node;
  Instant at;
  std::uint32_t ordinal = 0;
  MicroProcessors processors{};
  MicroProcessors whole{};
  std::uint32_t cpus = 0;           // that jobs may use
  std::int64_t memory = 0;          // MiB that jobs may use
  std::vector<Resource> gres = {};  // configured, ascending by name
  friend bool operator==(const CapacityChanged&, const CapacityChanged&) = default;
};
template <>
inline constexpr auto k_description<CapacityChanged> = describe(
    "capacity_changed", member<Role::identity>("node", &CapacityChanged::node),
    member<Role::identity_and_time>("at", &CapacityChanged::at),
    member<Role::identity>("ordinal", &CapacityChanged::ordinal), member("processors", &CapacityChanged::processors),
    member<Role::supplement>("whole", &CapacityChanged::whole),
    member<Role::supplement>("cpus", &CapacityChanged::cpus),
    member<Role::supplement>("memory", &CapacityChanged::memory),
    member<Role::supplement>("gres", &CapacityChanged::gres));

// Periods in force from `at` on; the boundary of the old rule that is under way is replaced by the new rule's next one.
struct PeriodDeclared {
  Instant at;
  Period period = Period::none;
  friend bool operator==(const PeriodDeclared&, const PeriodDeclared&) = default;
};
template <>
inline constexpr auto k_description<PeriodDeclared> = describe("period_declared",
                                                               member<Role::identity_and_time>("at",
                                                                                               &PeriodDeclared::at),
                                                               member("period", &PeriodDeclared::period));

// Facts about a job that auditors and `shapleyctl jobs` want; the books do not depend on them. Identity: job, submit
// time.
struct JobDescribed {
  JobId job;
  Instant submit;
  std::string organization;
  std::uint32_t array_job = 0;  // 0: not an array
  std::optional<std::uint32_t> array_task;
  std::uint32_t het_job = 0;  // 0: not heterogeneous
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string account, partition, qos, name, wckey;
  friend bool operator==(const JobDescribed&, const JobDescribed&) = default;
};
template <>
inline constexpr auto k_description<JobDescribed> = describe(
    "job_described", member<Role::identity>("job", &JobDescribed::job),
    member<Role::identity_and_time>("submit", &JobDescribed::submit),
    member("organization", &JobDescribed::organization), member("array_job", &JobDescribed::array_job),
    member("array_task", &JobDescribed::array_task), member("het_job", &JobDescribed::het_job),
    member("user_id", &JobDescribed::user_id), member("group_id", &JobDescribed::group_id),
    member("account", &JobDescribed::account), member("partition", &JobDescribed::partition),
    member("qos", &JobDescribed::qos), member("name", &JobDescribed::name), member("wckey", &JobDescribed::wckey));

// The same facts about a job as they are from `at` on: somebody moved or renamed it, it got the partition where it
// runs, or what stood for the pending tasks of an array became its last task. Members as of JobDescribed, of which the
// one of the same job and submit time holds before the first of these. The books do not depend on it.
struct JobChanged {
  JobId job;
  Instant submit;
  Instant at;
  std::string organization;
  std::uint32_t array_job = 0;
  std::optional<std::uint32_t> array_task;
  std::uint32_t het_job = 0;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string account, partition, qos, name, wckey;
  friend bool operator==(const JobChanged&, const JobChanged&) = default;

  // The description that holds from `at` on.
  [[nodiscard]] JobDescribed description() const;
};
// The event that says that a job is as in `now` from `at` on.
[[nodiscard]] JobChanged change_to(const JobDescribed& now, Instant at);
template <>
inline constexpr auto k_description<JobChanged> = describe(
    "job_changed", member<Role::identity>("job", &JobChanged::job),
    member<Role::identity>("submit", &JobChanged::submit), member<Role::identity_and_time>("at", &JobChanged::at),
    member("organization", &JobChanged::organization), member("array_job", &JobChanged::array_job),
    member("array_task", &JobChanged::array_task), member("het_job", &JobChanged::het_job),
    member("user_id", &JobChanged::user_id), member("group_id", &JobChanged::group_id),
    member("account", &JobChanged::account), member("partition", &JobChanged::partition),
    member("qos", &JobChanged::qos), member("name", &JobChanged::name), member("wckey", &JobChanged::wckey));

// The configuration in force from `at`, as text, so that members can read the rules that made the books.
struct ConfigurationLoaded {
  Instant at;
  std::string text;
  friend bool operator==(const ConfigurationLoaded&, const ConfigurationLoaded&) = default;
};
template <>
inline constexpr auto k_description<ConfigurationLoaded> =
    describe("configuration_loaded", member<Role::identity_and_time>("at", &ConfigurationLoaded::at),
             member("text", &ConfigurationLoaded::text));

// One organization's own part of the guarantee, in parts per million of the processors that it owns.
struct GuaranteedPart {
  std::string organization;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const GuaranteedPart&, const GuaranteedPart&) = default;
};
template <>
inline constexpr auto k_description<GuaranteedPart> = describe("guaranteed",
                                                               member("organization", &GuaranteedPart::organization),
                                                               member("parts_per_million",
                                                                      &GuaranteedPart::parts_per_million));

// The rule of ranks in force from `at` until the next such event (game/serving_order.hpp): phi by which estimator, how
// many seconds ranks look ahead (0: the published rule), what is guaranteed to every organization but to those in
// `exceptions` (ascending by name, each once), and how much what runs counts. The books do not depend on it; who was
// ranked by what must be known.
struct RankingDeclared {
  Instant at;
  std::string contribution;
  std::int64_t horizon = 0;
  std::int64_t guarantee = 0;  // parts per million, 0 to 1,000,000
  std::vector<GuaranteedPart> exceptions;
  std::int64_t running_weight = 0;  // parts per million, 0 to 1,000,000
  friend bool operator==(const RankingDeclared&, const RankingDeclared&) = default;
};
template <>
inline constexpr auto k_description<RankingDeclared> =
    describe("ranking_declared", member<Role::identity_and_time>("at", &RankingDeclared::at),
             member("contribution", &RankingDeclared::contribution), member("horizon", &RankingDeclared::horizon),
             member("guarantee", &RankingDeclared::guarantee), member("exceptions", &RankingDeclared::exceptions),
             member<Role::supplement>("running_weight", &RankingDeclared::running_weight))
        .kept("ranking");

// The mean residual run time by which the key counts what runs (m of game/serving_order.hpp), in force from `at` until
// the next such event, as shapleyd measured it over the runs that ended last. The books do not depend on it; who was
// ranked by what must be known.
struct ResidualMeasured {
  Instant at;
  std::int64_t seconds = 0;  // > 0
  std::int64_t runs = 0;     // that it was measured over
  friend bool operator==(const ResidualMeasured&, const ResidualMeasured&) = default;
};
template <>
inline constexpr auto k_description<ResidualMeasured> =
    describe("residual_measured", member<Role::identity_and_time>("at", &ResidualMeasured::at),
             member("seconds", &ResidualMeasured::seconds), member("runs", &ResidualMeasured::runs))
        .kept("residual");

// What a CPU of these nodes is worth.
struct NodeWeight {
  std::string nodes;        // as the configuration writes them
  std::int64_t weight = 1;  // > 0
  friend bool operator==(const NodeWeight&, const NodeWeight&) = default;
};
template <>
inline constexpr auto k_description<NodeWeight> = describe("node_weight", member("nodes", &NodeWeight::nodes),
                                                           member("weight", &NodeWeight::weight));

// The rule by which runs are charged from `at` on, until the next such event (docs/reference/configuration.md,
// `charge`). What was booked stays: segments say what they were charged, capacities what nodes are worth.
struct ChargeDeclared {
  Instant at;
  std::string charge;             // "dominant", "cpu", "weights"
  std::vector<Resource> weights;  // of `weights`: what one of a resource counts; ascending by name
  std::vector<NodeWeight> node_weights;
  friend bool operator==(const ChargeDeclared&, const ChargeDeclared&) = default;
};
template <>
inline constexpr auto k_description<ChargeDeclared> =
    describe("charge_declared", member<Role::identity_and_time>("at", &ChargeDeclared::at),
             member("charge", &ChargeDeclared::charge), member("weights", &ChargeDeclared::weights),
             member("node_weights", &ChargeDeclared::node_weights))
        .kept("charge");

// From `at` on jobs of this placement may use these nodes and no others; none before the first such event. A placement
// is what jobs ask of their nodes, in words of Slurm ("partition=batch nodes=n1"), so many waits share it. Demand
// counts up to what these nodes offer (game/shapley_value.hpp). `ordinal` orders several changes of one second.
struct PlacementResolved {
  std::string placement;
  Instant at;
  std::uint32_t ordinal = 0;
  std::string nodes;  // in Slurm's notation ("n[1-4],gpu1"); empty: none
  friend bool operator==(const PlacementResolved&, const PlacementResolved&) = default;
};
template <>
inline constexpr auto k_description<PlacementResolved> = describe(
    "placement_resolved", member<Role::identity>("placement", &PlacementResolved::placement),
    member<Role::identity_and_time>("at", &PlacementResolved::at),
    member<Role::identity>("ordinal", &PlacementResolved::ordinal), member("nodes", &PlacementResolved::nodes));

// Observations that were made under a wrong clock. The books do not depend on it; it says with which times they were
// read, or what the books lack, and what a time means that Slurm wrote under that clock. Identity: `at`, `message`.
struct ObservationsMistimed {
  Instant at;                 // when that was found
  std::int64_t message = 0;   // the number of the last of their messages
  std::int64_t messages = 0;  // how many
  Instant since;              // when the first of them came
  Instant observed_from;      // the earliest and the latest time at which they claim to have been made
  Instant observed_to;
  Duration ahead;  // the clock was so many seconds ahead (negative: behind), which was taken off; 0: not known by how
                   // many, so they were not read
  friend bool operator==(const ObservationsMistimed&, const ObservationsMistimed&) = default;
};
template <>
inline constexpr auto k_description<ObservationsMistimed> =
    describe("observations_mistimed", member<Role::identity_and_time>("at", &ObservationsMistimed::at),
             member<Role::identity>("message", &ObservationsMistimed::message),
             member("messages", &ObservationsMistimed::messages), member("since", &ObservationsMistimed::since),
             member("observed_from", &ObservationsMistimed::observed_from),
             member("observed_to", &ObservationsMistimed::observed_to), member("ahead", &ObservationsMistimed::ahead))
        .kept("mistimed");

// Of two controllers, whether the other one answered before this one began to write, so that all that it had was taken
// over.
enum class PeerAnswer : std::uint8_t { answered, silent };

// From `at` on the shapleyd on `host` writes this ledger, for the plugin of the slurmctld there feeds it. It continues
// the event `after`, of that hash (hexadecimal; zeros: there was none). The books do not depend on it.
struct ControllerBegan {
  std::int64_t after = 0;
  Instant at;
  std::string hash;
  std::string host;
  PeerAnswer peer = PeerAnswer::answered;
  friend bool operator==(const ControllerBegan&, const ControllerBegan&) = default;
};
template <>
inline constexpr auto k_description<ControllerBegan> =
    describe("controller_began", member<Role::identity>("after", &ControllerBegan::after),
             member<Role::time>("at", &ControllerBegan::at), member("hash", &ControllerBegan::hash),
             member("host", &ControllerBegan::host), member("peer", &ControllerBegan::peer))
        .kept("beginning");

// Why slurmctld's records were not looked at for a time. slurmctld_down: nothing says that slurmctld ran then, so
// nothing can have started. unobserved: it ran at least for a part of the time, without the plugin. dropped: it was
// observed, but the observations were more than the plugin keeps, and shapleyd did not take them.
enum class GapCause : std::uint8_t { slurmctld_down, unobserved, dropped };

// From `begin`, or a little later, to `end` nobody looked at slurmctld's records. The books do not depend on it: what
// the records still tell afterwards is booked with Slurm's own times. Runs whose records were overwritten or purged
// within the gap are missing (requeued ones at once, ended ones after MinJobAge), as are waits, and changes of nodes
// that were undone.
struct ObservationGap {
  Instant begin;
  Instant end;  // > begin
  GapCause cause = GapCause::slurmctld_down;
  friend bool operator==(const ObservationGap&, const ObservationGap&) = default;
};
template <>
inline constexpr auto k_description<ObservationGap> =
    describe("observation_gap", member<Role::identity>("begin", &ObservationGap::begin),
             member<Role::identity_and_time>("end", &ObservationGap::end), member("cause", &ObservationGap::cause))
        .kept("gap");

// slurmctld came back without records that it had had: without the state that it saves (`slurmctld -c`, a lost
// StateSaveLocation), or killed before it saved. `closed` runs were older than that when they were seen last, at
// `seen`: they end there and hold so many processor-seconds until then. `retracted` ones had begun within a few saves
// before it, so that Slurm may have no record of them; they count for nothing. `at` is when that was learned. The books
// do not depend on it: what it counts are facts of their own, stored before it.
struct StateLost {
  Instant at;
  Instant seen;  // <= at
  std::int64_t closed = 0;
  std::int64_t closed_seconds = 0;  // processor-seconds
  std::int64_t retracted = 0;
  std::int64_t retracted_seconds = 0;  // processor-seconds
  friend bool operator==(const StateLost&, const StateLost&) = default;
};
template <>
inline constexpr auto k_description<StateLost> =
    describe("state_lost", member<Role::identity_and_time>("at", &StateLost::at), member("seen", &StateLost::seen),
             member("closed", &StateLost::closed), member("closed_seconds", &StateLost::closed_seconds),
             member("retracted", &StateLost::retracted), member("retracted_seconds", &StateLost::retracted_seconds))
        .kept("state_loss");

// The books are those of the cluster of this ClusterName, from `at` on until the next such event: as the first feeder
// called it, or as an administrator says after it was renamed. No other one's records are read. The books do not depend
// on it.
struct ClusterNamed {
  Instant at;
  std::string cluster;
  std::string author;  // "the first feeder", or by the kernel's word: "uid 0 (root)"
  std::string reason;  // empty: it was the first feeder's word
  friend bool operator==(const ClusterNamed&, const ClusterNamed&) = default;
};
template <>
inline constexpr auto k_description<ClusterNamed> = describe("cluster_named",
                                                             member<Role::identity_and_time>("at", &ClusterNamed::at),
                                                             member("cluster", &ClusterNamed::cluster),
                                                             member("author", &ClusterNamed::author),
                                                             member("reason", &ClusterNamed::reason))
                                                        .kept("cluster");

// Runs that no shapleyd watched, from an export of Slurm's accounting: their own events stand right before this one, in
// the same transaction or, of a new ledger, in all of it. The books do not depend on it; whose word they rest on must
// be known. Identity: `at`, `sha256`.
struct HistoryImported {
  Instant at;              // when that was done
  std::string file;        // name of the export
  std::string sha256;      // of its bytes, hexadecimal
  std::int64_t rows = 0;   // of jobs that it has
  std::int64_t runs = 0;   // that were imported
  std::int64_t known = 0;  // that the ledger had already
  Instant since;           // the earliest start and the latest end of what was imported
  Instant until;
  std::string author;  // who did it, by the kernel's word: "uid 0"
  std::string reason;
  friend bool operator==(const HistoryImported&, const HistoryImported&) = default;
};
template <>
inline constexpr auto k_description<HistoryImported> =
    describe("history_imported", member<Role::identity_and_time>("at", &HistoryImported::at),
             member("file", &HistoryImported::file), member<Role::identity>("sha256", &HistoryImported::sha256),
             member("rows", &HistoryImported::rows), member("runs", &HistoryImported::runs),
             member("known", &HistoryImported::known), member("since", &HistoryImported::since),
             member("until", &HistoryImported::until), member("author", &HistoryImported::author),
             member("reason", &HistoryImported::reason))
        .kept("import");

enum class AdjustmentKind : std::uint8_t { attribute, own, rename, merge, reverse };

// An administrator corrected the books. The `facts` events after this one belong to it and were stored with it, in one
// transaction: of `attribute` segments that are retracted and stated anew under another organization, of `own`
// statements of ownership of this revision, of `reverse` what takes back those of adjustment `reverses`. Of `rename`
// and `merge` there are none: the row of `organization` is part of that of `into` from then on, for all times, until an
// adjustment reverses that (State::row_of); no figure of anybody else depends on it. Identity: `number`.
struct AdjustmentMade {
  std::uint32_t number = 0;  // 1, 2, 3, ...
  Instant at;                // when it was made
  AdjustmentKind kind = AdjustmentKind::attribute;
  std::string organization;  // rename, merge: whose row; else empty
  std::string into;          // attribute: whose the runs are now; rename, merge: whose the row is now; else empty
  std::string what;          // in words: "job 4711"
  std::uint32_t reverses = 0;
  std::int64_t runs = 0;   // that are of another organization by it
  std::int64_t facts = 0;  // events that follow
  std::string author;      // by the kernel's word, with the name by the user database if there is one: "uid 0 (root)"
  std::string reason;
  friend bool operator==(const AdjustmentMade&, const AdjustmentMade&) = default;
};
template <>
inline constexpr auto k_description<AdjustmentMade> =
    describe("adjustment_made", member<Role::identity>("number", &AdjustmentMade::number),
             member<Role::time>("at", &AdjustmentMade::at), member("kind", &AdjustmentMade::kind),
             member("organization", &AdjustmentMade::organization), member("into", &AdjustmentMade::into),
             member("what", &AdjustmentMade::what), member("reverses", &AdjustmentMade::reverses),
             member("runs", &AdjustmentMade::runs), member("facts", &AdjustmentMade::facts),
             member("author", &AdjustmentMade::author), member("reason", &AdjustmentMade::reason))
        .kept("adjustment");

// Of which coalitions hindsight keeps what they would have done alone: of all, of those whose values phi by pairs needs
// (those of 1, 2, k-2 and k-1 players, and of all), or of none.
enum class Coalitions : std::uint8_t { all, pairs, none };

// From `at` on hindsight keeps these coalitions and no more, because those of before took `needed` bytes of memory and
// `bound` is what it may have. It holds for what is not closed of the books, and for good.
struct HindsightBounded {
  Instant at;
  Coalitions coalitions = Coalitions::pairs;  // not all
  std::int64_t needed = 0;
  std::int64_t bound = 0;
  friend bool operator==(const HindsightBounded&, const HindsightBounded&) = default;
};
template <>
inline constexpr auto k_description<HindsightBounded> =
    describe("hindsight_bounded", member<Role::identity_and_time>("at", &HindsightBounded::at),
             member("coalitions", &HindsightBounded::coalitions), member("needed", &HindsightBounded::needed),
             member("bound", &HindsightBounded::bound))
        .kept("bounded");

using Event =
    std::variant<SegmentOpened, SegmentClosed, SegmentRetracted, OrganizationsDeclared, OwnershipStated,
                 CapacityChanged, PeriodDeclared, JobDescribed, ConfigurationLoaded, RankingDeclared, ChargeDeclared,
                 PlacementResolved, ObservationsMistimed, ControllerBegan, JobChanged, ObservationGap, HistoryImported,
                 AdjustmentMade, ResidualMeasured, StateLost, ClusterNamed, HindsightBounded>;

// Stable lower-case word of the event's kind ("segment_opened", ...), as stored in the ledger.
[[nodiscard]] std::string_view kind_of(const Event& event);

// The instant an event speaks of (begin, end, at, effective, submit).
[[nodiscard]] Instant time_of(const Event& event);

// The identity of the fact as text: kind and identifying members ("segment_opened/run/17/1700000000/0"). Two events
// with one key must be equal; State::apply reports a differing second one as Errc::conflict.
[[nodiscard]] std::string event_key(const Event& event);

[[nodiscard]] std::string_view name_of(SegmentKind kind);
[[nodiscard]] std::string_view name_of(CloseReason reason);
[[nodiscard]] std::string_view name_of(PeerAnswer answer);
[[nodiscard]] std::string_view name_of(GapCause cause);
[[nodiscard]] std::string_view name_of(Coalitions coalitions);
[[nodiscard]] std::string_view name_of(AdjustmentKind kind);

// Every value of an enumeration that events have members of.
template <typename Word>
inline constexpr std::nullptr_t k_values{};
template <>
inline constexpr std::array k_values<SegmentKind>{SegmentKind::run, SegmentKind::wait};
template <>
inline constexpr std::array k_values<CloseReason>{CloseReason::ended,   CloseReason::suspended, CloseReason::requeued,
                                                  CloseReason::resized, CloseReason::started,   CloseReason::changed,
                                                  CloseReason::vanished};
template <>
inline constexpr std::array k_values<PeerAnswer>{PeerAnswer::answered, PeerAnswer::silent};
template <>
inline constexpr std::array k_values<GapCause>{GapCause::slurmctld_down, GapCause::unobserved, GapCause::dropped};
template <>
inline constexpr std::array k_values<Coalitions>{Coalitions::all, Coalitions::pairs, Coalitions::none};
template <>
inline constexpr std::array k_values<AdjustmentKind>{AdjustmentKind::attribute, AdjustmentKind::own,
                                                     AdjustmentKind::rename, AdjustmentKind::merge,
                                                     AdjustmentKind::reverse};
template <>
inline constexpr std::array k_values<Period>{Period::none, Period::monthly, Period::quarterly, Period::yearly};

// The value whose name_of is `name`.
template <typename Word>
[[nodiscard]] std::optional<Word> parse_word(std::string_view name) {
  for (const Word word : k_values<Word>) {
    if (name == name_of(word)) return word;
  }
  return std::nullopt;
}

}  // namespace shapley::accounting
