#include "plugin/client/scan/records.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

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

// The shim's enumerations are declared in the protocol's order; these assertions ensure it.
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

protocol::JobUpdate to_record(const shapley_job_t& job) {
  protocol::JobUpdate record;
#define COPY_NUMBER(type, member) record.member = job.member;
#define COPY_TEXT(member) record.member = text_or_empty(job.member);
  SHAPLEY_JOB_NUMBERS(COPY_NUMBER)
  SHAPLEY_JOB_TEXTS(COPY_TEXT)
#undef COPY_NUMBER
#undef COPY_TEXT
  record.state = static_cast<protocol::JobState>(job.state);
  record.slurm_state = text_or_empty(job.slurm_state);
  record.wait = static_cast<protocol::WaitReason>(job.wait);
  record.account_ancestors.reserve(job.account_ancestors_count);
  for (std::size_t i = 0; i < job.account_ancestors_count; ++i) {
    record.account_ancestors.push_back(text_or_empty(job.account_ancestors[i]));
  }
  record.partition = to_partition(job.partition);
  record.nodes.reserve(job.nodes_count);
  for (std::size_t i = 0; i < job.nodes_count; ++i) record.nodes.push_back(to_holding(job.nodes[i]));
  record.tres = to_tres(job.tres, job.tres_count);
  record.depends_on.assign(job.depends_on, job.depends_on + job.depends_on_count);
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
  record.allocation_unit = std::max<std::uint32_t>(1, node.allocation_unit);
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

std::size_t approximate_bytes(const protocol::JobUpdate& job) {
  // Except for texts that users choose, long strings are rare compared to the fixed part.
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

namespace {

using Gres = std::vector<protocol::Tres>;

constexpr std::string_view k_tres_prefix = "gres/";
constexpr std::string_view k_separators = ":=";

struct GresEntry {
  std::string_view name;
  std::string_view typed;  // the name with its type; empty: it has none
  std::uint64_t count = 0;
};

// At most k_max_gres_count; 0 times counts as once.
std::uint64_t product(std::uint64_t count, std::uint64_t times) {
  const std::uint64_t factor = std::max<std::uint64_t>(times, 1);
  return count > k_max_gres_count / factor ? k_max_gres_count : count * factor;
}

// As Slurm's suffix_mult(): K, KiB: 1024, KB: 1000, and so on to P.
std::optional<std::uint64_t> multiplier_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  std::string lower(suffix.substr(0, 4));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const std::size_t power = std::string_view("kmgtp").find(lower[0]);
  const std::string_view unit = std::string_view(lower).substr(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "ib" || unit == "b")) return std::nullopt;
  std::uint64_t result = 1;
  for (std::size_t i = 0; i <= power; ++i) result *= unit == "b" ? 1000 : 1024;
  return result;
}

// "4", "4K". nullopt: not a number. A number that is too large becomes k_max_gres_count + 1.
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const auto multiplier = multiplier_of(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!multiplier) return std::nullopt;
  const bool too_large = error != std::errc() || digits > k_max_gres_count / *multiplier;
  return too_large ? k_max_gres_count + 1 : digits * *multiplier;
}

// Removes the text before the first comma outside of parentheses, and that comma, from `rest`, and returns the text.
std::string_view take_entry(std::string_view& rest) {
  std::size_t end = 0;
  for (bool inside = false; end < rest.size() && (inside || rest[end] != ','); ++end) {
    if (rest[end] == '(') inside = true;
    if (rest[end] == ')') inside = false;
  }
  const std::string_view entry = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  return entry;
}

std::optional<std::string_view> without_prefix(std::string_view entry) {
  for (const std::string_view prefix : {std::string_view("gres:"), k_tres_prefix}) {
    if (entry.starts_with(prefix)) return entry.substr(prefix.size());
  }
  return std::nullopt;
}

// NAME[:TYPE][:COUNT][(...)]
std::optional<GresEntry> parse_entry(std::string_view entry) {
  std::string_view note;  // what the parentheses hold
  if (const std::size_t open = entry.find_first_of("()"); open != std::string_view::npos) {
    if (entry[open] != '(' || entry.back() != ')') return std::nullopt;
    note = entry.substr(open + 1, entry.size() - open - 2);
    entry = entry.substr(0, open);
  }
  GresEntry read{.name = entry.substr(0, entry.find_first_of(k_separators)), .typed = {}, .count = 1};
  std::string_view fields = entry.substr(read.name.size());
  std::string_view last;
  while (!fields.empty()) {
    fields.remove_prefix(1);  // the separator
    last = fields.substr(0, fields.find_first_of(k_separators));
    if (last.empty() || last == "no_consume") return std::nullopt;
    fields.remove_prefix(last.size());
    if (read.typed.empty() && (!fields.empty() || !number_in(last)))
      read.typed = entry.substr(0, entry.size() - fields.size());
  }
  constexpr std::string_view k_count_note = "CNT:";
  if (const auto count = number_in(last)) {
    read.count = *count;
  } else if (note.starts_with(k_count_note)) {
    read.count = number_in(note.substr(k_count_note.size())).value_or(0);
  }
  if (read.name.empty() || read.count == 0 || read.count > k_max_gres_count) return std::nullopt;
  return read;
}

// The count of this resource, 0 if it is new; nullptr when there is no room for another one.
std::uint64_t* count_of(Gres& gres, std::string_view name) {
  const auto known = std::find_if(gres.begin(), gres.end(), [&](const protocol::Tres& t) {
    return std::string_view(t.name).substr(k_tres_prefix.size()) == name;
  });
  if (known != gres.end()) return &known->count;
  if (gres.size() == k_max_gres_kinds) return nullptr;
  return &gres.emplace_back(protocol::Tres{std::string(k_tres_prefix).append(name), 0}).count;
}

enum class Prefix : bool { optional, required };

template <typename Visit>
void for_each_entry(const char* text, Prefix prefix, const Visit& visit) {
  const std::size_t length = text == nullptr ? 0 : ::strnlen(text, k_max_gres_text + 1);
  if (length > k_max_gres_text) return;
  for (std::string_view rest(text, length); !rest.empty();) {
    const std::string_view whole = take_entry(rest);
    const auto bare = without_prefix(whole);
    if (!bare && prefix == Prefix::required) continue;
    if (const auto entry = parse_entry(bare.value_or(whole))) visit(*entry);
  }
}

Gres read_entries(const char* text, Prefix prefix) {
  Gres result;
  for_each_entry(text, prefix, [&](const GresEntry& entry) {
    std::uint64_t* const count = count_of(result, entry.name);
    if (count != nullptr) *count = std::min(k_max_gres_count, *count + entry.count);
  });
  return result;
}

std::vector<std::string> read_types(std::initializer_list<const char*> texts, Prefix prefix) {
  std::vector<std::string> types;
  for (const char* text : texts) {
    for_each_entry(text, prefix, [&](const GresEntry& entry) {
      if (entry.typed.empty() || types.size() == k_max_gres_kinds) return;
      std::string type = std::string(k_tres_prefix).append(entry.typed);
      if (std::ranges::find(types, type) == types.end()) types.push_back(std::move(type));
    });
  }
  std::ranges::sort(types);
  return types;
}

}  // namespace

std::vector<protocol::Tres> read_gres(const char* text) {
  return read_entries(text, Prefix::optional);
}

std::vector<protocol::Tres> requested_gres(const shapley_gres_request_t& request, std::uint32_t nodes,
                                           const std::vector<protocol::Tres>& tres) {
  Gres result;
  const std::pair<const char*, std::uint32_t> texts[] = {
      {request.per_job, 1}, {request.per_node, nodes}, {request.per_socket, nodes}, {request.per_task, request.tasks}};
  for (const auto& [text, times] : texts) {
    // Newer releases list CPUs and licenses in the same text.
    for (const protocol::Tres& t : read_entries(text, Prefix::required)) {
      std::uint64_t* const count = count_of(result, std::string_view(t.name).substr(k_tres_prefix.size()));
      if (count != nullptr) *count = std::max(*count, product(t.count, times));
    }
  }
  for (const protocol::Tres& t : tres) {
    const auto name = t.name.starts_with(k_tres_prefix) ? without_prefix(t.name) : std::nullopt;
    if (!name || t.count == 0 || name->find(':') != std::string_view::npos) continue;
    if (std::uint64_t* const count = count_of(result, *name)) *count = std::min(k_max_gres_count, t.count);
  }
  return result;
}

request::LeastPart least_part(const shapley_job_t& job) {
  if (job.gres_request == nullptr) return {};
  const shapley_gres_request_t& gres = *job.gres_request;
  // One node has what is asked for on each, or for one task.
  return {.cpus = job.node_cpus,
          .memory = request::count_of(job.node_memory),
          .gres = request::resources_of(requested_gres({.per_job = nullptr,
                                                        .per_node = gres.per_node,
                                                        .per_socket = gres.per_socket,
                                                        .per_task = gres.per_task,
                                                        .tasks = 1},
                                                       1, {})),
          .types = read_types({gres.per_job, gres.per_node, gres.per_socket, gres.per_task}, Prefix::required)};
}

NodeFacts facts_of(const shapley_node_t& node) {
  std::vector<NodeLimit> limits;
  for (const shapley_node_limit_t& limit : std::span(node.limits, node.limits_count))
    limits.push_back({placement_text(limit.name), limit.is_reservation, limit.cpus});
  std::ranges::sort(limits);
  return {.reserved_from = node.reserved_from,
          .starts_no_jobs = node.starts_no_jobs,
          .types = read_types({node.gres}, Prefix::optional),
          .limits = std::move(limits)};
}

namespace {

using protocol::k_max_features_text, protocol::k_max_node_names, protocol::k_max_placement_text;

// The shim's fingerprints cover exactly the characters that are passed on.
static_assert(k_max_placement_text == k_shapley_max_placement_text);
static_assert(k_max_node_names == k_shapley_max_node_names);
static_assert(k_max_features_text == k_shapley_max_features_text);

std::string_view view_up_to(const char* text, std::size_t most) {
  return text == nullptr ? std::string_view() : std::string_view(text, ::strnlen(text, most));
}

void sort_each_once(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// The complete names of a list, as far as it may be read.
std::string_view whole_features(const char* text) {
  const std::string_view read = view_up_to(text, k_max_features_text);
  if (read.size() < k_max_features_text || text[read.size()] == '\0' || text[read.size()] == ',') return read;
  const std::size_t last_comma = read.rfind(',');
  return last_comma == std::string_view::npos ? std::string_view() : read.substr(0, last_comma);
}

}  // namespace

std::string placement_text(const char* text) {
  return std::string(view_up_to(text, k_max_placement_text));
}

std::vector<std::string> node_names(const char* const* names, std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < std::min(count, k_max_node_names); ++i) {
    if (const std::string_view name = view_up_to(names[i], k_max_placement_text); !name.empty())
      result.emplace_back(name);
  }
  sort_each_once(result);
  return result;
}

std::vector<std::string> node_features(const char* text) {
  std::vector<std::string> result;
  for (std::string_view rest = whole_features(text); !rest.empty() && result.size() < k_max_node_names;) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!name.empty()) result.emplace_back(name.substr(0, k_max_placement_text));
  }
  sort_each_once(result);
  return result;
}

}  // namespace shapley::client
