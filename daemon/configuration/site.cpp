#include "daemon/configuration/site.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/contract.hpp"
#include "base/files.hpp"
#include "config/checks.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::daemon {

tl::expected<Site, std::vector<config::Fault>> resolve(config::Loaded loaded) {
  Site site{std::move(loaded.configuration), std::move(loaded.text), {}, 0, nullptr, {}};
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
  for (const config::OtherClusterConfig& cluster : site.configuration.consortium.clusters) {
    if (auto key = ledger::PublicKey::read(cluster.public_key)) {
      site.consortium_keys.push_back(std::make_shared<const ledger::PublicKey>(*std::move(key)));
    } else {
      faults.push_back(config::public_key_fault(cluster, key.error()));
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

namespace {

std::string sha256(std::string_view text) {
  auto hasher = ledger::Hasher::create();
  if (!hasher) return {};
  const auto digest = hasher->digest(std::array{text});
  return digest ? ledger::to_hex(*digest) : std::string();
}

}  // namespace

void InForce::take_over(const std::string& text, Instant at) {
  hash_ = sha256(text);
  loaded_at_ = at;
  refusal_.reset();
}

std::string one_line(const std::vector<config::Fault>& faults, const std::string& file) {
  SHAPLEY_REQUIRE(!faults.empty());
  std::string line = config::format_faults({faults.front()}, file);
  const std::size_t more = faults.size() - 1;
  if (more > 0) line += fmt::format(" (and {}{}", more, more == 1 ? " more fault)" : " more faults)");
  return line;
}

namespace {

// Only faults of this check are reported; a missing or inaccessible file is reported by the code that opens it.
Expected<void> only_refusals(Expected<void> checked) {
  if (!checked && checked.error().code == Errc::denied) return checked;
  return {};
}

}  // namespace

Expected<void> check_configuration_file(const std::filesystem::path& file) {
  SHAPLEY_TRY(only_refusals(check_unwritable(file, "configuration")));
  return only_refusals(check_directory(file.parent_path(), "configuration"));
}

Expected<std::vector<std::string>> protect_ledger_files(const std::filesystem::path& ledger) {
  SHAPLEY_TRY(only_refusals(check_directory(ledger.parent_path(), "ledger")));
  // The other files are beside the ledger itself, not beside a link to it.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(ledger, error);
  const std::filesystem::path& itself = error ? ledger : resolved;
  SHAPLEY_TRY(only_refusals(check_directory(itself.parent_path(), "ledger")));
  std::vector<std::string> warnings;
  // SQLite's log and index contain the newest pages: a process that writes them writes the ledger. A process that can
  // open any of these files, even only for reading, can hold a lock on it that prevents the daemon from committing or
  // starting.
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    const std::filesystem::path file = itself.string() + suffix;
    const auto mode_before = make_private(file, "ledger");
    if (!mode_before && mode_before.error().code == Errc::denied) return tl::unexpected<Error>(mode_before.error());
    if (!mode_before || !*mode_before) continue;
    warnings.push_back(fmt::format(
        "ledger: {} had mode {}, so that others could read it and hold up commits by a lock on it; its mode is 0600 "
        "now. Auditors get copies (shapleyctl backup) or ask shapleyd; who has it open still should close it",
        file.string(), **mode_before));
  }
  return warnings;
}

Expected<std::vector<std::string>> check_socket_place(const std::filesystem::path& socket) {
  const std::filesystem::path directory = socket.parent_path();
  SHAPLEY_TRY(only_refusals(check_directory(directory, "socket", Sticky::allowed)));
  if (only_refusals(check_directory(directory, "socket"))) return std::vector<std::string>{};
  return std::vector<std::string>{
      fmt::format("socket: every user can write to {}: whenever shapleyd is down, another program can listen on {} and "
                  "answer shapleyctl as it likes; put it into a directory of its own, such as /run/shapley",
                  directory.string(), socket.string())};
}

}  // namespace shapley::daemon
