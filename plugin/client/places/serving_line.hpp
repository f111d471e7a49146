// The order in which the rule, asked again after every start, would serve the jobs that could start.
//
// Starting q processors of an organization lowers its lead by q and what it lacks to its guarantee by q
// (game/serving_order.hpp). So each job's place needs only its own organization's figures. With cum(j) the processors
// that jobs of the same organization ask for that go before j,
//
//     below(j) = cum(j) < lacking          (used + cum(j) < guarantee * owned)
//     order:     below before not below; within each by lead - cum(j), greatest first; ties by rank
//
// A job that is wider than what is free counts where it begins, as in start-time fair queueing. A job whose nodes are
// not available at present (a partition that is down, a reservation for maintenance) has a place for when they are, but
// counts only before others of that kind: it must not hold up what could start now. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shapley::client {

// One organization, as the daemon ranks it.
struct Contender {
  std::uint32_t rank = 0;    // 0 is served first
  std::int64_t lead = 0;     // processors that it may start more than the one that owes most
  std::int64_t lacking = 0;  // processors that it lacks to its guarantee
};

// What one job, or one record of an array's waiting tasks, asks for.
struct Asking {
  std::uint32_t job = 0;        // the caller's index
  std::int64_t processors = 1;  // of one task, > 0
  std::uint32_t tasks = 1;      // > 0
  bool nodes_available = true;
};

struct LinePlace {
  std::uint32_t job = 0;
  std::uint32_t organization = 0;
  // How many tasks of an array's record stand in line, with its first one here; and whether jobs of other
  // organizations stand between them.
  std::uint32_t tasks = 1;
  bool parted = false;
};

// `queues`: by organization, each in Slurm's own order. The line ends where its processors reach `reach`, or with
// `longest` places. Time: n log n of the tasks in the queues, of each queue as far as `reach`.
[[nodiscard]] std::vector<LinePlace> serving_line(std::span<const Contender> contenders,
                                                  std::span<const std::vector<Asking>> queues, std::int64_t reach,
                                                  std::size_t longest);

}  // namespace shapley::client
