// The clocks of a process with set_clocks.c preloaded: a file that the test maps and writes to.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/clock/trusted_clock.hpp"

namespace shapley::daemon {

class SetClocks {
 public:
  explicit SetClocks(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool is_long_enough = descriptor >= 0 && ftruncate(descriptor, sizeof(Clocks)) == 0;
    void* memory =
        is_long_enough ? mmap(nullptr, sizeof(Clocks), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (descriptor >= 0) close(descriptor);
    if (memory == MAP_FAILED) throw std::runtime_error(file.string() + ": cannot be mapped");
    clocks_ = new (memory) Clocks;
  }
  ~SetClocks() { munmap(clocks_, sizeof(Clocks)); }
  SetClocks(const SetClocks&) = delete;
  SetClocks& operator=(const SetClocks&) = delete;

  // From now on every reading is this one, all of it at once.
  void set(const ClockReading& reading) {
    const std::uint32_t next = 1 - clocks_->current.load();
    clocks_->readings[next] = {.wall = reading.wall.value,
                               .since_boot = reading.since_boot.value,
                               .synchronized = reading.synchronized ? 1 : 0};
    clocks_->current.store(next);
  }

 private:
  // As in set_clocks.c.
  struct Reading {
    std::int64_t wall;
    std::int64_t since_boot;
    std::int64_t synchronized;
  };
  struct Clocks {
    std::atomic<std::uint32_t> current;
    Reading readings[2];
  };

  Clocks* clocks_ = nullptr;
};

}  // namespace shapley::daemon
