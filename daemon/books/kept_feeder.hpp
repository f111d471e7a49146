// Whose feeder was let in last, in a file beside the ledger: after a restart of shapleyd a second slurmctld of the same
// ClusterName may come first (cluster_name.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace shapley::daemon {

// Of protocol::Hello.
struct KeptFeeder {
  std::string state_location;
  std::string state_location_id;
  friend bool operator==(const KeptFeeder&, const KeptFeeder&) = default;
};

[[nodiscard]] std::filesystem::path feeder_file_of(const std::filesystem::path& ledger);
// What write_feeder_file() wrote last; nullopt: nothing, or something else.
[[nodiscard]] std::optional<KeptFeeder> read_feeder_file(const std::filesystem::path& file);
// Replaces the file. Errors: Errc::io.
[[nodiscard]] Expected<void> write_feeder_file(const std::filesystem::path& file, const KeptFeeder& feeder);

}  // namespace shapley::daemon
