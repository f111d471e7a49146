// A calendar of completions: what ends at which second, with O(1) insertion.
//
// A wheel of k_slots seconds holds the near future as linked lists of nodes; later completions wait in an ordered map
// and enter the wheel when it comes near. One node of 16 bytes per entry, reused.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace shapley::fairness {

class CompletionCalendar {
 public:
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

  CompletionCalendar() : heads_(k_slots, k_none), occupied_(k_slots / 64, 0) {}

  // An entry that ends at `end`, which must be later than every end taken so far.
  void add(std::int64_t end, std::uint32_t slot, std::uint32_t organization) {
    if (end - base_ >= k_slots) {
      far_.emplace(end, Entry{slot, organization});
      return;
    }
    put(end, Entry{slot, organization});
  }

  // The earliest end, or k_never.
  [[nodiscard]] std::int64_t next() const {
    if (near_count_ > 0) return next_near();
    return far_.empty() ? k_never : far_.begin()->first;
  }

  // Calls visit(slot, organization) for every entry that ends at `end`. REQUIRES: end == next().
  template <typename Visit>
  void take(std::int64_t end, Visit&& visit) {
    move_base(end);
    const auto index = static_cast<std::size_t>(end & (k_slots - 1));
    std::uint32_t node = heads_[index];
    heads_[index] = k_none;
    occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    while (node != k_none) {
      const Node& entry = nodes_[node];
      const std::uint32_t following = entry.next;
      visit(entry.entry.slot, entry.entry.organization);
      nodes_[node].next = free_;
      free_ = node;
      node = following;
      --near_count_;
    }
  }

 private:
  static constexpr std::int64_t k_slots = 1 << 16;
  static constexpr std::uint32_t k_none = 0xffffffffU;
  struct Entry {
    std::uint32_t slot;
    std::uint32_t organization;
  };
  struct Node {
    Entry entry;
    std::uint32_t next;
  };

  void put(std::int64_t end, Entry entry) {
    const auto index = static_cast<std::size_t>(end & (k_slots - 1));
    std::uint32_t node = free_;
    if (node == k_none) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({entry, heads_[index]});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = {entry, heads_[index]};
    }
    heads_[index] = node;
    occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
    ++near_count_;
  }

  [[nodiscard]] std::int64_t next_near() const {
    const auto start = static_cast<std::size_t>(base_ & (k_slots - 1));
    std::size_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    while (bits == 0) {
      word = (word + 1) % occupied_.size();
      bits = occupied_[word];
    }
    const auto index = static_cast<std::int64_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    return base_ + ((index - base_) & (k_slots - 1));
  }

  void move_base(std::int64_t to) {
    base_ = to;
    while (!far_.empty() && far_.begin()->first - base_ < k_slots) {
      put(far_.begin()->first, far_.begin()->second);
      far_.erase(far_.begin());
    }
  }

  std::int64_t base_ = 0;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> occupied_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = k_none;
  std::size_t near_count_ = 0;
  std::multimap<std::int64_t, Entry> far_;
};

}  // namespace shapley::fairness
