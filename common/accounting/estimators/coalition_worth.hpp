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
  std::optional<Instant> begin;           // of the period, a mark of the schedules; nullopt: the first period
  Instant end;                            // the time that the schedules have reached, or a mark
  std::span<const OrgId> players;         // the period's players: the first ones of the books
  std::span<const OrgId> rows;            // by OrgId: the row that an organization is part of
  std::span<const game::UtilitySum> got;  // psi and work of the period, by OrgId
};

// nullopt: there are too many players to keep the schedule of each one alone.
[[nodiscard]] std::optional<CooperationWorth> worth_of(const CoalitionBooks& books, const WorthAsked& asked);

}  // namespace shapley::accounting
