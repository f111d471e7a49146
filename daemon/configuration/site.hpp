// A configuration file, validated, with its users and groups resolved to the numbers of this host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "ledger/chain/signing.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

struct Site {
  config::Configuration configuration;
  std::string text;                                       // the file as read
  std::vector<protocol::Rule> rules;                      // in the configuration's order, as plugin and daemon use them
  std::uint32_t slurm_uid = 0;                            // the only user besides root who may feed
  std::shared_ptr<const ledger::SigningKey> signing_key;  // null: heads of the ledger are unsigned
  // By which the other clusters of the consortium sign, in the configuration's order.
  std::vector<std::shared_ptr<const ledger::PublicKey>> consortium_keys;
};

// Reads and validates the file, and looks up every user and group it names (numeric ids are taken as they are), and
// reads the signing key and the public keys of the consortium's other clusters. All faults at once, in line order; a
// name that this machine does not know is one.
[[nodiscard]] tl::expected<Site, std::vector<config::Fault>> load_site(const std::filesystem::path& file);

// The same for a configuration that was read already.
[[nodiscard]] tl::expected<Site, std::vector<config::Fault>> resolve(config::Loaded loaded);

// The configuration in force, the time of its load, and the reason if the file was refused when it was read again.
class InForce {
 public:
  struct Refusal {
    Instant at;
    std::string why;  // one line
  };

  // `text`: the file as it was read. Clears an earlier refusal.
  void take_over(const std::string& text, Instant at);
  // The file was read again and refused; the configuration in force stays.
  void refuse(std::string why, Instant at) { refusal_ = Refusal{at, std::move(why)}; }

  // SHA-256 of the text, 64 lower-case hexadecimal digits, as `sha256sum` prints it; empty if it cannot be computed.
  [[nodiscard]] const std::string& hash() const { return hash_; }
  [[nodiscard]] Instant loaded_at() const { return loaded_at_; }
  // The refusal of the last reload; nullopt if it was taken over, or there was none.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  std::string hash_;
  Instant loaded_at_;
  std::optional<Refusal> refusal_;
};

// The first of `faults` with file and line, and the number of further ones. REQUIRES: not empty.
[[nodiscard]] std::string one_line(const std::vector<config::Fault>& faults, const std::string& file);

// Checks that no other user can write the files that shapleyd reads, or the directories in which it creates files.
// Permissions that would allow changes of the books or the daemon are refused; those that only expose data are
// corrected, or cause a warning. docs/operating/security.md, "Files", has the table.
//
// Call before every reading of the file, at start and at reload. Errc::not_found and Errc::io are left to the reader,
// which has better messages.
[[nodiscard]] Expected<void> check_configuration_file(const std::filesystem::path& file);

// The ledger, SQLite's files and the lock file beside it, and its directory. Files that other users could read are made
// readable by their owner only. Returns a warning for each of these. REQUIRES: this process has none of them open,
// because closing one of them elsewhere would release SQLite's locks.
[[nodiscard]] Expected<std::vector<std::string>> protect_ledger_files(const std::filesystem::path& ledger);

// The directory for the socket. Returns warnings.
[[nodiscard]] Expected<std::vector<std::string>> check_socket_place(const std::filesystem::path& socket);

}  // namespace shapley::daemon
