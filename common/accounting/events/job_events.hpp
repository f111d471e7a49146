// Events of jobs and their segments, with the names and resources that other events have, too (event.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/resource.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// A run holds processors on nodes; a wait is a pending job that Slurm could start now.
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
constexpr auto description_of(std::type_identity<SegmentKey>) {
  return describe(
      "key", member<Role::identity>("kind", &SegmentKey::kind), member<Role::identity>("job", &SegmentKey::job),
      member<Role::identity>("anchor", &SegmentKey::anchor), member<Role::identity>("ordinal", &SegmentKey::ordinal));
}

using shapley::Resource;

// What a segment holds on one node: its charge and, as the basis of the charge, what Slurm allocated. If the charges of
// the runs on a node exceed the whole node, it is shared among them (sharing.hpp).
struct NodeShare {
  std::string node;
  ProcessorMillionths processors{};  // charged, > 0
  std::uint32_t cpus = 0;            // allocated; 0: not known, then it was charged by CPUs
  std::int64_t memory = 0;           // MiB allocated; 0: none, or Slurm does not allocate memory
  std::vector<Resource> gres = {};   // allocated, ascending by name
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};
constexpr auto description_of(std::type_identity<NodeShare>) {
  return describe("on", member("node", &NodeShare::node), member("processors", &NodeShare::processors),
                  member<Role::supplement>("cpus", &NodeShare::cpus),
                  member<Role::supplement>("memory", &NodeShare::memory),
                  member<Role::supplement>("gres", &NodeShare::gres));
}

// [begin, ...) of `organization`. For a run, `nodes` names where (each node once, ascending by name) and `processors`
// is their sum. For a wait `nodes` is empty. `placement` says which nodes the job may use (PlacementResolved), a run's
// those that its request could have used; empty: any.
//
// `released` of a run is when Slurm could have started it first. It is set on the segment with which the run began, if
// it is known; later segments (after a suspension or a resize) do not have it, their own begin takes its place. It is
// never after `begin`. Where the request was booked as waiting, it is the anchor of that wait.
//
// `waited_as` is the job as which a task of an array waits or waited: the job of the array's record, even where the
// task has a record of its own already; 0: its own job, or a run that did not wait. So the order of an array's tasks
// among their organization's requests does not depend on when slurmctld made records of them.
//
// `tasks` of a wait is of how many like tasks of an array its `processors` are the sum; 0: of one job.
struct SegmentOpened {
  SegmentKey key;
  std::string organization;
  Instant begin;
  ProcessorMillionths processors;
  std::vector<NodeShare> nodes;
  std::string placement = {};
  std::optional<Instant> released = std::nullopt;
  JobId waited_as = {};
  std::uint32_t tasks = 0;
  friend bool operator==(const SegmentOpened&, const SegmentOpened&) = default;
};
constexpr auto description_of(std::type_identity<SegmentOpened>) {
  return describe("segment_opened", member<Role::identity>("", &SegmentOpened::key),
                  member("organization", &SegmentOpened::organization),
                  member<Role::time>("begin", &SegmentOpened::begin), member("processors", &SegmentOpened::processors),
                  member("nodes", &SegmentOpened::nodes),
                  member<Role::supplement>("placement", &SegmentOpened::placement),
                  member<Role::supplement>("released", &SegmentOpened::released),
                  member<Role::supplement>("waited_as", &SegmentOpened::waited_as),
                  member<Role::supplement>("tasks", &SegmentOpened::tasks));
}

// Since when Slurm could have started what this wait or run (SegmentOpened, SegmentFact) asks for.
template <typename Segment>
[[nodiscard]] Instant could_start_since(const Segment& segment) {
  return segment.key.kind == SegmentKind::wait ? segment.key.anchor : segment.released.value_or(segment.begin);
}

enum class CloseReason : std::uint8_t { ended, suspended, requeued, resized, started, changed, vanished };

// The segment's exclusive end. end < begin is an error; end == begin leaves a segment without effect.
// `started` and `changed` end waits (the job started; its demand or eligibility changed). `job_state` is Slurm's name
// for the state that followed ("COMPLETED", "SUSPENDED", ...), for auditors only.
struct SegmentClosed {
  SegmentKey key;
  Instant end;
  CloseReason reason = CloseReason::ended;
  std::string job_state;
  friend bool operator==(const SegmentClosed&, const SegmentClosed&) = default;
};
constexpr auto description_of(std::type_identity<SegmentClosed>) {
  return describe("segment_closed", member<Role::identity>("", &SegmentClosed::key),
                  member<Role::time>("end", &SegmentClosed::end), member("reason", &SegmentClosed::reason),
                  member("job_state", &SegmentClosed::job_state));
}

// Slurm's own records do not have this segment after all (slurmctld was killed before it saved the start), or the
// request of a wait was withdrawn before it started (daemon/observer/wait_writer.hpp). The segment counts for nothing,
// whatever else is known of it. `at` is when that became known.
struct SegmentRetracted {
  SegmentKey key;
  Instant at;
  friend bool operator==(const SegmentRetracted&, const SegmentRetracted&) = default;
};
constexpr auto description_of(std::type_identity<SegmentRetracted>) {
  return describe("segment_retracted", member<Role::identity>("", &SegmentRetracted::key),
                  member<Role::time>("at", &SegmentRetracted::at));
}

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
constexpr auto description_of(std::type_identity<JobDescribed>) {
  return describe("job_described", member<Role::identity>("job", &JobDescribed::job),
                  member<Role::identity_and_time>("submit", &JobDescribed::submit),
                  member("organization", &JobDescribed::organization), member("array_job", &JobDescribed::array_job),
                  member("array_task", &JobDescribed::array_task), member("het_job", &JobDescribed::het_job),
                  member("user_id", &JobDescribed::user_id), member("group_id", &JobDescribed::group_id),
                  member("account", &JobDescribed::account), member("partition", &JobDescribed::partition),
                  member("qos", &JobDescribed::qos), member("name", &JobDescribed::name),
                  member("wckey", &JobDescribed::wckey));
}

// The facts of JobDescribed as they are from `at` on: a user moved or renamed the job, it got the partition in which it
// runs, or the record of an array's pending tasks became its last task. The JobDescribed of the same job and submit
// time holds before the first of these. The books do not depend on it.
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
// The event by which a job is as in `now` from `at` on.
[[nodiscard]] JobChanged change_to(const JobDescribed& now, Instant at);
constexpr auto description_of(std::type_identity<JobChanged>) {
  return describe(
      "job_changed", member<Role::identity>("job", &JobChanged::job),
      member<Role::identity>("submit", &JobChanged::submit), member<Role::identity_and_time>("at", &JobChanged::at),
      member("organization", &JobChanged::organization), member("array_job", &JobChanged::array_job),
      member("array_task", &JobChanged::array_task), member("het_job", &JobChanged::het_job),
      member("user_id", &JobChanged::user_id), member("group_id", &JobChanged::group_id),
      member("account", &JobChanged::account), member("partition", &JobChanged::partition),
      member("qos", &JobChanged::qos), member("name", &JobChanged::name), member("wckey", &JobChanged::wckey));
}

}  // namespace shapley::accounting
