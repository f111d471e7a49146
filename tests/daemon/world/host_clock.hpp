// A host's clocks, for tests: the true time, and by how much the wall clock is wrong.
#pragma once

#include <cstdint>

#include "daemon/books/trusted_clock.hpp"

namespace shapley::daemon {

inline constexpr std::int64_t k_day = 24 * 3600;

struct HostClock {
  std::int64_t truth = 1'700'000'000;
  std::int64_t booted = 1'699'000'000;  // in true time
  std::int64_t ahead = 0;               // of the wall clock
  bool synchronized = false;

  void pass(std::int64_t seconds) { truth += seconds; }
  void set_wall_by(std::int64_t seconds) { ahead += seconds; }
  [[nodiscard]] std::int64_t wall() const { return truth + ahead; }
  [[nodiscard]] ClockReading reading() const {
    return {.wall = Instant{wall()}, .since_boot = Duration{truth - booted}, .synchronized = synchronized};
  }
};

}  // namespace shapley::daemon
