#include "accounting/estimators/coalition_worth.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "accounting/estimators/coalition_books.hpp"
#include "accounting/ownership/ownership.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

namespace {

using hindsight::Coalition;

bool is_organization(OrgId row) {
  return row != k_guests_id && row != k_commons_id;
}

class Comparer {
 public:
  Comparer(const CoalitionBooks& books, const WorthAsked& asked) : books_(books), asked_(asked) {
    for (std::size_t u = 0; u < asked.players.size(); ++u) {
      players_of_[asked.rows[asked.players[u].value]] |= Coalition{1} << u;
      all_ |= Coalition{1} << u;
    }
    for (std::size_t id = 0; id < asked.got.size(); ++id) {
      const game::UtilitySum& sum = asked.got[id];
      got_[asked.rows[id]] += {sum.utility_at(asked.end), sum.work_at(asked.end)};
    }
  }

  std::optional<CooperationWorth> make() && {
    CooperationWorth worth;
    worth.begin = asked_.begin.value_or(k_beginning_of_time);
    worth.end = asked_.end;
    worth.is_of_all_coalitions = asked_.players.size() <= books_.exact();
    for (const auto& [row, players] : players_of_) {
      if (!books_.slot_of(players)) return std::nullopt;
    }
    for (const auto& [row, players] : players_of_) {
      const Comparison is = compare(std::span(&row, 1), players);
      if (is_organization(row) || is.got != Produced{}) worth.rows.push_back({row, is});
    }
    for (const Coalition players : hindsight::coalitions_of(asked_.players.size(), books_.exact()))
      add_coalition(worth, players);
    std::ranges::sort(worth.pairs, {}, &CooperationWorth::Coalition::members);
    set_bounds(worth);
    return worth;
  }

 private:
  [[nodiscard]] Produced alone(const CoalitionBooks& books, Coalition players) const {
    return books.produced(*books.slot_of(players), asked_.begin, asked_.end);
  }

  [[nodiscard]] Comparison compare(std::span<const OrgId> members, Coalition players) const {
    Comparison is;
    is.alone = alone(books_, players);
    for (const OrgId member : members) is.got += got_.at(member);
    return is;
  }

  // Only of the coalitions that receive requests: ending all of their requests would mean making their schedules again.
  void set_bounds(CooperationWorth& worth) const {
    std::map<Coalition, std::vector<Comparison*>> by_players;
    for (CooperationWorth::Row& row : worth.rows) by_players[players_of_.at(row.organization)].push_back(&row.is);
    const auto note = [&](CooperationWorth::Coalition& coalition) {
      Coalition players = 0;
      for (const OrgId member : coalition.members) players |= players_of_.at(member);
      by_players[players].push_back(&coalition.is);
    };
    for (CooperationWorth::Coalition& pair : worth.pairs) note(pair);
    if (worth.leaving) note(*worth.leaving);
    std::vector<Coalition> coalitions;
    for (const auto& [players, comparisons] : by_players) coalitions.push_back(players);
    CoalitionBooks ended = books_.only(coalitions);
    ended.end_all(Instant{books_.schedules().time()});
    for (const auto& [players, comparisons] : by_players) {
      const bool is_provisional = books_.schedules().is_provisional(*books_.slot_of(players), asked_.end.value);
      for (Comparison* is : comparisons) {
        is->alone_if_ended = alone(ended, players);
        is->is_provisional = is_provisional;
      }
    }
  }

  // The rows that these players make up; empty: some of them are only a part of a row.
  [[nodiscard]] std::vector<OrgId> members_of(Coalition players) const {
    std::vector<OrgId> members;
    for (const auto& [row, of_row] : players_of_) {
      if ((of_row & players) == 0) continue;
      if ((of_row & ~players) != 0) return {};
      members.push_back(row);
    }
    return members;
  }

  void add_coalition(CooperationWorth& worth, Coalition players) const {
    if (players == all_) return;
    CooperationWorth::Coalition coalition{.members = members_of(players), .is = {}};
    if (coalition.members.empty() || !std::ranges::all_of(coalition.members, is_organization)) return;
    coalition.is = compare(coalition.members, players);
    if (coalition.members.size() == 2) worth.pairs.push_back(coalition);
    if (!worth.leaving || leaves_before(coalition, *worth.leaving)) worth.leaving = std::move(coalition);
  }

  static bool leaves_before(const CooperationWorth::Coalition& a, const CooperationWorth::Coalition& b) {
    if (a.is.gain() != b.is.gain()) return a.is.gain() < b.is.gain();
    if (a.members.size() != b.members.size()) return a.members.size() < b.members.size();
    return a.members < b.members;
  }

  const CoalitionBooks& books_;
  const WorthAsked& asked_;
  std::map<OrgId, Coalition> players_of_;  // by row
  std::map<OrgId, Produced> got_;          // by row
  Coalition all_ = 0;
};

}  // namespace

std::optional<CooperationWorth> worth_of(const CoalitionBooks& books, const WorthAsked& asked) {
  return Comparer(books, asked).make();
}

}  // namespace shapley::accounting
