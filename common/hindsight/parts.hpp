// Parts of requests that started, their ends, and the heap of the ends to come.
//
// A thousand schedules have a few thousand of them each and pass through them many times: they take most of the memory
// and time of schedules. So each is packed into sixteen bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/contract.hpp"
#include "hindsight/request_queue.hpp"

namespace shapley::hindsight {

// The greatest amount of a part. A larger amount is split into several parts.
inline constexpr std::int64_t k_most_of_a_part = (std::int64_t{1} << 41U) - 1;

// A part of a request that started, in one kind. REQUIRES: 0 <= start < 2^40, 0 <= amount <= k_most_of_a_part, kind <
// k_most_kinds.
class Part {
 public:
  Part(std::uint32_t place, std::int64_t start, std::int64_t amount, Kind kind = 0)
      : start_and_amount_(static_cast<std::uint64_t>(start) << k_high | static_cast<std::uint64_t>(amount) >> k_low),
        kind_amount_place_(std::uint64_t{kind} << (32U + k_low) |
                           (static_cast<std::uint64_t>(amount) & k_low_mask) << 32U | place) {
    SHAPLEY_REQUIRE(0 <= start && start < std::int64_t{1} << 40U && kind < k_most_kinds);
    SHAPLEY_REQUIRE(0 <= amount && amount <= k_most_of_a_part);
  }

  // The place of its request in the queue.
  [[nodiscard]] std::uint32_t place() const { return static_cast<std::uint32_t>(kind_amount_place_); }
  [[nodiscard]] std::int64_t start() const { return static_cast<std::int64_t>(start_and_amount_ >> k_high); }
  [[nodiscard]] std::int64_t amount() const {
    return static_cast<std::int64_t>((start_and_amount_ & k_high_mask) << k_low |
                                     (kind_amount_place_ >> 32U & k_low_mask));
  }
  [[nodiscard]] Kind kind() const { return static_cast<Kind>(kind_amount_place_ >> (32U + k_low)); }
  void set_place(std::uint32_t place) { kind_amount_place_ = kind_amount_place_ >> 32U << 32U | place; }
  friend bool operator==(const Part&, const Part&) = default;

 private:
  static constexpr unsigned k_high = 24;  // bits of the amount in the word of the start
  static constexpr unsigned k_low = 17;   // bits of it in the word of the place
  static constexpr std::uint64_t k_high_mask = (std::uint64_t{1} << k_high) - 1;
  static constexpr std::uint64_t k_low_mask = (std::uint64_t{1} << k_low) - 1;

  std::uint64_t start_and_amount_;
  std::uint64_t kind_amount_place_;
};

// The end of a part, or of several parts with one start and kind. REQUIRES: as for Part, and 0 <= at < 2^41.
class End {
 public:
  End(std::int64_t at, std::int64_t start, std::int64_t amount, Kind kind = 0)
      : at_and_amount_(static_cast<std::uint64_t>(at) << k_high | static_cast<std::uint64_t>(amount) >> k_low),
        start_amount_kind_(static_cast<std::uint64_t>(start) << (k_low + k_kind) |
                           (static_cast<std::uint64_t>(amount) & k_low_mask) << k_kind | kind) {
    SHAPLEY_REQUIRE(0 <= at && at < std::int64_t{1} << 41U && 0 <= start && start < std::int64_t{1} << 40U);
    SHAPLEY_REQUIRE(0 <= amount && amount <= k_most_of_a_part && kind < k_most_kinds);
  }

  [[nodiscard]] std::int64_t at() const { return static_cast<std::int64_t>(at_and_amount_ >> k_high); }
  [[nodiscard]] std::int64_t start() const { return static_cast<std::int64_t>(start_amount_kind_ >> (k_low + k_kind)); }
  [[nodiscard]] std::int64_t amount() const {
    return static_cast<std::int64_t>((at_and_amount_ & k_high_mask) << k_low |
                                     (start_amount_kind_ >> k_kind & k_low_mask));
  }
  [[nodiscard]] Kind kind() const { return static_cast<Kind>(start_amount_kind_ & (k_most_kinds - 1)); }
  // Whether the amounts differ at most.
  [[nodiscard]] bool is_like(const End& other) const {
    return at() == other.at() && start() == other.start() && kind() == other.kind();
  }
  // False if the other end is earlier; ends of the same instant have any order.
  [[nodiscard]] bool comes_before(const End& other) const { return at_and_amount_ < other.at_and_amount_; }
  friend bool operator==(const End&, const End&) = default;
  friend auto operator<=>(const End& a, const End& b) {
    return std::tuple(a.at(), a.start(), a.kind(), a.amount()) <=> std::tuple(b.at(), b.start(), b.kind(), b.amount());
  }

 private:
  static constexpr unsigned k_high = 23;  // bits of the amount in the word of the end
  static constexpr unsigned k_low = 18;   // bits of it in the word of the start
  static constexpr unsigned k_kind = 6;
  static constexpr std::uint64_t k_high_mask = (std::uint64_t{1} << k_high) - 1;
  static constexpr std::uint64_t k_low_mask = (std::uint64_t{1} << k_low) - 1;
  static_assert(std::size_t{1} << k_kind == k_most_kinds);

  std::uint64_t at_and_amount_;
  std::uint64_t start_amount_kind_;
};

static_assert(sizeof(Part) == 16 && sizeof(End) == 16);

// A heap of ends with an earliest one in front. Taking that one is what schedules do most often. With four children per
// node the heap is half as deep as with two, and the earliest of the four is found without a branch that the processor
// would have to predict.
class EndsToCome {
 public:
  static void push(std::vector<End>& heap, const End& end) {
    std::size_t hole = heap.size();
    heap.push_back(end);
    for (; hole > 0 && end.comes_before(heap[(hole - 1) / k_children]); hole = (hole - 1) / k_children)
      heap[hole] = heap[(hole - 1) / k_children];
    heap[hole] = end;
  }

  // REQUIRES: the heap is not empty.
  static void pop(std::vector<End>& heap) {
    SHAPLEY_REQUIRE(!heap.empty());
    const End last = heap.back();
    heap.pop_back();
    if (!heap.empty()) sink(heap, 0, last);
  }

  // Makes a heap of ends in any order.
  static void make(std::vector<End>& ends) {
    for (std::size_t hole = (ends.size() + k_children - 2) / k_children; hole-- > 0;) sink(ends, hole, End{ends[hole]});
  }

  // Loads the heap into the processor's cache before it is used. Each of a thousand schedules' heaps has left the cache
  // when its turn comes, and reading it in the order of a heap's steps takes many times as long as reading it as a
  // whole.
  static void fetch(const std::vector<End>& heap) {
    constexpr std::size_t k_in_a_line = 64 / sizeof(End);
    for (std::size_t i = 0; i < heap.size(); i += k_in_a_line) __builtin_prefetch(&heap[i]);
  }

 private:
  static constexpr std::size_t k_children = 4;

  // Puts `end` at `hole`, or below it where other ends are earlier.
  static void sink(std::vector<End>& heap, std::size_t hole, const End& end) {
    for (std::size_t first = k_children * hole + 1; first < heap.size(); first = k_children * hole + 1) {
      const std::size_t child = earliest_child(heap, first);
      if (!heap[child].comes_before(end)) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = end;
  }

  static std::size_t earliest_child(const std::vector<End>& heap, std::size_t first) {
    if (first + k_children <= heap.size()) {
      const std::size_t left = first + static_cast<std::size_t>(heap[first + 1].comes_before(heap[first]));
      const std::size_t right = first + 2 + static_cast<std::size_t>(heap[first + 3].comes_before(heap[first + 2]));
      return heap[right].comes_before(heap[left]) ? right : left;
    }
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < heap.size(); ++child) {
      if (heap[child].comes_before(heap[earliest])) earliest = child;
    }
    return earliest;
  }
};

}  // namespace shapley::hindsight
