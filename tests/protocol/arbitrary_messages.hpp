// Random messages for RapidCheck. Structured bindings name every member: a member added to messages.hpp and forgotten
// here does not compile, and one forgotten in the codec fails the round trip.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <rapidcheck.h>

#include "protocol/messages.hpp"

namespace shapley::protocol {

template <typename T>
requires std::is_integral_v<T> || std::is_same_v<T, std::string>
void pick(T& value) {
  value = *rc::gen::arbitrary<T>();
}
inline void pick(Role& value) {
  value = *rc::gen::element(Role::feeder, Role::reader);
}
inline void pick(JobState& value) {
  value = *rc::gen::element(JobState::pending, JobState::running, JobState::suspended, JobState::ended);
}
inline void pick(WaitReason& value) {
  value = *rc::gen::element(WaitReason::startable, WaitReason::held, WaitReason::dependency, WaitReason::begin_time,
                            WaitReason::array_limit, WaitReason::account_limit, WaitReason::nice, WaitReason::other);
}
inline void pick(RuleKind& value) {
  value = *rc::gen::element(RuleKind::account, RuleKind::partition, RuleKind::qos, RuleKind::user, RuleKind::group);
}

template <typename... T>
void pick_all(T&... members);

template <typename T>
void pick(std::vector<T>& values) {
  values.resize(*rc::gen::inRange<std::size_t>(0, 6));
  for (T& value : values) pick(value);
}

inline void pick(Tres& m) {
  auto& [name, count] = m;
  pick_all(name, count);
}
inline void pick(NodeHolding& m) {
  auto& [node, cpus, memory, gres] = m;
  pick_all(node, cpus, memory, gres);
}
inline void pick(JobRecord& m) {
  auto& [job_id, array_job_id, array_task_id, pending_tasks, het_job_id, restart_count, state, completing, slurm_state,
         wait, user_id, group_id, account, account_ancestors, partition, qos, name, wckey, submit_time, eligible_time,
         start_time, end_time, suspend_time, pre_suspend_run_s, total_suspended_s, resize_time, requested_cpus, nodes,
         tres, depends_on, time_limit_s, requested_nodes, requested_memory, exclusive, requested_gres, required_nodes,
         excluded_nodes, features, reservation] = m;
  pick_all(job_id, array_job_id, array_task_id, pending_tasks, het_job_id, restart_count, state, completing,
           slurm_state, wait, user_id, group_id, account, account_ancestors, partition, qos, name, wckey, submit_time,
           eligible_time, start_time, end_time, suspend_time, pre_suspend_run_s, total_suspended_s, resize_time,
           requested_cpus, nodes, tres, depends_on, time_limit_s, requested_nodes, requested_memory, exclusive,
           requested_gres, required_nodes, excluded_nodes, features, reservation);
}
inline void pick(NodeRecord& m) {
  auto& [name, cpus, usable, tres, memory, gres, partitions, features, reservations] = m;
  pick_all(name, cpus, usable, tres, memory, gres, partitions, features, reservations);
}
inline void pick(Rule& m) {
  auto& [organization, kind, name, id] = m;
  pick_all(organization, kind, name, id);
}
inline void pick(Hello& m) {
  auto& [version, role, program, cluster, slurm_version, instance, min_job_age_s, interval_ms, backlog,
         dropped_backlogs, on_behalf_of, observing_since, observed_before, controller_ran_at, dropped, sign_of_life_s,
         state_location, state_location_id, ledger] = m;
  pick_all(version, role, program, cluster, slurm_version, instance, min_job_age_s, interval_ms, backlog,
           dropped_backlogs, on_behalf_of, observing_since, observed_before, controller_ran_at, dropped, sign_of_life_s,
           state_location, state_location_id, ledger);
}
inline void pick(Welcome& m) {
  auto& [version, program, act, strict, weight, stale_after_s, acknowledged] = m;
  pick_all(version, program, act, strict, weight, stale_after_s, acknowledged);
}
inline void pick(Refused& m) {
  auto& [reason] = m;
  pick(reason);
}
inline void pick(SnapshotBegin& m) {
  auto& [sequence, observed_at] = m;
  pick_all(sequence, observed_at);
}
inline void pick(PrivilegedUser& m) {
  auto& [user_id, is_operator, accounts] = m;
  pick_all(user_id, is_operator, accounts);
}
inline void pick(Privacy& m) {
  auto& [jobs, usage, users] = m;
  pick_all(jobs, usage, users);
}
inline void pick(Observations& m) {
  auto& [sequence, observed_at, jobs, nodes, gone, gone_nodes, runs_only, privacy] = m;
  pick_all(sequence, observed_at, jobs, nodes, gone, gone_nodes, runs_only, privacy);
}
inline void pick(SnapshotEnd& m) {
  auto& [sequence, observed_at] = m;
  pick_all(sequence, observed_at);
}
inline void pick(Ack& m) {
  auto& [sequence] = m;
  pick(sequence);
}
inline void pick(Ranks& m) {
  auto& [generation, computed_at, organizations, leads, lacking] = m;
  pick_all(generation, computed_at, organizations, leads, lacking);
}
inline void pick(JobLevel& m) {
  auto& [job_id, level] = m;
  pick_all(job_id, level);
}
inline void pick(Levels& m) {
  auto& [generation, computed_at, jobs] = m;
  pick_all(generation, computed_at, jobs);
}
inline void pick(Rules& m) {
  auto& [rules] = m;
  pick(rules);
}
inline void pick(Query& m) {
  auto& [id, json] = m;
  pick_all(id, json);
}
inline void pick(Reply& m) {
  auto& [id, json] = m;
  pick_all(id, json);
}

template <typename... T>
void pick_all(T&... members) {
  (pick(members), ...);
}

// A message of the given type (position in Message) with random content. Call within a property.
template <std::size_t I = 0>
Message pick_message(std::size_t type) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (type != I) return pick_message<I + 1>(type);
    std::variant_alternative_t<I, Message> message;
    pick(message);
    return message;
  } else {
    return Refused{};  // not reached: callers draw types below variant_size
  }
}

inline Message pick_message() {
  return pick_message(*rc::gen::inRange<std::size_t>(0, std::variant_size_v<Message>));
}

}  // namespace shapley::protocol
