// The codec with random messages, and the classifier against the definition: walk the rules in order and take the first
// that matches.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "protocol/classifier.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::protocol {
// Random messages for RapidCheck. Structured bindings name every member: a member added to messages.hpp and forgotten
// here does not compile, and one forgotten in the codec fails the round trip.

template <typename T>
requires std::is_integral_v<T> || std::is_same_v<T, std::string>
void pick(T& value) {
  value = *rc::gen::arbitrary<T>();
}
void pick(Role& value) {
  value = *rc::gen::element(Role::feeder, Role::reader);
}
void pick(JobState& value) {
  value = *rc::gen::element(JobState::pending, JobState::running, JobState::suspended, JobState::ended);
}
void pick(WaitReason& value) {
  value = *rc::gen::element(WaitReason::startable, WaitReason::held, WaitReason::dependency, WaitReason::begin_time,
                            WaitReason::array_limit, WaitReason::account_limit, WaitReason::nice, WaitReason::other);
}
void pick(RuleKind& value) {
  value = *rc::gen::element(RuleKind::account, RuleKind::partition, RuleKind::qos, RuleKind::user, RuleKind::group);
}
void pick(Charge& value) {
  value = *rc::gen::element(Charge::dominant, Charge::cpu, Charge::weights, Charge::billing);
}

template <typename... T>
void pick_all(T&... members);

template <typename T>
void pick(std::vector<T>& values) {
  values.resize(*rc::gen::inRange<std::size_t>(0, 6));
  for (T& value : values) pick(value);
}

void pick(Tres& m) {
  auto& [name, count] = m;
  pick_all(name, count);
}
void pick(NodeHolding& m) {
  auto& [node, cpus, memory, gres] = m;
  pick_all(node, cpus, memory, gres);
}
void pick(JobUpdate& m) {
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
void pick(NodeRecord& m) {
  auto& [name, cpus, usable, tres, memory, gres, partitions, features, reservations, allocation_unit] = m;
  pick_all(name, cpus, usable, tres, memory, gres, partitions, features, reservations, allocation_unit);
}
void pick(Rule& m) {
  auto& [organization, kind, name, id] = m;
  pick_all(organization, kind, name, id);
}
void pick(Hello& m) {
  auto& [version, role, program, cluster, slurm_version, instance, min_job_age_s, interval_ms, backlog,
         dropped_backlogs, on_behalf_of, observing_since, observed_before, controller_ran_at, dropped, sign_of_life_s,
         state_location, state_location_id, ledger] = m;
  pick_all(version, role, program, cluster, slurm_version, instance, min_job_age_s, interval_ms, backlog,
           dropped_backlogs, on_behalf_of, observing_since, observed_before, controller_ran_at, dropped, sign_of_life_s,
           state_location, state_location_id, ledger);
}
void pick(Welcome& m) {
  auto& [version, program, act, strict, weight, stale_after_s, acknowledged] = m;
  pick_all(version, program, act, strict, weight, stale_after_s, acknowledged);
}
void pick(Refused& m) {
  auto& [reason] = m;
  pick(reason);
}
void pick(SnapshotBegin& m) {
  auto& [sequence, observed_at] = m;
  pick_all(sequence, observed_at);
}
void pick(PrivilegedUser& m) {
  auto& [user_id, is_operator, accounts] = m;
  pick_all(user_id, is_operator, accounts);
}
void pick(Privacy& m) {
  auto& [jobs, usage, users] = m;
  pick_all(jobs, usage, users);
}
void pick(Observations& m) {
  auto& [sequence, observed_at, jobs, nodes, gone, gone_nodes, runs_only, privacy] = m;
  pick_all(sequence, observed_at, jobs, nodes, gone, gone_nodes, runs_only, privacy);
}
void pick(SnapshotEnd& m) {
  auto& [sequence, observed_at] = m;
  pick_all(sequence, observed_at);
}
void pick(Ack& m) {
  auto& [sequence] = m;
  pick(sequence);
}
void pick(Wide& m) {
  auto& [high, low] = m;
  pick_all(high, low);
}
void pick(Braking& m) {
  auto& [balance, work, doubled_turn] = m;
  pick_all(balance, work, doubled_turn);
}
void pick(Ranks& m) {
  auto& [generation, computed_at, organizations, leads, lacking, returning, braking, residual] = m;
  pick_all(generation, computed_at, organizations, leads, lacking, returning, braking, residual);
}
void pick(JobLevel& m) {
  auto& [job_id, level] = m;
  pick_all(job_id, level);
}
void pick(Levels& m) {
  auto& [generation, computed_at, jobs] = m;
  pick_all(generation, computed_at, jobs);
}
void pick(Weight& m) {
  auto& [name, weight] = m;
  pick_all(name, weight);
}
void pick(ChargeRule& m) {
  auto& [charge, weights, node_weights] = m;
  pick_all(charge, weights, node_weights);
}
void pick(OwnerPart& m) {
  auto& [organization, parts_per_million] = m;
  pick_all(organization, parts_per_million);
}
void pick(OwnedNodes& m) {
  auto& [nodes, owners] = m;
  pick_all(nodes, owners);
}
void pick(Rules& m) {
  auto& [rules, charge, owners] = m;
  pick_all(rules, charge, owners);
}
void pick(Query& m) {
  auto& [id, json] = m;
  pick_all(id, json);
}
void pick(Reply& m) {
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

Message pick_message() {
  return pick_message(*rc::gen::inRange<std::size_t>(0, std::variant_size_v<Message>));
}

namespace {

struct NaiveJob {
  std::string account;
  std::vector<std::string> ancestors;
  std::string partition, qos;
  std::uint32_t user_id = 0, group_id = 0;
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

bool matches(const Rule& rule, const NaiveJob& job) {
  if (rule.kind == RuleKind::partition) return rule.name == job.partition;
  if (rule.kind == RuleKind::qos) return rule.name == job.qos;
  if (rule.kind == RuleKind::user) return rule.id == job.user_id;
  if (rule.kind == RuleKind::group) return rule.id == job.group_id;
  return lower(rule.name) == lower(job.account) ||
         std::any_of(job.ancestors.begin(), job.ancestors.end(),
                     [&](const std::string& ancestor) { return lower(rule.name) == lower(ancestor); });
}

std::size_t first_match(const std::vector<Rule>& rules, const NaiveJob& job) {
  std::size_t position = 0;
  while (position < rules.size() && !matches(rules[position], job)) ++position;
  return position;
}

std::string organization_at(const std::vector<Rule>& rules, std::size_t position) {
  return position < rules.size() ? rules[position].organization : "";
}

// A small world, so that rules and jobs meet.
std::string pick_name() {
  return *rc::gen::element<std::string>("a", "b", "c", "d", "A", "bC", "Bc");
}
std::uint32_t pick_id() {
  return *rc::gen::inRange<std::uint32_t>(0, 5);
}

std::vector<Rule> some_rules() {
  std::vector<Rule> rules(*rc::gen::inRange<std::size_t>(0, 12));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    // The organization names the rule, so that a wrong choice among equal organizations shows too.
    rules[i] = {.organization = std::to_string(i),
                .kind = *rc::gen::element(RuleKind::account, RuleKind::partition, RuleKind::qos, RuleKind::user,
                                          RuleKind::group),
                .name = pick_name(),
                .id = pick_id()};
  }
  return rules;
}

NaiveJob some_job() {
  NaiveJob job{.account = pick_name(),
               .ancestors = std::vector<std::string>(*rc::gen::inRange<std::size_t>(0, 3)),
               .partition = pick_name(),
               .qos = pick_name(),
               .user_id = pick_id(),
               .group_id = pick_id()};
  for (std::string& ancestor : job.ancestors) ancestor = pick_name();
  return job;
}

JobTraits traits_of(const NaiveJob& job) {
  return {.account = job.account,
          .account_ancestors = job.ancestors,
          .partition = job.partition,
          .qos = job.qos,
          .user_id = job.user_id,
          .group_id = job.group_id};
}

RC_GTEST_PROP(Classifier, AnswersLikeAWalkOverTheRules, ()) {
  const std::vector<Rule> rules = some_rules();
  const NaiveJob job = some_job();
  const Classifier classifier(rules);
  RC_ASSERT(std::string(classifier.organization_of(traits_of(job))) == organization_at(rules, first_match(rules, job)));
}

// A list of partitions: a walk for each of them.
RC_GTEST_PROP(Classifier, AsksForEachPartitionOfAListByItself, ()) {
  const std::vector<Rule> rules = some_rules();
  const Classifier classifier(rules);
  NaiveJob job = some_job();
  std::string list;
  std::size_t last = 0;
  std::multiset<std::string> expected;
  for (int names = *rc::gen::inRange(1, 5); names > 0; --names) {
    job.partition = pick_name();
    list += (list.empty() ? "" : ",") + job.partition;
    last = std::max(last, first_match(rules, job));
    expected.insert(organization_at(rules, first_match(rules, job)));
  }
  job.partition = list;
  RC_ASSERT(std::string(classifier.organization_of(traits_of(job))) == organization_at(rules, last));
  std::multiset<std::string> visited;
  classifier.for_each_organization(traits_of(job), [&](std::string_view name) { visited.emplace(name); });
  RC_ASSERT(visited == expected);
}

constexpr std::size_t k_header_bytes = 4;

std::string body_of(const Message& message) {
  return encode_frame(message).substr(k_header_bytes);
}

class RoundTrip : public testing::TestWithParam<std::size_t> {};

TEST_P(RoundTrip, KeepsEveryMember) {
  EXPECT_TRUE(rc::check([type = GetParam()] {
    const Message message = pick_message(type);
    const Expected<Message> decoded = decode_body(body_of(message));
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->index() == type);
    RC_ASSERT(*decoded == message);
  }));
}

INSTANTIATE_TEST_SUITE_P(EveryMessage, RoundTrip, testing::Range(std::size_t{0}, std::variant_size_v<Message>));

RC_GTEST_PROP(Frames, ComeOutAsTheyWentInHoweverTheyAreCut, ()) {
  std::vector<Message> sent;
  std::string stream;
  const auto count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) stream += encode_frame(sent.emplace_back(pick_message()));
  FrameReader reader;
  std::vector<Message> received;
  for (std::size_t at = 0; at < stream.size();) {
    const auto piece = *rc::gen::inRange<std::size_t>(1, 400);
    reader.feed(std::string_view(stream).substr(at, piece));
    at += piece;
    for (;;) {
      auto body = reader.next();
      RC_ASSERT(body.has_value());
      if (!*body) break;
      auto message = decode_body(**body);
      RC_ASSERT(message.has_value());
      received.push_back(*std::move(message));
    }
  }
  RC_ASSERT(received == sent);
}

// What a decoder accepts it must also be able to say again: nothing half-read, nothing out of range.
void check_answer(const std::string& body) {
  const Expected<Message> message = decode_body(body);
  if (!message) {
    RC_ASSERT(message.error().code == Errc::protocol);
    RC_ASSERT(!message.error().what.empty());
    return;
  }
  const Expected<Message> again = decode_body(body_of(*message));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *message);
}

RC_GTEST_PROP(HostileBodies, CutShortAreRefused, ()) {
  const std::string body = body_of(pick_message());
  const auto kept = *rc::gen::inRange<std::size_t>(0, body.size());
  const Expected<Message> message = decode_body(body.substr(0, kept));
  RC_ASSERT(!message.has_value());
  RC_ASSERT(message.error().code == Errc::protocol);
}

RC_GTEST_PROP(HostileBodies, WithChangedBytesNeverCrash, ()) {
  std::string body = body_of(pick_message());
  const auto changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
  }
  check_answer(body);
}

RC_GTEST_PROP(HostileBodies, OfRandomBytesNeverCrash, ()) {
  check_answer(static_cast<char>(*rc::gen::inRange(0, 16)) + *rc::gen::arbitrary<std::string>());
}

// Random bytes rarely nest. These are the bytes with which MessagePack begins arrays, maps, strings, numbers and nil.
RC_GTEST_PROP(HostileBodies, OfRandomStructureNeverCrash, ()) {
  const auto structure = rc::gen::element<int>(0x00, 0x01, 0x7f, 0x80, 0x81, 0x90, 0x91, 0x92, 0x96, 0x9f, 0xa0, 0xa3,
                                               0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc7, 0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3,
                                               0xd4, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff);
  std::string body(1, static_cast<char>(*rc::gen::inRange(0, 12)));
  for (const int byte : *rc::gen::container<std::vector<int>>(structure)) body.push_back(static_cast<char>(byte));
  check_answer(body);
}

}  // namespace
}  // namespace shapley::protocol
