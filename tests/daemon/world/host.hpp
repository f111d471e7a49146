// A host with its clocks, its disk and shapleyd, without sockets: of tests that play scenes, and of the world that
// lives by a seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/service.hpp"
#include "host_clock.hpp"
#include "lossy_disk.hpp"
#include "tests/daemon/records.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::daemon {

// When a scene begins, in its own seconds: k_begin.
inline constexpr std::int64_t k_scene_begin = 1000;
inline constexpr std::int64_t k_scene_zero = k_begin - k_scene_begin;

// A run or a wait as the books have it, in seconds of the scene. What an import adds to a run is a segment of its own;
// here it is one for each time that it went on without a break.
struct Booked {
  std::uint32_t job = 0;
  std::string organization;
  std::int64_t begin = 0;
  std::optional<std::int64_t> end;
  std::string reason;  // of its end
  std::string processors;
  [[nodiscard]] std::string text() const;
};

// A time without observation, in seconds of the scene; those that follow each other are one.
struct BookedGap {
  std::int64_t begin = 0, end = 0;
  std::string cause;
};

class Host {
 public:
  // ---- shapleyd ----
  // One that runs dies before, without any farewell.
  void start();
  void kill() { service.reset(); }
  void boot();
  // The clock stands meanwhile: nothing depends on how long a checkpoint takes.
  [[nodiscard]] bool checkpoint_ends();
  // Weeks go by; what ended before the horizon leaves the State, and shapleyd is started from its checkpoint.
  void forget_the_past();
  [[nodiscard]] Instant now() const { return service->now(); }

  // ---- its disk ----
  [[nodiscard]] std::filesystem::path folder() const { return site.configuration.ledger.parent_path(); }
  // From now on the ledger is on a disk that can lose power. REQUIRES: no shapleyd runs.
  void put_on_lossy_disk();
  [[nodiscard]] bool has_lost_power() const { return disk && disk->is_dead(); }
  // shapleyd is gone; its files become what survives, in another folder: without power what the disk has kept, and the
  // host boots; otherwise all that was written, as a SIGKILL leaves it.
  void die(Rng& rng);

  // ---- what is known ----
  [[nodiscard]] std::vector<Booked> runs() const { return booked("run"); }
  [[nodiscard]] std::vector<Booked> booked(const std::string& kind) const;
  [[nodiscard]] std::vector<BookedGap> gaps() const;
  [[nodiscard]] std::vector<std::vector<std::string>> query(const std::string& sql) const;
  // As an administrator is answered.
  [[nodiscard]] nlohmann::json ask(const std::string& request) const { return nlohmann::json::parse(text_of(request)); }
  [[nodiscard]] std::string text_of(const std::string& request) const;

  HostClock clock;
  TempDirectory directory{TempDirectory::Place::memory};
  Site site = site_in(directory);
  Service::Options options;
  std::unique_ptr<LossyDisk> disk;
  std::unique_ptr<Service> service;

 private:
  int boots_ = 0;
  int deaths_ = 0;
};

}  // namespace shapley::daemon
