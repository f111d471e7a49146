#include "daemon/configuration/site.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

namespace shapley::daemon {

namespace {

std::optional<std::uint32_t> parse_id(const std::string& text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return id;
}

std::optional<std::uint32_t> find_user(const std::string& name) {
  if (const auto id = parse_id(name)) return id;
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->pw_uid);
}

std::optional<std::uint32_t> find_group(const std::string& name) {
  if (const auto id = parse_id(name)) return id;
  const group* entry = getgrnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->gr_gid);
}

protocol::RuleKind wire_kind(config::RuleKind kind) {
  switch (kind) {
    case config::RuleKind::account:
      return protocol::RuleKind::account;
    case config::RuleKind::partition:
      return protocol::RuleKind::partition;
    case config::RuleKind::qos:
      return protocol::RuleKind::qos;
    case config::RuleKind::user:
      return protocol::RuleKind::user;
    case config::RuleKind::group:
      return protocol::RuleKind::group;
  }
  return protocol::RuleKind::account;
}

// 0 for kinds that go by name.
std::optional<std::uint32_t> find_id(const config::Rule& rule) {
  if (rule.kind == config::RuleKind::user) return find_user(rule.name);
  if (rule.kind == config::RuleKind::group) return find_group(rule.name);
  return 0U;
}

config::Fault unknown_name(const config::OrganizationConfig& organization, const config::Rule& rule) {
  const std::string_view kind = rule.kind == config::RuleKind::user ? "user" : "group";
  return {rule.line,
          fmt::format("organization '{}': {} '{}' is unknown on this machine", organization.name, kind, rule.name),
          "correct the name, create it, or give the numeric id"};
}

}  // namespace

tl::expected<Site, std::vector<config::Fault>> resolve(config::Loaded loaded) {
  Site site{std::move(loaded.configuration), std::move(loaded.text), {}, 0, nullptr};
  std::vector<config::Fault> faults;
  for (const config::OrganizationConfig& organization : site.configuration.organizations) {
    for (const config::Rule& rule : organization.rules) {
      if (const auto id = find_id(rule)) {
        site.rules.push_back({organization.name, wire_kind(rule.kind), rule.name, *id});
      } else {
        faults.push_back(unknown_name(organization, rule));
      }
    }
  }
  if (const auto uid = find_user(site.configuration.slurm_user)) {
    site.slurm_uid = *uid;
  } else {
    faults.push_back({0, fmt::format("slurm_user: user '{}' is unknown on this machine", site.configuration.slurm_user),
                      "name the user that slurmctld runs as (SlurmUser in slurm.conf)"});
  }
  if (!site.configuration.signing_key.empty()) {
    if (auto key = ledger::SigningKey::read(site.configuration.signing_key)) {
      site.signing_key = std::make_shared<const ledger::SigningKey>(*std::move(key));
    } else {
      faults.push_back({0, "signing_key: " + key.error().what,
                        "name a key that shapleyctl keygen made and that shapleyd's user owns, or none"});
    }
  }
  std::stable_sort(faults.begin(), faults.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return site;
}

tl::expected<Site, std::vector<config::Fault>> load_site(const std::filesystem::path& file) {
  auto loaded = config::load(file);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  return resolve(std::move(*loaded));
}

}  // namespace shapley::daemon
