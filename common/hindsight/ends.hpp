// Ends of parts that are known and to come: a heap with the earliest in front.
//
// To take the earliest is what schedules do most often. Four children to a node make the heap half as deep as two do,
// and which of the four is the earliest is found without a branch that the processor would have to guess.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shapley::hindsight {

// The end of a part that started.
struct End {
  std::int64_t at = 0;
  std::int64_t start = 0;
  std::int64_t amount = 0;
  friend auto operator<=>(const End&, const End&) = default;
};

class EndsToCome {
 public:
  [[nodiscard]] static const End& earliest(const std::vector<End>& heap) { return heap.front(); }

  static void push(std::vector<End>& heap, const End& end) {
    std::size_t hole = heap.size();
    heap.push_back(end);
    for (; hole > 0 && end.at < heap[(hole - 1) / k_children].at; hole = (hole - 1) / k_children)
      heap[hole] = heap[(hole - 1) / k_children];
    heap[hole] = end;
  }

  // REQUIRES: there is one.
  static void pop(std::vector<End>& heap) {
    const End last = heap.back();
    heap.pop_back();
    if (!heap.empty()) sink(heap, 0, last);
  }

  // It will be wanted soon. Of a thousand schedules' heaps each has left the processor's cache when its turn comes, and
  // to be read in the order of a heap's steps takes many times as long as to be read as a whole.
  static void fetch(const std::vector<End>& heap) {
    constexpr std::size_t k_in_a_line = 64 / sizeof(End);
    for (std::size_t i = 0; i < heap.size(); i += k_in_a_line) __builtin_prefetch(&heap[i]);
  }

  // Makes a heap of ends in any order.
  static void make(std::vector<End>& ends) {
    for (std::size_t hole = (ends.size() + k_children - 2) / k_children; hole-- > 0;) sink(ends, hole, End{ends[hole]});
  }

 private:
  static constexpr std::size_t k_children = 4;

  // `end` stands at `hole`, or below it where others are earlier.
  static void sink(std::vector<End>& heap, std::size_t hole, const End& end) {
    for (std::size_t first = k_children * hole + 1; first < heap.size(); first = k_children * hole + 1) {
      const std::size_t child = earliest_child(heap, first);
      if (heap[child].at >= end.at) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = end;
  }

  static std::size_t earliest_child(const std::vector<End>& heap, std::size_t first) {
    if (first + k_children <= heap.size()) {
      const std::size_t left = first + static_cast<std::size_t>(heap[first + 1].at < heap[first].at);
      const std::size_t right = first + 2 + static_cast<std::size_t>(heap[first + 3].at < heap[first + 2].at);
      return heap[right].at < heap[left].at ? right : left;
    }
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < heap.size(); ++child) {
      if (heap[child].at < heap[earliest].at) earliest = child;
    }
    return earliest;
  }
};

}  // namespace shapley::hindsight
