// The requests of all organizations in the order in which every schedule serves them: by release, organization, order.
//
// A request keeps its name while other requests are inserted and dropped. Single-threaded; VirtualSchedules owns it.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "game/shapley_value.hpp"

namespace shapley::hindsight {

using game::Coalition;

// Names a request; 0, 1, 2, ... in the order in which they were added.
using Request = std::uint32_t;

inline constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t k_unknown = -1;

// Of equal releases of one organization the request with the smaller order is served first.
struct Order {
  Order() = default;
  Order(std::uint64_t of_group, std::int64_t of_start = 0, std::uint64_t of_run = 0)  // NOLINT: an integer is an order
      : group(of_group), start(of_start), run(of_run) {}
  std::uint64_t group = 0;
  std::int64_t start = 0;
  std::uint64_t run = 0;
  friend auto operator<=>(const Order&, const Order&) = default;
};

struct Known {
  std::int64_t release = 0;
  std::int64_t amount = 0;              // 0: withdrawn
  std::int64_t duration = k_unknown;    // of its run
  std::int64_t really_began = k_never;  // k_never while it waits
  Order order;
  Coalition owner = 0;  // one bit
  Request name = 0;
  friend bool operator==(const Known&, const Known&) = default;
};

class RequestQueue {
 public:
  RequestQueue() = default;
  explicit RequestQueue(std::vector<std::uint32_t> ranks) : ranks_(std::move(ranks)) {}
  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  // By organization: its rank among equal releases; all ranks are equal at first. REQUIRES: organizations that have
  // requests keep their order.
  void set_ranks(std::vector<std::uint32_t> by_organization) { ranks_ = std::move(by_organization); }

  // Names a request and inserts it behind those that are served before it or rank equally. Requests at its place and
  // behind move one further. Returns the place.
  std::uint32_t insert(Known known);
  // As insert(), at this place. REQUIRES: that keeps the order.
  void insert_at(std::uint32_t place, Known known);

  // Withdrawn requests of this organization and release in front of `place` have no order of their own: they get one
  // before `order`.
  void move_withdrawn_before(std::uint32_t place, const Order& order);

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] const Known& operator[](std::uint32_t place) const { return queue_[place]; }
  [[nodiscard]] Known& operator[](std::uint32_t place) { return queue_[place]; }
  [[nodiscard]] std::uint32_t place_of(Request request) const { return place_[request - first_name_]; }
  [[nodiscard]] const std::vector<Known>& all() const { return queue_; }
  [[nodiscard]] bool is_ordered() const;
  // Memory in bytes.
  [[nodiscard]] std::size_t bytes() const {
    return queue_.capacity() * sizeof(Known) + place_.capacity() * sizeof(std::uint32_t);
  }

  // Drops requests that are not kept. Returns for each old place, and the end, its new place or that of the next kept
  // one.
  std::vector<std::uint32_t> drop(const std::vector<bool>& keep);
  // Gives all requests the names 0, 1, 2, ... in their order.
  void rename();

 private:
  static constexpr std::uint32_t k_dropped = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool before(const Known& a, const Known& b) const;
  [[nodiscard]] std::uint32_t rank_of(const Known& known) const {
    const auto organization = static_cast<std::size_t>(std::countr_zero(known.owner));
    return organization < ranks_.size() ? ranks_[organization] : 0;
  }

  std::vector<Known> queue_;
  std::vector<std::uint32_t> place_;  // by request, from first_name_ on; k_dropped for dropped ones
  Request first_name_ = 0;
  std::vector<std::uint32_t> ranks_;
};

}  // namespace shapley::hindsight
