// The witness of virtual_schedules.hpp: a coalition's schedule from the first second on, second by second, from the
// facts that are known, with a pool for each kind and jobs that start whole. Slow, and shares no code with common/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace shapley::hindsight::naive {

__extension__ using Wide = __int128;

constexpr std::size_t k_kinds = 8;

struct Request {
  std::int64_t release = 0;
  std::uint64_t order = 0;  // of equal releases the smaller one is first
  std::int64_t amount = 1;
  std::size_t organization = 0;
  std::optional<std::int64_t> duration{};
  bool withdrawn = false;
  // Kinds that it may use, as they are tried, and how much of it starts together, in one of them; 0: any part.
  std::vector<std::size_t> kinds{0};
  std::int64_t width = 0;
  // Set: it starts as one, in the first kind in which its width fits, and this is what it takes there.
  std::optional<std::int64_t> charged{};
};

struct Change {
  std::int64_t at = 0;
  std::size_t organization = 0;
  std::int64_t by = 0;
  std::size_t kind = 0;
};

struct Facts {
  std::vector<Request> requests;
  std::vector<Change> capacity;
  std::int64_t processor = 1;  // a pool has whole ones of this amount for what starts together
};

struct Value {
  Wide utility = 0;  // psi at t
  Wide work = 0;     // amount times seconds, done before t
  friend bool operator==(const Value&, const Value&) = default;
};

inline bool holds(std::uint32_t coalition, std::size_t organization) {
  return (coalition >> organization & 1U) != 0;
}

// What the coalition would have produced before t. Every amount that runs for the second that begins at x is worth t -
// x.
inline Value value_of(const Facts& facts, std::uint32_t coalition, std::int64_t t) {
  struct Waiting {
    Request request;
    std::int64_t left;
  };
  struct Part {
    std::int64_t amount;
    std::optional<std::int64_t> end;
    std::size_t kind;
  };
  std::vector<Waiting> queue;
  std::int64_t first = t;
  for (const Request& request : facts.requests) {
    if (!holds(coalition, request.organization) || request.withdrawn) continue;
    queue.push_back({request, request.charged.value_or(request.amount)});
    first = std::min(first, request.release);
  }
  std::stable_sort(queue.begin(), queue.end(), [](const Waiting& a, const Waiting& b) {
    return std::tie(a.request.release, a.request.order) < std::tie(b.request.release, b.request.order);
  });
  std::vector<Part> running;
  Value value;
  for (std::int64_t x = first; x < t; ++x) {
    std::erase_if(running, [x](const Part& part) { return part.end && *part.end <= x; });
    std::array<std::int64_t, k_kinds> pools{};
    std::array<std::int64_t, k_kinds> used{};
    for (const Change& change : facts.capacity) {
      if (change.at <= x && holds(coalition, change.organization)) pools[change.kind] += change.by;
    }
    for (const Part& part : running) used[part.kind] += part.amount;
    for (Waiting& waiting : queue) {
      const Request& request = waiting.request;
      if (request.release > x) break;
      for (const std::size_t kind : request.kinds) {
        const std::int64_t unit = request.width > 0 ? facts.processor : 1;
        const std::int64_t together = request.width > 0 ? request.width : 1;
        const std::int64_t broken = (pools[kind] % unit + unit) % unit;
        const std::int64_t room = std::max<std::int64_t>(pools[kind] - broken - used[kind], 0);
        std::int64_t amount = std::min(waiting.left, room) / together * together;
        if (request.charged) amount = room >= request.width ? waiting.left : 0;
        waiting.left -= amount;
        used[kind] += amount;
        const auto& duration = request.duration;
        if (amount > 0) running.push_back({amount, duration ? std::optional(x + *duration) : std::nullopt, kind});
      }
    }
    for (const Part& part : running) {
      value.utility += static_cast<Wide>(part.amount) * (t - x);
      value.work += part.amount;
    }
  }
  return value;
}

inline Wide factorial(std::size_t n) {
  return n <= 1 ? 1 : static_cast<Wide>(n) * factorial(n - 1);
}

// Q(C) = |C|! P(C), by the recursion of Hart and Mas-Colell; value(C) = v(C), an Integer.
template <typename Integer, typename ValueOf>
Integer scaled_potential(std::uint32_t coalition, ValueOf&& value) {
  if (coalition == 0) return 0;
  Integer sum = 0;
  std::int64_t factor = 1;  // (|C|-1)!
  std::int64_t size = 0;
  for (std::uint32_t u = 0; u < 32; ++u) {
    if (!holds(coalition, u)) continue;
    sum += scaled_potential<Integer>(coalition & ~(1U << u), value);
    if (size > 0) factor *= size;
    ++size;
  }
  return sum + value(coalition) * factor;
}

}  // namespace shapley::hindsight::naive
