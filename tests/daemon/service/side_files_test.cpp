// The small files beside the ledger: one that could not be written is tried again every second, until it is.
#include <filesystem>

#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

namespace fs = std::filesystem;

class SideFilesTest : public ServiceTest {
 protected:
  void SetUp() override {
    options.boot = "boot";
    options.read_clock = [this] { return ClockReading{.wall = Instant{now}, .since_boot = {now - k_begin + 1'000}}; };
    // Each is written anew under this name first.
    for (const fs::path& file : files()) fs::create_directory(file.string() + ".new");
    restart();
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    const fs::path& ledger = site.configuration.ledger;
    return {clock_file_of(ledger), look_file_of(ledger), privacy_file_of(ledger), upkeep_file_of(ledger)};
  }
  // The names of those that are there.
  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const fs::path& file : files()) {
      if (fs::exists(file)) names.push_back(file.extension().string());
    }
    return names;
  }
};

TEST_F(SideFilesTest, AreTriedAgainEverySecond) {
  connect(1);
  snapshot({});
  EXPECT_FALSE(
      service->note_upkeep({.backup = Upkeep::Backup{.at = Instant{now}, .sequence = 1}, .audit = {}}).has_value());
  now += 61;
  see({});
  service->tick(service->now());
  EXPECT_EQ(written(), std::vector<std::string>{});
  EXPECT_EQ(service->failures().size(), 4U);
  for (const fs::path& file : files()) fs::remove(file.string() + ".new");
  service->tick(service->now());
  EXPECT_EQ(written(), (std::vector<std::string>{".clock", ".look", ".privacy", ".upkeep"}));
  EXPECT_EQ(service->failures().size(), 0U);
}

}  // namespace
}  // namespace shapley::daemon
