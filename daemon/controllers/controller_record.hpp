// What one of two controllers knows of itself that its ledger does not say: a file beside the ledger,
// LEDGER.controller, so that a copy of the ledger on another host does not say it there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/replication/parted.hpp"

namespace shapley::daemon {

// The other controller has another ledger in its place: this one's `own` last events, after `common`, are not in it.
struct Parting {
  std::int64_t common = 0;
  std::int64_t own = 0;
};

// A ledger that was set aside: its own events after `common` are not in the present one's chain.
struct SetAside {
  Instant at;
  std::string file;
  std::int64_t common = 0;  // the last event that both chains have
  // What became of its own events, looked up in the present ledger; nullopt: that was not done yet.
  std::optional<ledger::Parted> parted;
};

struct ControllerRecord {
  // The ledger is a copy of the other one's that has not come to its end yet.
  bool copying = false;
  std::vector<SetAside> set_aside;  // ascending; the last k_max_set_aside
};

inline constexpr std::size_t k_max_set_aside = 20;

[[nodiscard]] std::filesystem::path record_file(const std::filesystem::path& ledger);

// As the file and `status` have it.
[[nodiscard]] nlohmann::json json_of(const std::vector<SetAside>& entries);

// A file that is not there is an empty record. Errc::corrupt, with the remedy, if it cannot be understood.
[[nodiscard]] Expected<ControllerRecord> read_record(const std::filesystem::path& file);
// Whole or not at all, and on the disk.
[[nodiscard]] Expected<void> write_record(const std::filesystem::path& file, const ControllerRecord& record);

// From now on the ledger has another name (ledger/replication/parted.hpp), which the record keeps: the next start
// begins with an empty one. REQUIRES: nobody has it open.
[[nodiscard]] Expected<void> set_ledger_aside(const std::filesystem::path& ledger, const Parting& parting, Instant now);

}  // namespace shapley::daemon
