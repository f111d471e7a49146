// Runs that share a node: what each is charged when together they are charged more than the whole node.
//
// A run of 90 % of a node's processors and another of 90 % of its memory fit together, and so do two on an
// oversubscribed node. Each claims what blocks the node; together no more is booked than the node has. At an instant at
// which the claims exceed what the node is worth as a whole, that is apportioned in proportion to the claims, by
// largest remainder, ties to the earlier claim. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace shapley::accounting {

// So much of a node is claimed during [begin, end).
struct Claim {
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it is open
  MicroProcessors processors;
};

// What the whole node is worth from `at` on; 0: not known, then nothing is shared.
struct Worth {
  Instant at;
  MicroProcessors whole;
};

// The claim with this index holds `processors` (> 0) during [begin, end).
using VisitHeld = std::function<void(std::size_t claim, Instant begin, Instant end, MicroProcessors processors)>;

// Calls visit for all that is held at instants >= from; stretches of one claim do not overlap. `worths` ascends by
// `at`; before the first one nothing is known.
void for_each_held(std::span<const Claim> claims, std::span<const Worth> worths, Instant from, const VisitHeld& visit);

}  // namespace shapley::accounting
