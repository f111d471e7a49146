// What cooperation is worth (worth/worth.hpp), from the virtual schedules of the coalitions. Pure.
#pragma once

#include <optional>
#include <span>

#include "accounting/worth/worth.hpp"
#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

class CoalitionBooks;

struct WorthAsked {
  std::optional<Instant> begin;           // of the period, a mark of the schedules; none: the first one
  Instant end;                            // the time that they have reached, or a mark
  std::span<const OrgId> players;         // those of the period: the first ones of the books
  std::span<const OrgId> rows;            // by OrgId: whose row it is part of
  std::span<const game::UtilitySum> got;  // psi and work of the period, by OrgId
};

// nullopt: there are too many players for their schedules alone to be kept.
[[nodiscard]] std::optional<CooperationWorth> worth_of(const CoalitionBooks& books, const WorthAsked& asked);

}  // namespace shapley::accounting
