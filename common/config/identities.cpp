#include "config/identities.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

#include <grp.h>
#include <pwd.h>

#include "config/organizations.hpp"

namespace shapley::config {

namespace {

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

// 0 for kinds that go by name.
std::optional<std::uint32_t> find_id(const Rule& rule) {
  if (rule.kind == RuleKind::user) return find_user(rule.name);
  if (rule.kind == RuleKind::group) return find_group(rule.name);
  return 0U;
}

}  // namespace

tl::expected<Identities, std::vector<Fault>> identify(const Configuration& configuration) {
  Identities identities;
  std::vector<Fault> faults;
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const Rule& rule : organization.rules) {
      if (const auto id = find_id(rule)) {
        identities.rules.push_back(*id);
      } else {
        faults.push_back({rule.line,
                          "organization '" + organization.name + "': " + std::string(word_of(rule.kind)) + " '" +
                              rule.name + "' is unknown on this machine",
                          "correct the name, create it, or give the numeric id"});
      }
    }
  }
  if (const auto uid = find_user(configuration.slurm_user)) {
    identities.slurm_user = *uid;
  } else {
    faults.push_back({0, "slurm_user: user '" + configuration.slurm_user + "' is unknown on this machine",
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

}  // namespace shapley::config
