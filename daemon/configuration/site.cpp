#include "daemon/configuration/site.hpp"

#include <algorithm>
#include <utility>

#include "config/identities.hpp"

namespace shapley::daemon {

tl::expected<Site, std::vector<config::Fault>> resolve(config::Loaded loaded) {
  Site site{std::move(loaded.configuration), std::move(loaded.text), {}, 0, nullptr};
  std::vector<config::Fault> faults;
  if (const auto identities = config::identify(site.configuration)) {
    auto id = identities->rules.begin();
    for (const config::OrganizationConfig& organization : site.configuration.organizations) {
      for (const config::Rule& rule : organization.rules) {
        site.rules.push_back({organization.name, rule.kind, rule.name, *id++});
      }
    }
    site.slurm_uid = identities->slurm_user;
  } else {
    faults = identities.error();
  }
  if (!site.configuration.signing_key.empty()) {
    if (auto key = ledger::SigningKey::read(site.configuration.signing_key)) {
      site.signing_key = std::make_shared<const ledger::SigningKey>(*std::move(key));
    } else {
      faults.push_back(config::signing_key_fault(key.error()));
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
