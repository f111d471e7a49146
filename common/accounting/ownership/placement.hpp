// The nodes that jobs with one placement may use, over time (PlacementResolved). Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/ownership/node.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class PlacementHistory {
 public:
  std::size_t uses = 0;  // remembered waits and runs with this placement that count

  [[nodiscard]] const PlacementResolved* find(Instant at, std::uint32_t ordinal) const;
  [[nodiscard]] const PlacementResolved* last() const;
  // The nodes that may be used at t, and since when: none, and the beginning of time, before the first resolution.
  [[nodiscard]] std::pair<Instant, std::span<const std::uint32_t>> in_force(Instant t) const;
  // `nodes`: the positions of fact.nodes among the books' nodes. REQUIRES: find(fact.at, fact.ordinal) == nullptr.
  void insert(const PlacementResolved& fact, std::vector<std::uint32_t> nodes);

  // Calls visit(fact), ascending.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Resolution& resolution : resolutions_) visit(resolution.fact);
  }

  // Drops changes that matter only for instants before `horizon`.
  void forget_before(Instant horizon);
  // Whether no remembered wait or run has this placement, and it has no nodes at `horizon` and later: then it is the
  // same as an unknown placement.
  [[nodiscard]] bool is_over(Instant horizon) const;

 private:
  struct Resolution {
    PlacementResolved fact;
    std::vector<std::uint32_t> nodes;  // ascending
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
  // Placements of remembered waits and runs that count; placements whose last resolution has nodes. Ascending.
  [[nodiscard]] std::vector<std::string> in_use() const;
  [[nodiscard]] std::vector<std::string> resolved() const;

  // Whether what is known of the placement at this place equals the event; nullopt: nothing is known.
  [[nodiscard]] std::optional<bool> repeats(const PlacementResolved& event) const;

  // Counts one wait or run more (sign 1), or less (-1), for the placement, unless it is the empty one.
  void count_use(std::string_view name, int sign);

  void forget_before(Instant horizon);

  // Lines of a checkpoint.
  void save(TextWriter& out) const;
  void load(TextReader& in, Instant now, Nodes& nodes);

 private:
  std::map<std::string, PlacementHistory, std::less<>> placements_;
};

// The indices of the nodes that a placement may use; new nodes get an index.
[[nodiscard]] std::vector<std::uint32_t> indices_of(const PlacementResolved& event, Nodes& nodes);

}  // namespace shapley::accounting
