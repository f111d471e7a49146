// A configuration file as this machine understands it: validated, and its users and groups turned into numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/configuration.hpp"
#include "ledger/chain/signing.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

struct Site {
  config::Configuration configuration;
  std::string text;                                       // the file as read
  std::vector<protocol::Rule> rules;                      // in the configuration's order, as both ends use them
  std::uint32_t slurm_uid = 0;                            // besides root the only one who may feed
  std::shared_ptr<const ledger::SigningKey> signing_key;  // null: heads of the ledger are not signed
};

// Reads and validates the file, and looks up every user and group it names (numeric ids are taken as they are), and
// reads the signing key. All faults at once, in line order; a name that this machine does not know is one.
[[nodiscard]] tl::expected<Site, std::vector<config::Fault>> load_site(const std::filesystem::path& file);

// The same for a configuration that was read already.
[[nodiscard]] tl::expected<Site, std::vector<config::Fault>> resolve(config::Loaded loaded);

}  // namespace shapley::daemon
