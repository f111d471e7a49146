// world: lives of two clusters by seeds, and what their books say afterwards. Exit code 1: something was wrong, or with
// --lying-disk nothing was.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "world.hpp"

namespace {

using shapley::daemon::World;

struct Tally {
  std::uint64_t wrong = 0;
  std::map<std::string, std::uint64_t> steps;
};

// One life; says what is wrong with all that was done before.
void live(const World::Options& options, bool is_verbose, Tally& tally) {
  World world(options);
  world.live();
  for (const std::string& step : world.steps()) ++tally.steps[step.substr(0, step.find(':'))];
  if (is_verbose || !world.wrong().empty()) {
    std::printf("life %" PRIu64 ":\n", options.seed);
    for (const std::string& step : world.steps()) std::printf("  %s\n", step.c_str());
  }
  if (world.wrong().empty()) return;
  ++tally.wrong;
  for (const std::string& what : world.wrong()) std::printf("WRONG: %s\n", what.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli(
      "Lives of two clusters whose hosts, disks, clocks and connections fail; afterwards the books are compared");
  World::Options options;
  std::uint64_t lives = 100;
  bool is_verbose = false;
  cli.add_option("--seed", options.seed, "Of the first life; the next one has the next")->capture_default_str();
  cli.add_option("--lives", lives, "How many")->capture_default_str();
  cli.add_option("--steps", options.steps, "Of each life")->capture_default_str();
  cli.add_flag("--lying-disk", options.is_lying_disk, "Syncs do nothing: losses must be found");
  cli.add_flag("--verbose", is_verbose, "Print each life, and what the daemons log");
  CLI11_PARSE(cli, argc, argv);
  spdlog::set_level(is_verbose ? spdlog::level::info : spdlog::level::off);  // they would log every failed write
  try {
    Tally tally;
    for (std::uint64_t life = 0; life < lives; ++life, ++options.seed) live(options, is_verbose, tally);
    for (const auto& [step, count] : tally.steps) std::printf("%10" PRIu64 "  %s\n", count, step.c_str());
    std::printf("%10" PRIu64 "  lives, %" PRIu64 " of them wrong\n", lives, tally.wrong);
    return (tally.wrong > 0) == options.is_lying_disk ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "world: seed %" PRIu64 ": %s\n", options.seed, error.what());
    return 2;
  }
}
