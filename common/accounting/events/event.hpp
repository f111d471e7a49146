// Events: everything the books know. The ledger stores them, State folds them, nothing else changes the books.
//
// An event is a fact with its own time, never an observation time where Slurm's record has an exact one. Each has an
// identity (event_key): two events with one identity are the same fact, so applying one twice changes nothing, and any
// order of the same set of events gives the same books.
//
// Units: see base/types.hpp. Organizations are named, not numbered, in events, so that a ledger can be read by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// Weighted micro-processors that a segment holds on one node (> 0).
struct NodeShare {
  std::string node;
  MicroProcessors processors;
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

// [begin, ...) of `organization`. For a run, `nodes` names where (each node once, ascending by name) and `processors`
// is their sum. For a wait `nodes` is empty.
struct SegmentOpened {
  SegmentKey key;
  std::string organization;
  Instant begin;
  MicroProcessors processors;
  std::vector<NodeShare> nodes;
  friend bool operator==(const SegmentOpened&, const SegmentOpened&) = default;
};

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

// Slurm's own books do not hold this segment after all (slurmctld was killed before it saved the start). It counts for
// nothing, whatever else is known of it. `at` is when that was learned.
struct SegmentRetracted {
  SegmentKey key;
  Instant at;
  friend bool operator==(const SegmentRetracted&, const SegmentRetracted&) = default;
};

// The organizations of the configuration in its order (ties of ranks go to the first). In force from `at` until the
// next such event. An organization not named before joins the books; one no longer named keeps its row and rank order
// after the named ones. guests and commons are implied and come last.
struct OrganizationsDeclared {
  Instant at;
  std::vector<std::string> names;
  friend bool operator==(const OrganizationsDeclared&, const OrganizationsDeclared&) = default;
};

inline constexpr std::int64_t k_whole_node = 1'000'000;  // parts per million

// One owner's part of a node in parts per million. What the parts leave of the whole node belongs to commons.
struct OwnerPart {
  std::string organization;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const OwnerPart&, const OwnerPart&) = default;
};

struct OwnershipSpan {
  Instant from;
  std::vector<OwnerPart> owners;  // empty: commons. Each organization once; parts > 0, sum <= 1,000,000.
  friend bool operator==(const OwnershipSpan&, const OwnershipSpan&) = default;
};

// Who owns `node` at every instant from `effective` on, as agreed at `effective`: spans ascending by `from`, the last
// one open. It replaces what earlier statements said about instants >= effective and leaves the past alone. Spans may
// begin before `effective` (they hold from `effective` on) or after it (a dated hand-over that is already known).
struct OwnershipStated {
  std::string node;
  Instant effective;
  std::vector<OwnershipSpan> spans;
  friend bool operator==(const OwnershipStated&, const OwnershipStated&) = default;
};

// From `at` on the node offers `processors` (0: down, drained or gone). `ordinal` orders several changes of one second.
struct CapacityChanged {
  std::string node;
  Instant at;
  std::uint32_t ordinal = 0;
  MicroProcessors processors;
  friend bool operator==(const CapacityChanged&, const CapacityChanged&) = default;
};

// Periods in force from `at` on; the boundary of the old rule that is under way is replaced by the new rule's next one.
struct PeriodDeclared {
  Instant at;
  Period period = Period::none;
  friend bool operator==(const PeriodDeclared&, const PeriodDeclared&) = default;
};

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

// The configuration in force from `at`, as text, so that members can read the rules that made the books.
struct ConfigurationLoaded {
  Instant at;
  std::string text;
  friend bool operator==(const ConfigurationLoaded&, const ConfigurationLoaded&) = default;
};

using Event = std::variant<SegmentOpened, SegmentClosed, SegmentRetracted, OrganizationsDeclared, OwnershipStated,
                           CapacityChanged, PeriodDeclared, JobDescribed, ConfigurationLoaded>;

// Stable lower-case word of the event's kind ("segment_opened", ...), as stored in the ledger.
[[nodiscard]] std::string_view kind_of(const Event& event);

// The instant an event speaks of (begin, end, at, effective, submit).
[[nodiscard]] Instant time_of(const Event& event);

// The identity of the fact as text: kind and identifying members ("segment_opened/run/17/1700000000/0"). Two events
// with one key must be equal; State::apply reports a differing second one as Errc::conflict.
[[nodiscard]] std::string event_key(const Event& event);

[[nodiscard]] std::string_view name_of(SegmentKind kind);
[[nodiscard]] std::string_view name_of(CloseReason reason);
[[nodiscard]] std::optional<SegmentKind> parse_segment_kind(std::string_view name);
[[nodiscard]] std::optional<CloseReason> parse_close_reason(std::string_view name);

}  // namespace shapley::accounting
