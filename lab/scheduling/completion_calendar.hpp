// A calendar of completions: what ends at which second, with O(1) insertion and O(1) for the next end.
//
// A wheel of k_slots seconds holds the near future as lists of chunks, with two levels of bits above it that say where
// entries are; later completions wait in a heap and enter the wheel when it comes near. What is added together for one
// second lies together: completions are visited at the speed of memory that is read in order. An entry is whatever 32
// bits the caller makes of it. Entries of one second come out in no particular order.
//
// Memory: 4.6 bytes per near entry and 64 per second that has any; 16 per far entry; vectors grow by doubling.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/contract.hpp"

namespace shapley::scheduling {

class CompletionCalendar {
 public:
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

  CompletionCalendar() { heads_.fill(k_none); }

  // Adds an entry that ends at `end`, which must be later than every end taken so far.
  void add(std::int64_t end, std::uint32_t entry) {
    next_ = std::min(next_, end);
    if (end - base_ < k_slots) {
      put(end, entry);
    } else {
      put_far({end, k_none, entry});
    }
  }

  // Adds many entries for one end.
  void add(std::int64_t end, std::span<const std::uint32_t> entries) {
    if (entries.empty()) return;
    next_ = std::min(next_, end);
    if (end - base_ < k_slots) {
      mark(index_of(end));
      append(heads_[index_of(end)], entries);
    } else {
      std::uint32_t head = new_chunk(k_none);
      const std::uint32_t tail = head;
      append(head, entries);
      put_far({end, head, tail});
    }
  }

  // The earliest end, or k_never.
  [[nodiscard]] std::int64_t next() const { return next_; }

  // Calls visit(entry) for every entry that ends at `end`. REQUIRES: end == next().
  template <typename Visit>
  void take(std::int64_t end, Visit&& visit) {
    SHAPLEY_REQUIRE(end == next());
    move_base(end);
    const std::size_t index = index_of(end);
    std::uint32_t at = heads_[index];
    heads_[index] = k_none;
    clear(index);
    while (at != k_none) {
      const Chunk chunk = chunks_[at];  // a copy: visiting may add entries
      chunks_[at].next = free_;
      free_ = at;
      for (std::uint32_t i = 0; i < chunk.count; ++i) visit(chunk.entries[i]);
      at = chunk.next;
    }
    next_ = earliest();
  }

 private:
  static constexpr std::int64_t k_slots = 1 << 14;
  static constexpr std::size_t k_words = k_slots / 64;
  static constexpr std::size_t k_groups = k_words / 64;
  static constexpr std::uint32_t k_none = 0xffffffffU;
  struct alignas(64) Chunk {
    std::uint32_t next;
    std::uint32_t count;
    std::array<std::uint32_t, 14> entries;
  };
  struct Far {
    std::int64_t end;
    std::uint32_t head;           // of a list of chunks, or k_none: a single entry
    std::uint32_t tail_or_entry;  // the list's last chunk, or that entry
    friend bool operator<(const Far& a, const Far& b) { return a.end > b.end; }  // earliest on top of the heap
  };

  static std::size_t index_of(std::int64_t end) { return static_cast<std::size_t>(end & (k_slots - 1)); }

  void put_far(const Far& far) {
    far_.push_back(far);
    std::push_heap(far_.begin(), far_.end());
  }
  // Fills the list's first chunk and puts new chunks before it.
  void append(std::uint32_t& head, std::span<const std::uint32_t> entries) {
    while (!entries.empty()) {
      if (head == k_none || chunks_[head].count == chunks_[head].entries.size()) head = new_chunk(head);
      Chunk& chunk = chunks_[head];
      const std::size_t fits = std::min(entries.size(), chunk.entries.size() - chunk.count);
      std::copy_n(entries.begin(), fits, chunk.entries.begin() + chunk.count);
      chunk.count += static_cast<std::uint32_t>(fits);
      entries = entries.subspan(fits);
    }
  }
  void put(std::int64_t end, std::uint32_t entry) {
    const std::size_t index = index_of(end);
    std::uint32_t& head = heads_[index];
    if (head == k_none || chunks_[head].count == chunks_[head].entries.size()) head = new_chunk(head);
    Chunk& chunk = chunks_[head];
    chunk.entries[chunk.count++] = entry;
    mark(index);
  }
  void mark(std::size_t index) {
    words_[index / 64] |= std::uint64_t{1} << (index % 64);
    groups_[index / 4096] |= std::uint64_t{1} << (index / 64 % 64);
  }
  std::uint32_t new_chunk(std::uint32_t next) {
    std::uint32_t at = free_;
    if (at == k_none) {
      at = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunks_[at].next;
    }
    chunks_[at].next = next;
    chunks_[at].count = 0;
    return at;
  }

  void clear(std::size_t index) {
    words_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    if (words_[index / 64] == 0) groups_[index / 4096] &= ~(std::uint64_t{1} << (index / 64 % 64));
  }

  [[nodiscard]] std::int64_t earliest() const {
    const std::size_t start = index_of(base_);
    if (const std::uint64_t bits = words_[start / 64] & (~std::uint64_t{0} << (start % 64)); bits != 0)
      return end_at(start / 64, bits);
    // First the other words of this group, then the other groups in turn, and finally this group again for entries that
    // wrapped around.
    const std::size_t word = start / 64;
    std::uint64_t words = groups_[word / 64] & ~((std::uint64_t{2} << (word % 64)) - 1);
    for (std::size_t i = 0; i <= k_groups; ++i) {
      const std::size_t group = (word / 64 + i) % k_groups;
      if (i > 0) words = groups_[group];
      if (words == 0) continue;
      const std::size_t found = group * 64 + static_cast<std::size_t>(std::countr_zero(words));
      return end_at(found, words_[found]);
    }
    return far_.empty() ? k_never : far_.front().end;
  }
  [[nodiscard]] std::int64_t end_at(std::size_t word, std::uint64_t bits) const {
    const auto index = static_cast<std::int64_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    return base_ + ((index - base_) & (k_slots - 1));
  }

  void move_base(std::int64_t to) {
    base_ = to;
    while (!far_.empty() && far_.front().end - base_ < k_slots) {
      const Far far = far_.front();
      if (far.head == k_none) {
        put(far.end, far.tail_or_entry);
      } else {
        std::uint32_t& head = heads_[index_of(far.end)];
        chunks_[far.tail_or_entry].next = head;
        head = far.head;
        mark(index_of(far.end));
      }
      std::pop_heap(far_.begin(), far_.end());
      far_.pop_back();
    }
  }

  std::int64_t base_ = 0;  // the wheel holds ends in [base_, base_ + k_slots)
  std::int64_t next_ = k_never;
  std::array<std::uint32_t, k_slots> heads_;
  std::array<std::uint64_t, k_words> words_{};
  std::array<std::uint64_t, k_groups> groups_{};
  std::vector<Chunk> chunks_;
  std::uint32_t free_ = k_none;
  std::vector<Far> far_;
};

}  // namespace shapley::scheduling
