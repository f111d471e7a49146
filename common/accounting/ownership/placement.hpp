// Which nodes the jobs of one placement may use, over time (PlacementResolved). Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/events/event.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class PlacementHistory {
 public:
  explicit PlacementHistory(PlacementId number) : id(number) {}

  PlacementId id;
  std::size_t uses = 0;                // remembered waits and runs of it that count
  Instant told_since = k_end_of_time;  // from here on estimators know what its nodes offer

  [[nodiscard]] const PlacementResolved* find(Instant at, std::uint32_t ordinal) const;
  [[nodiscard]] const PlacementResolved* last() const;
  // `nodes`: the positions of fact.nodes among the books' nodes. REQUIRES: find(fact.at, fact.ordinal) == nullptr.
  void insert(const PlacementResolved& fact, std::vector<std::uint32_t> nodes);

  // Whether the node may be used at t, and in the second before.
  [[nodiscard]] bool holds(std::uint32_t node, Instant t) const;
  [[nodiscard]] bool holds_before(std::uint32_t node, Instant t) const;
  // Instants >= from at which it changes which nodes may be used.
  [[nodiscard]] std::vector<Instant> changes_since(Instant from) const;
  // Nodes that may be used at some instant; ascending.
  [[nodiscard]] std::vector<std::uint32_t> nodes() const;
  [[nodiscard]] bool ever_holds(std::uint32_t node) const;

  // Calls visit(fact), ascending.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Resolution& resolution : resolutions_) visit(resolution.fact);
  }

  // Drops what differs only for instants before `horizon`.
  void forget_before(Instant horizon);
  // No remembered wait or run is of it, and at `horizon` and later it has no nodes: the same as a placement that was
  // never heard of.
  [[nodiscard]] bool is_over(Instant horizon) const;

 private:
  struct Resolution {
    PlacementResolved fact;
    std::vector<std::uint32_t> nodes;  // ascending
    [[nodiscard]] bool holds(std::uint32_t node) const;
  };
  std::vector<Resolution> resolutions_;  // ascending by (at, ordinal)
};

}  // namespace shapley::accounting
