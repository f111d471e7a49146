// Kinds of nodes for the virtual schedules of hindsight: nodes of one kind are alike for placing jobs, and what a
// coalition owns of them is one pool (hindsight/virtual_schedules.hpp). HindsightDefined says which there are, and from
// when on.
//
// A kind has a number. It keeps it while nodes come and go; a kind whose nodes are not alike any more is divided, and a
// part of them gets a number that was not used before. Requests that were released before that may use the new kind,
// too, if they could use the one that it was divided from.
//
// Pure functions and values; single-threaded.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "hindsight/request_queue.hpp"

namespace shapley::accounting {

using hindsight::Kind;
using KindSet = std::uint64_t;  // a bit for each kind
static_assert(hindsight::k_most_kinds == 64 && k_most_listed_kinds + 1 == hindsight::k_most_kinds);

// From `at` on some nodes of `kind` are of the kind `added`, which had no nodes before.
struct KindDivided {
  Instant at;
  Kind kind = 0;
  Kind added = 0;
  friend auto operator<=>(const KindDivided&, const KindDivided&) = default;
};

// What is defined when. Before the first definition jobs start in parts, and all nodes are of kind 0.
class KindHistory {
 public:
  // REQUIRES: check() accepts the fact, and there is none of its instant.
  void define(const HindsightDefined& fact);

  [[nodiscard]] bool starts_whole(Instant t) const;
  // Whether jobs start whole at all instants of [from, until].
  [[nodiscard]] bool start_whole_throughout(Instant from, Instant until) const;
  [[nodiscard]] Kind kind_of(std::string_view node, Instant t) const;
  // Of these nodes; every kind that has had nodes by then, for a placement without nodes (empty).
  [[nodiscard]] KindSet kinds_of(std::span<const std::string_view> nodes, Instant t) const;
  // Since when what is in force at t is defined; the beginning of time: nothing is.
  [[nodiscard]] Instant defined_before(Instant t) const;
  // The instants >= from at which something else is defined, ascending.
  [[nodiscard]] std::vector<Instant> changes_since(Instant from) const;
  // All divisions; of one instant the kinds ascend, and of one kind the added ones descend, so that each is put right
  // behind it (hindsight::Form::add_behind).
  [[nodiscard]] std::vector<KindDivided> divisions() const;
  [[nodiscard]] bool empty() const { return definitions_.empty(); }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Definition {
    Instant at;
    bool starts_whole = false;
    KindSet used = 1;  // kinds that had nodes by this definition or an earlier one
    std::unordered_map<std::string, Kind, TextHash, std::equal_to<>> kinds;
    [[nodiscard]] Kind kind_of(std::string_view node) const;
  };
  // The one in force; nullptr: none.
  [[nodiscard]] const Definition* at(Instant t) const;

  std::vector<Definition> definitions_;  // ascending
};

// By number less one: the nodes of a kind, ascending by name. What is not listed is of kind 0.
using KindLists = std::vector<std::vector<std::string>>;

// The kinds by which these sets of nodes differ, each of which jobs of some placement may use: the smallest sets of
// which every one of them is made. Kinds of before keep their numbers, and are divided only where they have to be; the
// largest part keeps the number, because what runs there stays in its pool. What is of kind 0, and not like the largest
// part of it, becomes one of a kind that is in the same sets, if there is one. If there were more than k_most_kinds,
// those that are in the same sets now become one, and the smallest ones besides. What is in no set stays.
[[nodiscard]] KindLists kinds_for(const KindLists& before, std::span<const std::vector<std::string>> sets);
// The same as events have them: lists in Slurm's notation, and the nodes of each placement.
[[nodiscard]] std::vector<std::string> kinds_for(const std::vector<std::string>& before,
                                                 const std::map<std::string, std::string>& placed);

}  // namespace shapley::accounting
