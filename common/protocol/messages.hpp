// The messages between the plugin (the feeder), shapleyd and readers such as shapleyctl.
//
// A connection opens with Hello and is answered by Welcome or Refused. A feeder then sends a snapshot (SnapshotBegin,
// Observations..., SnapshotEnd) and after it deltas (Observations); each carries a sequence number that rises by one
// within the connection's `instance`, and the daemon acknowledges (Ack) what is durable. A reader sends Query and gets
// Reply. The daemon pushes Ranks, Levels and Rules to feeders whenever they change.
//
// Observations contain slurmctld's records, with Slurm's own exact times; the daemon derives events from them and its
// books (daemon/observer/observer.hpp), so sending one twice, or late, is harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/charge.hpp"
#include "base/rule_kind.hpp"
#include "base/types.hpp"

namespace shapley::protocol {

// Raised when a message changes incompatibly; a Hello with another version is refused with both versions' numbers.
inline constexpr std::uint32_t k_version = 1;

// More dependencies of one job are not passed on: they are read under slurmctld's locks.
inline constexpr std::size_t k_max_depends_on = 256;
// Longer texts about the nodes that a job may use are cut, and so is each name that distinguishes nodes.
inline constexpr std::size_t k_max_placement_text = 1024;
// More partitions, features or reservations of one node are not passed on; nor are features beyond so many characters.
inline constexpr std::size_t k_max_node_names = 256;
inline constexpr std::size_t k_max_features_text = 4096;

// The path of StateSaveLocation in a Hello, whose frame is short.
inline constexpr std::size_t k_max_location = 1024;

enum class Role : std::uint8_t { feeder = 0, reader = 1 };

struct Hello {
  std::uint32_t version = k_version;
  Role role = Role::reader;
  std::string program;         // "priority/shapley 1.0.0", "shapleyctl 1.0.0"
  std::string cluster;         // ClusterName; a reader may leave it empty
  std::string slurm_version;   // feeder: "22.05.8"
  std::uint64_t instance = 0;  // feeder: names one life of the plugin; sequence numbers count within it
  std::uint32_t min_job_age_s = 0;
  std::uint32_t interval_ms = 0;
  std::uint64_t backlog = 0;           // feeder: messages that are not acknowledged, in memory or in its spool
  std::uint64_t dropped_backlogs = 0;  // feeder: how often it dropped them in its life, for a fresh snapshot instead
  std::int64_t on_behalf_of = -1;
  // feeder: the time in which slurmctld's records were read, so that the daemon knows the gaps.
  std::int64_t observing_since = 0;    // nothing was left out since then; 0: not reported
  std::int64_t observed_before = 0;    // an earlier instance read them at least until then; 0: not known
  std::int64_t controller_ran_at = 0;  // slurmctld's last saving of its state before this instance; 0: not known
  bool dropped = false;                // this instance dropped observations from before `observing_since`
  // feeder: while it is connected and reads slurmctld's records, it sends a message at least this often, an empty one
  // if nothing changed; 0: an older feeder, which sends changes only.
  std::uint32_t sign_of_life_s = 0;
  // feeder: StateSaveLocation, cut to k_max_location characters, and the identity of that directory on this host,
  // whatever path leads to it ("DEVICE:INODE"). A slurmctld that restarts, and its backup, have the same one; a second
  // slurmctld of the same ClusterName has another. Empty: not reported.
  std::string state_location = {};
  std::string state_location_id = {};
  std::string ledger;  // reader: the identity of the ledger that it wants; empty: any
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct Welcome {
  std::uint32_t version = k_version;
  std::string program;
  bool act = true;                  // false: mode observe, leave priorities alone
  bool strict = true;               // order: strict | weighted
  std::uint32_t weight = 0;         // order weighted: site factor of the first rank
  std::uint32_t stale_after_s = 0;  // how long ranks hold when the daemon is away
  std::uint64_t acknowledged = 0;   // last durable sequence number of this instance
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Refused {
  std::string reason;
  friend bool operator==(const Refused&, const Refused&) = default;
};

// Job states as the daemon needs them; the plugin translates Slurm's numbers in its compatibility header.
enum class JobState : std::uint8_t { pending, running, suspended, ended };

// Why a pending job does not start. Only `startable` counts as demand.
enum class WaitReason : std::uint8_t {
  startable,  // waits for resources or its turn
  held,
  dependency,
  begin_time,
  array_limit,
  account_limit,
  nice,  // behind other organizations' jobs by its user's choice: --nice beyond what orders it within its own
  other,
};

struct Tres {
  std::string name;  // "cpu", "mem" (MiB), "gres/gpu", ...
  std::uint64_t count = 0;
  friend bool operator==(const Tres&, const Tres&) = default;
};

// What Slurm gave a run on one node. A list `gres`, here and below, has each generic resource once, without its type
// ("gres/gpu": all types together), whether or not AccountingStorageTRES tracks it, and has no zeros. Resources that
// Slurm does not count (no_consume) are in none of these lists.
struct NodeHolding {
  std::string node;
  std::uint32_t cpus = 0;
  std::uint64_t memory = 0;  // MiB, 0: Slurm does not allocate memory here
  std::vector<Tres> gres = {};
  friend bool operator==(const NodeHolding&, const NodeHolding&) = default;
};

// One record of slurmctld's job_list. Times are seconds since the epoch, 0: not set.
struct JobUpdate {
  std::uint32_t job_id = 0;
  std::uint32_t array_job_id = 0;   // 0: no array
  std::int64_t array_task_id = -1;  // -1: not a task (the pending rest of an array, or no array)
  std::uint32_t pending_tasks = 1;  // array rest: tasks that could start now within the array's own limit, else 1
  std::uint32_t het_job_id = 0;
  std::uint32_t restart_count = 0;
  JobState state = JobState::pending;
  bool completing = false;
  std::string slurm_state;  // Slurm's name of the state: "RUNNING", "CANCELLED", "NODE_FAIL", ...
  WaitReason wait = WaitReason::startable;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string account;
  std::vector<std::string> account_ancestors;  // parents upward, nearest first; empty without slurmdbd
  // The partition in which it runs; while it is pending all that it asks for, ascending, separated by commas.
  std::string partition;
  std::string qos, name, wckey;
  std::int64_t submit_time = 0;
  std::int64_t eligible_time = 0;  // details->begin_time
  std::int64_t start_time = 0;
  std::int64_t end_time = 0;           // 0 while it runs (Slurm's expected end is not passed on)
  std::int64_t suspend_time = 0;       // last suspend or resume
  std::int64_t pre_suspend_run_s = 0;  // run seconds up to suspend_time (pre_sus_time)
  std::int64_t total_suspended_s = 0;  // tot_sus_time
  std::int64_t resize_time = 0;
  std::uint32_t requested_cpus = 0;  // per task, for demand
  std::vector<NodeHolding> nodes;    // where it runs or ran
  std::vector<Tres> tres;            // requested (pending) or allocated counts, cpu included
  // Jobs (or arrays, by array_job_id) that it depends on, ascending, each once. Slurm empties its list when the last of
  // them is fulfilled, so a startable job has none any more: a receiver that needs them later must remember them.
  std::vector<std::uint32_t> depends_on;
  std::uint32_t time_limit_s = 0;  // 0: no limit, or the partition's maximum
  // What one task of a job that has not started will block, for demand; after its start `nodes` has what it blocks.
  std::uint32_t requested_nodes = 1;   // at least so many
  std::uint64_t requested_memory = 0;  // MiB, on all its nodes together; 0: Slurm does not allocate memory
  // Its nodes are its alone, however little it uses of them (--exclusive, OverSubscribe=EXCLUSIVE, select/linear):
  // while it waits as requested, later as allocated.
  bool exclusive = false;
  std::vector<Tres> requested_gres;  // on all its nodes together
  // The nodes that it may use, or might use before it started, as requested, at most k_max_placement_text characters of
  // each text (one of that length may have been cut, perhaps within a name); empty: not requested. Node lists and
  // features in Slurm's notation ("n[1-4]", "gpu&(ib|opa)").
  std::string required_nodes;  // --nodelist
  std::string excluded_nodes;  // --exclude
  std::string features;        // --constraint
  std::string reservation;     // its name, or the names of several separated by commas: any of them will do
  friend bool operator==(const JobUpdate&, const JobUpdate&) = default;
};

// Whether it counts as demand. A completing record still describes the run that is being requeued.
[[nodiscard]] inline bool could_start(const JobUpdate& job) {
  return job.state == JobState::pending && job.wait == WaitReason::startable && !job.completing;
}

struct NodeRecord {
  std::string name;
  std::uint32_t cpus = 0;
  bool usable = true;           // false: down, drained, failing; powered down: true
  std::vector<Tres> tres;       // configured counts, cpu included
  std::uint64_t memory = 0;     // MiB that jobs may use: MemSpecLimit is taken off; 0: not known
  std::vector<Tres> gres = {};  // configured counts
  // Ascending, each once, at most k_max_node_names of each.
  std::vector<std::string> partitions = {};    // the node's partitions
  std::vector<std::string> features = {};      // active ones
  std::vector<std::string> reservations = {};  // active now, maintenance included: only their own jobs may start here
  // CPUs that Slurm gives to one job together: those of a core or of a socket (SelectTypeParameters); 1: each by
  // itself.
  std::uint32_t allocation_unit = 1;
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

// Bounds of a Privacy message, because it is read under slurmctld's locks; a user who is left out sees less.
inline constexpr std::size_t k_max_privileged_users = 4096;
inline constexpr std::size_t k_max_coordinated_accounts = 65'536;  // of all users together

// A user who sees what PrivateData hides from others, besides root and SlurmUser.
struct PrivilegedUser {
  std::uint32_t user_id = 0;
  bool is_operator = false;           // AdminLevel Operator or Administrator: sees everything
  std::vector<std::string> accounts;  // that the user coordinates, with those below them; Slurm names each
  friend bool operator==(const PrivilegedUser&, const PrivilegedUser&) = default;
};

// What slurm.conf hides from other users (PrivateData), and the users from which it hides nothing.
struct Privacy {
  bool jobs = false;                  // their jobs
  bool usage = false;                 // what they used
  std::vector<PrivilegedUser> users;  // ascending by user_id, each once; empty if nothing is hidden
  friend bool operator==(const Privacy&, const Privacy&) = default;
};

struct SnapshotBegin {
  std::uint64_t sequence = 0;
  std::int64_t observed_at = 0;
  friend bool operator==(const SnapshotBegin&, const SnapshotBegin&) = default;
};

// Changed records only. `gone`: ids no longer in job_list.
struct Observations {
  std::uint64_t sequence = 0;
  std::int64_t observed_at = 0;
  std::vector<JobUpdate> jobs;
  std::vector<NodeRecord> nodes;
  std::vector<std::uint32_t> gone;
  std::vector<std::string> gone_nodes;
  bool runs_only = false;             // waiting jobs were not read: those that are not listed may have changed
  std::vector<Privacy> privacy = {};  // one element where it changed, and with every snapshot; the last one holds
  friend bool operator==(const Observations&, const Observations&) = default;
};

// All records of the moment were in the Observations since SnapshotBegin: jobs and nodes not among them do not exist.
struct SnapshotEnd {
  std::uint64_t sequence = 0;
  std::int64_t observed_at = 0;
  friend bool operator==(const SnapshotEnd&, const SnapshotEnd&) = default;
};

struct Ack {
  std::uint64_t sequence = 0;
  friend bool operator==(const Ack&, const Ack&) = default;
};

// An integer of 128 bits, for want of one in MessagePack: high * 2^64 + low.
struct Wide {
  std::int64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Wide&, const Wide&) = default;
};
[[nodiscard]] constexpr Wide wide(Int128 value) {
  return {static_cast<std::int64_t>(value >> 64), static_cast<std::uint64_t>(value)};
}
[[nodiscard]] constexpr Int128 value_of(const Wide& value) {
  return Int128{value.high} * (Int128{1} << 64) + value.low;
}

// What an organization's key is made of by a rule that brakes (game/braking.hpp).
struct Braking {
  Wide balance;                   // S', micro-processor seconds squared
  Wide work;                      // R', micro-processor seconds
  std::int64_t doubled_turn = 0;  // 2 U in millionths of a processor; 0: it goes last
  friend bool operator==(const Braking&, const Braking&) = default;
};

// Position 0 is served first. `generation` increases with every change. For each organization, in the same order: how
// many processors it may start more than the one that owes most before the rule serves both alike (its lead), and how
// many it lacks to its guarantee, negative if it holds more (accounting/state/ranking.hpp). The figures include what
// was acknowledged before. A sender of an earlier release leaves both lists out: then an organization goes before all
// those of later positions. While nodes are away, `returning` says how many processors each lacks more when all of its
// nodes are back; otherwise, and by a sender of an earlier release, it is empty. By a rule that brakes a processor
// lowers each key by another amount, and the keys themselves are compared: `braking` has what they are made of, and
// `residual` is m, how many seconds they look ahead; `leads` are then for a receiver of an earlier release. By another
// rule `braking` is empty.
struct Ranks {
  std::uint64_t generation = 0;
  std::int64_t computed_at = 0;
  std::vector<std::string> organizations;
  std::vector<std::int64_t> leads = {};
  std::vector<std::int64_t> lacking = {};
  std::vector<std::int64_t> returning = {};
  std::vector<Braking> braking = {};
  std::int64_t residual = 0;
  friend bool operator==(const Ranks&, const Ranks&) = default;
};

// Order among an organization's own jobs: a job of a higher level goes first, and no level lifts a job past one of a
// better-ranked organization. Levels are few, because with the ranks they share 31 bits of Slurm's priority.
inline constexpr std::uint32_t k_max_level = 15;
// The most jobs that a Levels message may list: 1.4 MB. A sender with more lists those of the highest levels.
inline constexpr std::size_t k_max_level_jobs = 200'000;

struct JobLevel {
  std::uint32_t job_id = 0;
  std::uint32_t level = 0;  // 1 to k_max_level
  friend bool operator==(const JobLevel&, const JobLevel&) = default;
};

// Jobs by ascending id, each once; a job that is not listed has level 0. Each message replaces the whole table of the
// one before, so an empty one removes all levels. On a new connection it comes before the first Ranks, or the feeder
// drops the levels of the connection before. `generation` increases with every change of a level.
struct Levels {
  std::uint64_t generation = 0;
  std::int64_t computed_at = 0;
  std::vector<JobLevel> jobs;
  friend bool operator==(const Levels&, const Levels&) = default;
};

using shapley::RuleKind;

// Classification rules in order, first match wins; see classifier.hpp. No match: guests.
struct Rule {
  std::string organization;
  RuleKind kind = RuleKind::account;
  std::string name;      // account, partition, qos (lower case for accounts, as Slurm keeps them)
  std::uint32_t id = 0;  // user, group: the numeric id
  friend bool operator==(const Rule&, const Rule&) = default;
};

// A weight >= 0 of what has this name: a TRES, a node.
struct Weight {
  std::string name;
  std::int64_t weight = 0;
  friend bool operator==(const Weight&, const Weight&) = default;
};

// How jobs are charged (request/charging.hpp).
struct ChargeRule {
  Charge charge = Charge::dominant;
  std::vector<Weight> weights = {{"cpu", 1}};  // charge weights: of TRES, each once
  std::vector<Weight> node_weights = {};       // of nodes whose CPUs are not worth 1, each once
  friend bool operator==(const ChargeRule&, const ChargeRule&) = default;
};

struct OwnerPart {
  std::string organization;
  std::int64_t parts_per_million = 0;  // > 0
  friend bool operator==(const OwnerPart&, const OwnerPart&) = default;
};

// Nodes of the same owners, whose parts sum to a million.
struct OwnedNodes {
  std::vector<std::string> nodes;
  std::vector<OwnerPart> owners;
  friend bool operator==(const OwnedNodes&, const OwnedNodes&) = default;
};

// `charge`: so that a feeder knows what it takes from a lead to start a job. A sender of an earlier release leaves it
// out, and its feeder counts what a job blocks (`dominant`). `owners`: so that it knows what a start adds to the leads
// of the owners of its nodes, by direct_contr; empty where what is given does not depend on which nodes are in use.
struct Rules {
  std::vector<Rule> rules;
  ChargeRule charge = {};
  std::vector<OwnedNodes> owners = {};
  friend bool operator==(const Rules&, const Rules&) = default;
};

// JSON text both ways; see docs/reference/protocol.md for requests.
struct Query {
  std::uint64_t id = 0;
  std::string json;
  friend bool operator==(const Query&, const Query&) = default;
};
struct Reply {
  std::uint64_t id = 0;
  std::string json;
  friend bool operator==(const Reply&, const Reply&) = default;
};

using Message = std::variant<Hello, Welcome, Refused, SnapshotBegin, Observations, SnapshotEnd, Ack, Ranks, Rules,
                             Query, Reply, Levels>;

}  // namespace shapley::protocol
