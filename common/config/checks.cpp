#include "config/checks.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "config/settings.hpp"

namespace shapley::config {

namespace {

// If two rules name one user or group, one by name and one by number, the second rule never matches.
void doubt_second_rules(const Configuration& configuration, std::vector<Fault>& doubts) {
  const auto identities = identify(configuration);
  if (!identities) return;
  std::map<std::pair<RuleKind, std::uint32_t>, const Rule*> first;
  auto id = identities->rules.begin();
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const Rule& rule : organization.rules) {
      const std::uint32_t number = *id++;
      if (rule.kind != RuleKind::user && rule.kind != RuleKind::group) continue;
      const auto [earlier, is_new] = first.emplace(std::pair(rule.kind, number), &rule);
      if (is_new) continue;
      const std::string word(names_of(rule.kind).word);
      doubts.push_back(
          {rule.line,
           fmt::format(
               "organization '{}': the rule of {} '{}' never matches: it is {} '{}' of line {}, whose rule comes first",
               organization.name, word, rule.name, word, earlier->second->name, earlier->second->line),
           fmt::format("leave the {} in one place", word)});
    }
  }
}

std::optional<std::uint32_t> parse_id(const std::string& text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return id;
}

// `find`: getpwnam_r or getgrnam_r, because several threads may ask.
template <typename Entry, typename Find>
std::optional<Entry> entry_of(const std::string& name, std::vector<char>& buffer, Find find) {
  Entry entry{};
  Entry* found = nullptr;
  while (find(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE) buffer.resize(2 * buffer.size());
  return found == nullptr ? std::nullopt : std::optional(entry);
}

std::optional<std::uint32_t> find_user(const std::string& name) {
  if (const auto id = parse_id(name)) return id;
  std::vector<char> buffer(4096);
  const auto entry = entry_of<passwd>(name, buffer, getpwnam_r);
  return entry ? std::optional<std::uint32_t>(entry->pw_uid) : std::nullopt;
}

std::optional<std::uint32_t> find_group(const std::string& name) {
  if (const auto id = parse_id(name)) return id;
  std::vector<char> buffer(4096);
  const auto entry = entry_of<group>(name, buffer, getgrnam_r);
  return entry ? std::optional<std::uint32_t>(entry->gr_gid) : std::nullopt;
}

// 0 for kinds of rules that have names only.
std::optional<std::uint32_t> find_id(const Rule& rule) {
  if (rule.kind == RuleKind::user) return find_user(rule.name);
  if (rule.kind == RuleKind::group) return find_group(rule.name);
  return 0U;
}

}  // namespace

std::vector<Fault> doubts(const Configuration& configuration) {
  std::vector<Fault> doubts;
  for (const OrganizationConfig& organization : configuration.organizations) {
    if (!organization.rules.empty() || !organization.nodes.empty()) continue;
    doubts.push_back({organization.line,
                      fmt::format("organization '{}' has neither rules nor nodes", organization.name),
                      "no job is booked under it and it lends nothing; give it accounts or nodes, or leave it out"});
  }
  doubt_second_rules(configuration, doubts);
  if (!configuration.consortium.name.empty() && configuration.signing_key.empty()) {
    doubts.push_back({0, "consortium: without a signing_key this cluster states no standing to the others",
                      "name a key that shapleyctl keygen made"});
  }
  std::ranges::stable_sort(doubts, {}, &Fault::line);
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    const std::string name(accounting::name_of(id));
    if (configuration.off.contains(id) || kept_estimators(configuration).contains(id)) continue;
    const bool has_key = accounting::estimators()[id.value].has_key;
    doubts.push_back({0, fmt::format("{} is not kept for more than {} organizations", name, most_organizations(id)),
                      "the other estimators are" +
                          (has_key ? fmt::format("; write {}: off to say that this is as it should be", name) : "")});
  }
  return doubts;
}

std::vector<Fault> former_name_faults(const Configuration& configuration, const accounting::FormerNames& former) {
  constexpr std::size_t k_date = 10;  // of "2026-11-03T07:00:00Z"
  std::vector<Fault> faults;
  for (const OrganizationConfig& organization : configuration.organizations) {
    const auto found = former.find(organization.name);
    if (found == former.end()) continue;
    const auto& [name, now] = *found;
    faults.push_back(
        {organization.line,
         fmt::format("organization '{}' was {}{} by a correction of the books of {}", name,
                     now.merged ? "merged into " : "renamed to ", now.today, format_instant(now.at).substr(0, k_date)),
         "write " + now.today});
  }
  return faults;
}

std::vector<Fault> consortium_faults(const Configuration& configuration, std::string_view cluster) {
  std::vector<Fault> faults;
  for (const OtherClusterConfig& other : configuration.consortium.clusters) {
    if (other.name != lower(cluster)) continue;
    faults.push_back({other.line, fmt::format("consortium: cluster '{}' is this cluster itself", other.name),
                      "name only the other clusters in the list"});
  }
  return faults;
}

std::size_t most_organizations(accounting::EstimatorId estimator) {
  constexpr std::size_t k_unnamed = 2;
  return accounting::estimators()[estimator.value].most_organizations - k_unnamed;
}

void check_contribution(const Configuration& configuration, FaultList& faults) {
  const std::size_t most = most_organizations(configuration.contribution);
  if (configuration.organizations.size() <= most) return;
  const OrganizationConfig& first = configuration.organizations[most];
  const std::string name(accounting::name_of(configuration.contribution));
  faults.add(
      first.line,
      fmt::format("organization '{}' is one more than contribution: {} can rank, which are {}", first.name, name, most),
      fmt::format("write another contribution, such as {}, or name fewer organizations",
                  accounting::estimators()[configuration.contribution.value].stand_in));
}

accounting::EstimatorSet kept_estimators(const Configuration& configuration) {
  accounting::EstimatorSet kept = configuration.off.others();
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    if (configuration.organizations.size() > most_organizations(id)) kept.erase(id);
  }
  return kept;
}

tl::expected<Identities, std::vector<Fault>> identify(const Configuration& configuration) {
  Identities identities;
  std::vector<Fault> faults;
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const Rule& rule : organization.rules) {
      if (const auto id = find_id(rule)) {
        identities.rules.push_back(*id);
      } else {
        faults.push_back({rule.line,
                          fmt::format("organization '{}': {} '{}' is unknown on this machine", organization.name,
                                      names_of(rule.kind).word, rule.name),
                          "correct the name, create it, or give the numeric id"});
      }
    }
  }
  if (const auto uid = find_user(configuration.slurm_user)) {
    identities.slurm_user = *uid;
  } else {
    faults.push_back({0, fmt::format("slurm_user: user '{}' is unknown on this machine", configuration.slurm_user),
                      "name the user that slurmctld runs as (SlurmUser in slurm.conf)"});
  }
  std::ranges::stable_sort(faults, {}, &Fault::line);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return identities;
}

std::vector<NumberedRule> known_rules(const Configuration& configuration) {
  std::vector<NumberedRule> rules;
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const Rule& rule : organization.rules) {
      if (const auto id = find_id(rule)) rules.push_back({organization.name, rule.kind, rule.name, *id});
    }
  }
  return rules;
}

Fault signing_key_fault(const Error& why) {
  return {0, "signing_key: " + why.what,
          "name a key that shapleyctl keygen made and that shapleyd's user owns, or none"};
}

Fault public_key_fault(const OtherClusterConfig& cluster, const Error& why) {
  return {cluster.line, fmt::format("consortium: cluster '{}': public_key: {}", cluster.name, why.what),
          "name the public key that the other site's shapleyctl keygen made"};
}

}  // namespace shapley::config
