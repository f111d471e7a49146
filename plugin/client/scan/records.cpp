#include "plugin/client/scan/records.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plugin/client/scan/gres.hpp"
#include "plugin/client/scan/placement.hpp"

namespace shapley::client {

namespace {

std::vector<protocol::Tres> to_tres(const shapley_tres_t* tres, std::size_t count) {
  std::vector<protocol::Tres> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.push_back({text_or_empty(tres[i].name), tres[i].count});
  return result;
}

protocol::NodeHolding to_holding(const shapley_node_holding_t& holding) {
  return {text_or_empty(holding.node), holding.cpus, holding.memory, read_gres(holding.gres)};
}

// Slurm reorders the list of a job that asks for several partitions, and users repeat names.
std::string to_partition(const char* names) {
  const std::string list = text_or_empty(names);
  if (list.find(',') == std::string::npos) return list;
  std::set<std::string> each;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) each.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string ascending;
  for (const std::string& name : each) ascending.append(ascending.empty() ? "" : ",").append(name);
  return ascending;
}

// The shim's enumerations are declared in the protocol's order; these hold it to that.
static_assert(static_cast<int>(protocol::JobState::pending) == SHAPLEY_JOB_PENDING);
static_assert(static_cast<int>(protocol::JobState::running) == SHAPLEY_JOB_RUNNING);
static_assert(static_cast<int>(protocol::JobState::suspended) == SHAPLEY_JOB_SUSPENDED);
static_assert(static_cast<int>(protocol::JobState::ended) == SHAPLEY_JOB_ENDED);
static_assert(static_cast<int>(protocol::WaitReason::startable) == SHAPLEY_WAIT_STARTABLE);
static_assert(static_cast<int>(protocol::WaitReason::held) == SHAPLEY_WAIT_HELD);
static_assert(static_cast<int>(protocol::WaitReason::dependency) == SHAPLEY_WAIT_DEPENDENCY);
static_assert(static_cast<int>(protocol::WaitReason::begin_time) == SHAPLEY_WAIT_BEGIN_TIME);
static_assert(static_cast<int>(protocol::WaitReason::array_limit) == SHAPLEY_WAIT_ARRAY_LIMIT);
static_assert(static_cast<int>(protocol::WaitReason::account_limit) == SHAPLEY_WAIT_ACCOUNT_LIMIT);
static_assert(static_cast<int>(protocol::WaitReason::nice) == SHAPLEY_WAIT_NICE);
static_assert(static_cast<int>(protocol::WaitReason::other) == SHAPLEY_WAIT_OTHER);
static_assert(protocol::k_max_depends_on == k_shapley_max_depends_on);
static_assert(protocol::k_max_privileged_users == k_shapley_max_privileged_users);
static_assert(protocol::k_max_coordinated_accounts == k_shapley_max_coordinated_accounts);

}  // namespace

protocol::JobRecord to_record(const shapley_job_t& job) {
  protocol::JobRecord record;
  record.job_id = job.job_id;
  record.array_job_id = job.array_job_id;
  record.array_task_id = job.array_task_id;
  record.pending_tasks = job.pending_tasks;
  record.het_job_id = job.het_job_id;
  record.restart_count = job.restart_count;
  record.state = static_cast<protocol::JobState>(job.state);
  record.completing = job.completing;
  record.slurm_state = text_or_empty(job.slurm_state);
  record.wait = static_cast<protocol::WaitReason>(job.wait);
  record.user_id = job.user_id;
  record.group_id = job.group_id;
  record.account = text_or_empty(job.account);
  record.account_ancestors.reserve(job.account_ancestors_count);
  for (std::size_t i = 0; i < job.account_ancestors_count; ++i) {
    record.account_ancestors.push_back(text_or_empty(job.account_ancestors[i]));
  }
  record.partition = to_partition(job.partition);
  record.qos = text_or_empty(job.qos);
  record.name = text_or_empty(job.name);
  record.wckey = text_or_empty(job.wckey);
  record.submit_time = job.submit_time;
  record.eligible_time = job.eligible_time;
  record.start_time = job.start_time;
  record.end_time = job.end_time;
  record.suspend_time = job.suspend_time;
  record.pre_suspend_run_s = job.pre_suspend_run_s;
  record.total_suspended_s = job.total_suspended_s;
  record.resize_time = job.resize_time;
  record.requested_cpus = job.requested_cpus;
  record.nodes.reserve(job.nodes_count);
  for (std::size_t i = 0; i < job.nodes_count; ++i) record.nodes.push_back(to_holding(job.nodes[i]));
  record.tres = to_tres(job.tres, job.tres_count);
  record.depends_on.assign(job.depends_on, job.depends_on + job.depends_on_count);
  record.time_limit_s = job.time_limit_s;
  record.requested_nodes = job.requested_nodes;
  record.requested_memory = job.requested_memory;
  record.exclusive = job.exclusive;
  if (job.gres_request != nullptr)
    record.requested_gres = requested_gres(*job.gres_request, job.requested_nodes, record.tres);
  record.required_nodes = placement_text(job.required_nodes);
  record.excluded_nodes = placement_text(job.excluded_nodes);
  record.features = placement_text(job.features);
  record.reservation = placement_text(job.reservation);
  return record;
}

protocol::NodeRecord to_record(const shapley_node_t& node) {
  protocol::NodeRecord record;
  record.name = text_or_empty(node.name);
  record.cpus = node.cpus;
  record.usable = node.usable;
  record.tres = to_tres(node.tres, node.tres_count);
  record.memory = node.memory;
  record.gres = read_gres(node.gres);
  record.partitions = node_names(node.partitions, node.partitions_count);
  record.features = node_features(node.features);
  record.reservations = node_names(node.reservations, node.reservations_count);
  return record;
}

protocol::Privacy to_record(const shapley_privacy_t& privacy) {
  // Slurm's lists are in the order in which they came from the database.
  std::map<std::uint32_t, protocol::PrivilegedUser> by_id;
  for (const shapley_privileged_user_t& user : std::span(privacy.users, privacy.users_count)) {
    protocol::PrivilegedUser& one = by_id[user.user_id];
    one.user_id = user.user_id;
    one.is_operator = one.is_operator || user.is_operator;
    for (const char* account : std::span(user.accounts, user.accounts_count))
      one.accounts.push_back(text_or_empty(account));
  }
  protocol::Privacy record{.jobs = privacy.jobs, .usage = privacy.usage, .users = {}};
  for (auto& [id, user] : by_id) {
    std::ranges::sort(user.accounts);
    user.accounts.erase(std::unique(user.accounts.begin(), user.accounts.end()), user.accounts.end());
    record.users.push_back(std::move(user));
  }
  return record;
}

std::size_t approximate_bytes(const protocol::JobRecord& job) {
  // Long strings are rare beside the fixed part, except what a user chooses.
  std::size_t tres = job.tres.size() + job.requested_gres.size();
  for (const protocol::NodeHolding& holding : job.nodes) tres += holding.gres.size();
  return sizeof job + job.name.size() + job.required_nodes.size() + job.excluded_nodes.size() + job.features.size() +
         job.reservation.size() + job.account_ancestors.size() * sizeof(std::string) +
         job.nodes.size() * sizeof(protocol::NodeHolding) + tres * sizeof(protocol::Tres) +
         job.depends_on.size() * sizeof(std::uint32_t);
}

std::size_t approximate_bytes(const protocol::NodeRecord& node) {
  std::size_t names = 0;
  for (const auto* list : {&node.partitions, &node.features, &node.reservations}) {
    for (const std::string& name : *list) names += sizeof name + name.size();
  }
  return sizeof node + (node.tres.size() + node.gres.size()) * sizeof(protocol::Tres) + names;
}

std::size_t approximate_bytes(const protocol::Privacy& privacy) {
  std::size_t bytes = sizeof privacy;
  for (const protocol::PrivilegedUser& user : privacy.users) {
    bytes += sizeof user;
    for (const std::string& account : user.accounts) bytes += sizeof account + account.size();
  }
  return bytes;
}

}  // namespace shapley::client
