// Whose runs end: how fast each organization's runs have been ending, and whose ends are to be expected. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shapley::client {

// What the runs of one organization block, in millionths of a processor, and how fast they end.
struct Ending {
  std::int64_t running = 0;
  double rate = 1;  // as a multiple of the mean of all runs; > 0
};

// Of `freed` millionths of a processor that have come free, how many the runs of each organization held, if these have
// ended at their rates until then: for the t with
//
//     sum over u of min(running_u, running_u * rate_u * t) = freed
//
// the summands, rounded down. With freed >= sum over u of running_u, all that runs. Time: n log n.
[[nodiscard]] std::vector<std::int64_t> expected_ends(std::span<const Ending> organizations, std::int64_t freed);

// How fast each organization's runs end, by what ended lately.
//
//     rate(u) = (ended(u) + prior) / (proportional(u) + prior)
//
// ended(u): processors that came free of its runs; proportional(u): what it would have been, had the ends between each
// two scans been in proportion to what the organizations' runs blocked. Both count the less the longer ago they are, by
// 1/e when four times as much has ended as runs, so an hour of short tasks weighs as much as a week of long ones. The
// prior is a 64th of what runs.
class EndRates {
 public:
  // Between two scans. By organization, in millionths of a processor: what its runs blocked at the first one, and what
  // those of them blocked that have ended by the second one. REQUIRES: equal sizes, no element negative.
  void note(std::span<const std::int64_t> ran, std::span<const std::int64_t> ended);
  // 1 of an organization of which nothing is known.
  [[nodiscard]] double of(std::size_t organization) const;
  // The indices mean other organizations.
  void clear() { *this = EndRates(); }

 private:
  struct Counts {
    double ended = 0, proportional = 0;
  };
  std::vector<Counts> counts_;
  double prior_ = 1;
};

}  // namespace shapley::client
