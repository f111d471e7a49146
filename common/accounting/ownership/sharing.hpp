// Runs that share a node: what each is charged when together they are charged more than the whole node.
//
// A run with 90 % of a node's processors and another with 90 % of its memory fit together, and so do two on an
// oversubscribed node. Each claims what it blocks of the node; together no more is booked than the node has. At an
// instant at which the claims exceed the worth of the whole node, that worth is apportioned in proportion to the
// claims, by largest remainder, ties to the earlier claim. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/types.hpp"

namespace shapley::accounting {

// So much of a node is claimed during [begin, end).
struct Claim {
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it is open
  ProcessorMillionths processors;
};

// The worth of the whole node from `at` on; 0: not known, then nothing is shared.
struct Worth {
  Instant at;
  ProcessorMillionths whole;
};

// The claim with this index holds `processors` (> 0) during [begin, end).
using VisitHeld = std::function<void(std::size_t claim, Instant begin, Instant end, ProcessorMillionths processors)>;

// Calls visit for everything that is held at instants >= from; stretches of one claim do not overlap. `worths` ascends
// by `at`; before the first one the worth is not known.
void for_each_held(std::span<const Claim> claims, std::span<const Worth> worths, Instant from, const VisitHeld& visit);

// The same for groups of runs, added up.
//
// Runs that claim the same and belong to one group are a class. Within a class, claims hold equal amounts, or some hold
// one unit of the largest remainder more; how many do follows from the order of the claims. So an instant costs as much
// as there are classes, however many runs there are: n claims of c classes take n (c + log n) steps. Pure.

// `count` claims of one class, that of the claim with this index, hold `processors` (> 0) each during [begin, end).
using VisitClass = std::function<void(std::size_t claim, std::int64_t count, Instant begin, Instant end,
                                      ProcessorMillionths processors)>;

// Calls visit for everything held at instants >= from, like for_each_held. `groups`: the group of each claim.
void for_each_class_held(std::span<const Claim> claims, std::span<const std::size_t> groups,
                         std::span<const Worth> worths, Instant from, const VisitClass& visit);

}  // namespace shapley::accounting
