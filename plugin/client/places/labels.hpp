// Places as numbers that change seldom.
//
// Slurm orders jobs by numbers, and a job's number is written under slurmctld's job lock. The place of every waiting
// job changes with every start and end, so places are labels: whole numbers with gaps between them, the greatest first,
// and only a job whose order among its neighbours is wrong gets another one. Labels below `first` are not for places:
// jobs that are not in line have them (places.hpp).
//
// What is behind the first `depth` places keeps its order, which was right a while ago. `depth_after` chooses the depth
// so that the front of the line is right after every start and end, and what is further back the less often the further
// back it is: with n in line some log2(n) / 8 labels are written for each start or end, besides the one that each job
// gets when it comes into line. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace shapley::client {

inline constexpr std::uint32_t k_no_label = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t k_whole_line = std::numeric_limits<std::size_t>::max();

struct LabelRange {
  std::uint32_t first = 0;  // the least for a place
  std::uint32_t end = 0;    // one more than the greatest; first <= end
};

// New labels for a line. `line`: the labels that the jobs have, in the order in which they should be served; one
// outside the range is none. In the result every job has one. The first `depth` of the line, whatever stands among them
// by its old label, and those that had none are in order with all that could keep their labels; the others have their
// old ones. As many as possible keep theirs.
// REQUIRES: twice as many labels in the range as there are in line.
[[nodiscard]] std::vector<std::uint32_t> relabel(std::span<const std::uint32_t> line, LabelRange range,
                                                 std::size_t depth);

// The least label of those that are in order after relabel(..., depth): a stray above it stands among them.
[[nodiscard]] std::uint32_t boundary(std::span<const std::uint32_t> labels, std::size_t depth);

// How deep the line is looked at after the event numbers (before, now], starts and ends, counted from the first.
[[nodiscard]] std::size_t depth_after(std::uint64_t before, std::uint64_t now);

}  // namespace shapley::client
