// Rounds of power loss: a daemon at work, the power gone at some change, the surviving files opened by a new daemon.
//
// What must hold after every round: the ledger opens; its chain and books are correct; every record that was
// acknowledged is there, with its exact times, and no run is there twice. What was not acknowledged may be missing.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "lossy_disk.hpp"

namespace shapley::ledger::testing {

struct Options {
  std::uint64_t rounds = 300;  // power cuts
  std::uint64_t kills = 20;    // of a real child process, by SIGKILL
  std::uint64_t seed = 1;
  bool lying_disk = false;               // syncs do nothing: losses must be found
  std::filesystem::path keep;            // where to leave the files of the first loss
  std::filesystem::path old_ledger_sql;  // a dump of an older schema: some lives begin with its migration
};

struct Tally {
  std::uint64_t rounds = 0;
  std::uint64_t kills = 0;
  std::uint64_t changes = 0;       // seen before the power went
  std::uint64_t acknowledged = 0;  // records checked to be there
  std::uint64_t unacknowledged_lost = 0;
  std::map<std::string, std::uint64_t> faults;  // "commit: write ledger.db-wal" -> how often
  std::array<std::uint64_t, k_fates> fates{};
  std::uint64_t losses = 0;  // must be 0
};

// Says each loss on standard error with the seed of its round.
[[nodiscard]] Tally run(const Options& options);

}  // namespace shapley::ledger::testing
