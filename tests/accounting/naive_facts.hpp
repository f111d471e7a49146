// What the witness of the books (naive_books.hpp) reads out of the events, and what holds in one second.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"

namespace shapley::accounting::naive {

struct Held {
  SegmentOpened opened;
  Instant end;
};

struct Facts {
  std::vector<Held> segments;
  std::vector<OwnershipStated> statements;
  std::vector<CapacityChanged> capacities;
  std::vector<PlacementResolved> placements;
  std::vector<HindsightDefined> definitions;  // ascending
  std::set<std::string> organizations{std::string(k_guests), std::string(k_commons)};
  std::set<std::string> nodes;
  std::vector<WorkSettled> settled;
};

[[nodiscard]] Facts facts_of(const std::vector<Event>& events);
// Names and commas, as the scenarios write them.
[[nodiscard]] std::set<std::string> names_of(const std::string& list);
// The nodes that jobs of the placement may use at t.
[[nodiscard]] std::set<std::string> usable_at(const Facts& facts, const std::string& placement, Instant t);

// By price: what runs are charged, what nodes are worth and offer. By blocked: in processors.
enum class By { price, blocked };

// Everything that holds during the second [t, t+1).
struct Second {
  std::map<std::string, std::int64_t> used, waiting, owned, busy, on_own;
  std::map<std::string, std::map<std::string, std::int64_t>> offered;  // `owned` by node
};

[[nodiscard]] Second during(const Facts& facts, Instant t, By by = By::price);

}  // namespace shapley::accounting::naive
