// Which nodes the jobs of one placement may use, over time (PlacementResolved). Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/events/event.hpp"
#include "accounting/ownership/node.hpp"
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

// The placements that waits, runs and resolutions name, by name.
class Placements {
 public:
  [[nodiscard]] const PlacementHistory* find(std::string_view name) const;
  PlacementHistory& obtain(std::string_view name);
  [[nodiscard]] auto begin() const { return placements_.begin(); }
  [[nodiscard]] auto end() const { return placements_.end(); }
  // Those of remembered waits and runs that count; those that have nodes by what is known last. Ascending.
  [[nodiscard]] std::vector<std::string> in_use() const;
  [[nodiscard]] std::vector<std::string> resolved() const;

  // Whether what is known of the placement at this place is the same; nullopt: nothing is.
  [[nodiscard]] std::optional<bool> repeats(const PlacementResolved& event) const;

  // From before the memory horizon on what a placement's nodes offer is part of the estimators' own memory.
  void forget_before(Instant horizon);
  // The same of placements whose offers were entered from all that is remembered.
  void note_told_before(Instant horizon);

  // Lines of a checkpoint.
  void save(TextWriter& out) const;
  void load(TextReader& in, Instant now, Nodes& nodes);

 private:
  std::map<std::string, PlacementHistory, std::less<>> placements_;
  std::uint32_t met_ = 0;
};

// The indices of the nodes that a placement may use; nodes that are new are met.
[[nodiscard]] std::vector<std::uint32_t> indices_of(const PlacementResolved& event, Nodes& nodes);

}  // namespace shapley::accounting
