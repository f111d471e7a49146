// How long commits took, as a histogram since the start of shapleyd: what a monitor draws quantiles from.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shapley::daemon {

class CommitTimes {
 public:
  // Upper bounds of the buckets, in seconds, ascending; what took longer is in none of them. A sync to disk takes
  // milliseconds, and what takes longer than a scan of the plugin (a second) holds acknowledgements up.
  static constexpr std::array k_bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0};

  void note(std::chrono::duration<double> took) {
    ++count_;
    seconds_ += took.count();
    last_seconds_ = took.count();
    const auto bucket = std::ranges::lower_bound(k_bounds, took.count());
    if (bucket != k_bounds.end()) ++counts_[static_cast<std::size_t>(bucket - k_bounds.begin())];
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // of all together
  [[nodiscard]] double last_seconds() const { return last_seconds_; }
  // How many took at most k_bounds[i] seconds, and more than the bound before.
  [[nodiscard]] const std::array<std::uint64_t, k_bounds.size()>& counts() const { return counts_; }

 private:
  std::uint64_t count_ = 0;
  double seconds_ = 0;
  double last_seconds_ = 0;
  std::array<std::uint64_t, k_bounds.size()> counts_{};
};

}  // namespace shapley::daemon
