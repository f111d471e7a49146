// power_loss: kills the daemon's commit path at every change of its files and says what was lost. Exit code 1: losses,
// or with
// --lying-disk none.
#include <cinttypes>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "rounds.hpp"

namespace {

using shapley::ledger::testing::Change;
using shapley::ledger::testing::Fate;
using shapley::ledger::testing::Options;
using shapley::ledger::testing::Tally;

void print(const Tally& tally, const Options& options) {
  std::printf("seed %" PRIu64 ": %" PRIu64 " power cuts, %" PRIu64 " kills by SIGKILL\n", options.seed, tally.rounds,
              tally.kills);
  std::printf("%10" PRIu64 "  changes of files before the cuts\n", tally.changes);
  for (const auto& [fault, count] : tally.faults) std::printf("%10" PRIu64 "  %s\n", count, fault.c_str());
  for (std::size_t fate = 0; fate < tally.fates.size(); ++fate) {
    std::printf("%10" PRIu64 "  unsynced sectors: %s\n", tally.fates.at(fate),
                shapley::ledger::testing::name_of(static_cast<Fate>(fate)));
  }
  std::printf("%10" PRIu64 "  acknowledged starts and ends looked for\n", tally.acknowledged);
  std::printf("%10" PRIu64 "  unacknowledged ones that were missing, as they may\n", tally.unacknowledged_lost);
  std::printf("%10" PRIu64 "  losses\n", tally.losses);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli("Rounds of power loss for the ledger");
  Options options;
  cli.add_option("--rounds", options.rounds, "Power cuts")->capture_default_str();
  cli.add_option("--kills", options.kills, "Kills of a real process")->capture_default_str();
  cli.add_option("--seed", options.seed, "Of everything random")->capture_default_str();
  cli.add_option("--old-ledger", options.old_ledger_sql,
                 "Dump of an older schema: some lives begin with its migration");
  cli.add_option("--keep", options.keep, "New directory for the files of the first loss, as the new daemon found them");
  cli.add_flag("--lying-disk", options.lying_disk, "Syncs do nothing: losses must be found");
  CLI11_PARSE(cli, argc, argv);
  spdlog::set_level(spdlog::level::off);  // the daemon would log every failed write
  try {
    const Tally tally = shapley::ledger::testing::run(options);
    print(tally, options);
    return (tally.losses > 0) == options.lying_disk ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "power_loss: %s\n", error.what());
    return 2;
  }
}
