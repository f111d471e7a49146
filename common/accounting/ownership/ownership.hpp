// The owners of one node over time: the statements about it, folded into a timeline.
//
// At instant t the statement with the greatest `effective` <= t holds, of several of that instant the one of the
// highest revision, and in it the last span with `from` <= t. Before the first statement, or where it names no owner,
// the node belongs to commons. The timeline is a pure function of the set of statements. Stretches that begin after the
// present are known but not in force: hand_over() puts them in force, so that books made of the stretches in force
// never look into the future. Single-threaded; the caller owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "game/split.hpp"

namespace shapley::accounting {

inline constexpr OrgId k_guests_id{0};
inline constexpr OrgId k_commons_id{1};

struct OwnerShare {
  OrgId owner;
  std::int64_t parts_per_million = 0;
  friend bool operator==(const OwnerShare&, const OwnerShare&) = default;
};

// Every owner of a node at an instant, commons included: parts sum to 1,000,000.
using Owners = std::vector<OwnerShare>;

// Calls visit(owner, processors) for each owner's part of `total`, apportioned by largest remainder: the parts sum to
// total. Exact without remainders for whole processors, so that splitting a job moves nothing between owners.
template <typename Visit>
void split_among(const Owners& owners, ProcessorMillionths total, Visit&& visit) {
  game::split_among(
      owners, total.value, [](const OwnerShare& share) { return Int128{share.parts_per_million}; },
      [&](const OwnerShare& share, std::int64_t part) {
        if (part != 0 || owners.size() == 1) visit(share.owner, ProcessorMillionths{part});
      });
}

class Ownership {
 public:
  // [from, next stretch's from) belongs to `owners`.
  struct Stretch {
    Instant from;
    Owners owners;
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  struct Span {
    Instant from;
    Owners owners;
  };

  Ownership();

  // The instant from which a statement is in force, and its revision.
  using Place = std::pair<Instant, std::uint32_t>;

  // Adds a statement and puts in force what begins at or before `now`. REQUIRES: there is no statement at this place.
  void state(Place place, std::vector<Span> spans, Instant now);

  // Begin of the first stretch not yet in force.
  [[nodiscard]] std::optional<Instant> next_hand_over() const;
  // Puts every stretch with from <= t in force.
  void hand_over(Instant t);

  // The stretches in force, ascending; the first one begins at k_beginning_of_time, the last one is open.
  [[nodiscard]] std::span<const Stretch> in_force() const { return std::span(timeline_).first(in_force_); }

 private:
  void extend(Instant from, const Owners& owners);

  std::map<Place, std::vector<Span>> statements_;
  std::vector<Stretch> timeline_;
  std::size_t in_force_ = 1;
};

}  // namespace shapley::accounting
