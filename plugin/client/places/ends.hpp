// Whose runs will end next, of which only is known how long they have run. Pure.
//
// Durations of jobs extend over many orders of magnitude, and what is running says which: a run that has lasted for an
// hour will hardly end within the next second, a task that began a second ago may. Where no unit of time is special,
// the chance that a run of age a ends within another t seconds depends on t / a alone; it is taken to be
//
//     t / (a + t).
//
// So where one organization's tasks of seconds run beside others' jobs of hours, what comes
// free is expected to be its own; where all began together, each organization's part is in proportion to what it runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shapley::client {

// What the runs of one organization block, in millionths of a processor, by their age: in element b those of 2^b to
// 2^(b + 1) seconds, the second that has begun included.
class RunsByAge {
 public:
  static constexpr std::size_t k_ages = 32;

  // age_s: whole seconds; what is below 0 counts as 0.
  void add(std::int64_t age_s, std::int64_t blocked);
  [[nodiscard]] std::int64_t operator[](std::size_t age) const { return blocked_[age]; }
  [[nodiscard]] std::int64_t all() const { return all_; }

 private:
  std::array<std::int64_t, k_ages> blocked_{};
  std::int64_t all_ = 0;
};

// Of `freed` millionths of a processor that have come free, how many the runs of each organization held: the expected
// ones at the instant at which that much is expected of all together. Rounded down; all that runs where freed is as
// much. Time: the organizations, and some thousand steps.
[[nodiscard]] std::vector<std::int64_t> expected_ends(std::span<const RunsByAge> organizations, std::int64_t freed);

}  // namespace shapley::client
