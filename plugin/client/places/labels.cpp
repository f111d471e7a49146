#include <algorithm>
#include <bit>

#include "plugin/client/places/places.hpp"

namespace shapley::client {

namespace {

bool is_in(LabelRange range, std::uint32_t label) {
  return label >= range.first && label < range.end;
}

// Marks a longest subsequence whose labels descend: those may stay. By patience sorting, n log n.
std::vector<bool> longest_descending(std::span<const std::uint32_t> line, LabelRange range) {
  std::vector<std::size_t> tails;  // index of the last one of the best subsequence of each length
  std::vector<std::size_t> before(line.size(), line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_in(range, line[i])) continue;
    const auto place =
        std::partition_point(tails.begin(), tails.end(), [&](std::size_t tail) { return line[tail] > line[i]; });
    if (place != tails.begin()) before[i] = *std::prev(place);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<bool> stays(line.size(), false);
  for (std::size_t i = tails.empty() ? line.size() : tails.back(); i < line.size(); i = before[i]) stays[i] = true;
  return stays;
}

// Fills runs of jobs that get new labels, each between the labels of its neighbours that stay.
class Filler {
 public:
  Filler(std::vector<std::uint32_t>& labels, std::vector<bool>& stays, LabelRange range)
      : labels_(labels), stays_(stays), range_(range) {
    const std::size_t room = range.end - range.first;
    gap_ = std::max<std::size_t>(1, room / (4 * std::max<std::size_t>(1, labels.size())));
  }

  // The run [begin, end) has room, or absorbs its neighbours until it has: not just enough, or the next job there would
  // move all of them again.
  void fill(std::size_t begin, std::size_t end) {
    const bool has_room = room_for(begin, end) >= end - begin;
    while (!has_room && end - begin < labels_.size() && room_for(begin, end) < room_wanted(end - begin)) {
      if (end < labels_.size()) {
        end = next_run_end(end);
      } else {
        begin = previous_run_begin(begin);
      }
    }
    write(begin, end);
  }

 private:
  [[nodiscard]] std::uint32_t above(std::size_t begin) const { return begin == 0 ? range_.end : labels_[begin - 1]; }
  // The least label that the run may have.
  [[nodiscard]] std::uint32_t least(std::size_t end) const {
    return end == labels_.size() ? range_.first : labels_[end] + 1;
  }
  [[nodiscard]] std::size_t room_for(std::size_t begin, std::size_t end) const {
    const std::uint32_t upper = above(begin);
    const std::uint32_t lower = least(end);
    return upper > lower ? upper - lower : 0;
  }
  // For jobs that are moved because one of them had no room: the more they are, the wider the gaps, up to half of those
  // of a new line. So what is moved often is moved among few.
  [[nodiscard]] std::size_t room_wanted(std::size_t count) const {
    const std::size_t widest = std::max<std::size_t>(1, gap_ / 2);
    return count + count * (widest - 1) * std::bit_width(count) / std::bit_width(labels_.size());
  }
  // Absorbs the next job that stays, and those that do not stay behind it.
  std::size_t next_run_end(std::size_t end) {
    stays_[end] = false;
    while (end < labels_.size() && !stays_[end]) ++end;
    return end;
  }
  std::size_t previous_run_begin(std::size_t begin) {
    --begin;
    stays_[begin] = false;
    while (begin > 0 && !stays_[begin - 1]) --begin;
    return begin;
  }

  void write(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    const std::size_t room = room_for(begin, end);
    const std::uint32_t upper = above(begin);
    if (end < labels_.size() && begin > 0) {
      // Between two neighbours: evenly spaced.
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t down = (i + 1) * (room + 1) / (count + 1);
        labels_[begin + i] =
            static_cast<std::uint32_t>(upper - std::clamp<std::size_t>(down, i + 1, room - count + i + 1));
      }
      return;
    }
    // At an end of the line others will follow: half of the room is for them.
    const std::size_t gap = std::max<std::size_t>(1, std::min(gap_, room / (2 * count)));
    if (end < labels_.size()) {
      // In front of all: just above, so that there is room for others in front.
      for (std::size_t i = 0; i < count; ++i)
        labels_[begin + i] = static_cast<std::uint32_t>(least(end) - 1 + gap * (count - i));
      return;
    }
    // Behind all; a whole line begins an eighth below the top.
    std::size_t top = upper;
    if (begin == 0 && room > gap * count) top -= std::min((room - gap * count) / 2, room / 8);
    for (std::size_t i = 0; i < count; ++i) labels_[begin + i] = static_cast<std::uint32_t>(top - gap * (i + 1));
  }

  std::vector<std::uint32_t>& labels_;
  std::vector<bool>& stays_;
  LabelRange range_;
  std::size_t gap_ = 1;
};

}  // namespace

std::vector<std::uint32_t> relabel(std::span<const std::uint32_t> line, LabelRange range, std::size_t depth) {
  std::vector<std::uint32_t> labels(line.begin(), line.end());
  for (std::uint32_t& label : labels) {
    if (!is_in(range, label)) label = k_no_label;
  }
  std::vector<bool> stays = longest_descending(line, range);
  // The other jobs are considered if their place, or their label, is within the depth.
  std::vector<std::size_t> looked_at;
  std::uint32_t lowest = range.first;
  for (std::size_t i = depth; i < line.size(); ++i) {
    if (!stays[i]) continue;
    lowest = labels[i];
    break;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool stands_among = labels[i] != k_no_label && labels[i] >= lowest;
    if (stays[i] || i < depth || stands_among || labels[i] == k_no_label) looked_at.push_back(i);
  }
  std::vector<std::uint32_t> chosen;
  std::vector<bool> chosen_stay;
  chosen.reserve(looked_at.size());
  for (const std::size_t i : looked_at) {
    chosen.push_back(labels[i]);
    chosen_stay.push_back(stays[i]);
  }
  Filler filler(chosen, chosen_stay, range);
  for (std::size_t begin = 0; begin < chosen.size();) {
    if (chosen_stay[begin]) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < chosen.size() && !chosen_stay[end]) ++end;
    filler.fill(begin, end);
    begin = end;
    while (begin < chosen.size() && !chosen_stay[begin]) ++begin;
  }
  // Where gaps were too narrow, jobs further back have moved down, perhaps among jobs that were not considered.
  std::uint32_t least = k_no_label;
  for (std::size_t i = 0; i < std::min(depth, chosen.size()); ++i) least = std::min(least, chosen[i]);
  for (std::size_t i = 0, next = 0; i < line.size(); ++i) {
    if (next < looked_at.size() && looked_at[next] == i) {
      labels[i] = chosen[next++];
    } else if (labels[i] >= least) {
      return relabel(line, range, k_whole_line);
    }
  }
  return labels;
}

std::size_t depth_after(std::uint64_t before, std::uint64_t now) {
  if (now <= before) return 0;
  // The largest power of two of which a multiple lies in (before, now]: the ruler's mark.
  const std::uint64_t marked = std::bit_floor(before ^ now);
  constexpr std::uint64_t k_least = 2;
  return static_cast<std::size_t>(std::max(k_least, marked / 4));
}

}  // namespace shapley::client
