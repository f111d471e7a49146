#include "accounting/estimators/rate_history.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/contract.hpp"
#include "game/shapley_value.hpp"

namespace shapley::accounting {

namespace {

// Late events among this many latest instants cost only the evaluation of what follows them.
constexpr std::size_t k_dense_snapshots = 64;
constexpr std::uint64_t k_snapshot_stride = 256;

bool is_zero(const LevelChange& change) {
  return change.running.value == 0 && change.waiting.value == 0 && change.owned.value == 0;
}

void shift(RateRow& row, const LevelChange& change) {
  row.running += change.running;
  row.waiting += change.waiting;
  row.owned += change.owned;
}

auto place_of(const PlacedRow& row) {
  return std::pair(row.placement, row.organization);
}

// The row of this placement and organization; else the position at which to insert it.
PlacedRows::iterator find_row(PlacedRows& rows, const PlacedRow& row) {
  return std::lower_bound(rows.begin(), rows.end(), row,
                          [](const PlacedRow& a, const PlacedRow& b) { return place_of(a) < place_of(b); });
}

bool asks(const PlacedRow& row) {
  return row.waiting.value != 0 || row.running.value != 0;
}

void shift(PlacedRows& rows, const PlacedRow& change) {
  auto row = find_row(rows, change);
  if (row == rows.end() || place_of(*row) != place_of(change)) {
    rows.insert(row, change);
    return;
  }
  row->waiting += change.waiting;
  row->running += change.running;
  row->offered += change.offered;
  if (!asks(*row) && row->offered.value == 0) rows.erase(row);
}

bool anybody_asks(const PlacedRows& rows, PlacementId placement) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const PlacedRow& row) { return row.placement == placement && asks(row); });
}

// Whether the nodes of the placement that has these rows offer at least what its runs hold.
bool holds_its_runs(std::span<const PlacedRow> rows) {
  ProcessorMillionths running;
  ProcessorMillionths offered;
  for (const PlacedRow& row : rows) {
    running += row.running;
    offered += row.offered;
  }
  return running <= offered;
}

// The placements for shapley_rates, by position in `players`; what runs there is subtracted from the demand of `game`
// for any node. Rows of a placement are adjacent.
std::vector<game::Placement> placements_of(std::span<const PlacedRow> rows, const std::vector<OrgId>& players,
                                           std::vector<game::Player>& game) {
  std::vector<std::size_t> position(players.size());
  for (std::size_t i = 0; i < players.size(); ++i) position[players[i].value] = i;
  std::vector<game::Placement> placements;
  while (!rows.empty()) {
    const auto next = std::ranges::find_if_not(
        rows, [&](PlacementId placement) { return placement == rows.front().placement; }, &PlacedRow::placement);
    const auto own = rows.first(static_cast<std::size_t>(next - rows.begin()));
    const bool runs_count = holds_its_runs(own);
    game::Placement& placement = placements.emplace_back(players.size());
    for (const PlacedRow& row : own) {
      const std::size_t player = position[row.organization.value];
      const ProcessorMillionths running = runs_count ? row.running : ProcessorMillionths{};
      placement[player] = {row.waiting + running, row.offered};
      game[player].demand -= running;
    }
    rows = rows.subspan(own.size());
  }
  return placements;
}

}  // namespace

RateHistory::Breakpoints::iterator RateHistory::breakpoint_at(Instant t) {
  return breakpoints_.empty() || breakpoints_.rbegin()->first < t
             ? breakpoints_.emplace_hint(breakpoints_.end(), t, Breakpoint{})
             : breakpoints_.try_emplace(t).first;
}

void RateHistory::change(Instant t, OrgId organization, const PlacedChange& change) {
  const PlacedRow row{change.placement, organization, change.waiting, change.running, change.offered};
  if (!asks(row) && row.offered.value == 0) return;
  SHAPLEY_REQUIRE(t > snapshots_.front().upto);
  rewind_before(t);
  const auto at = breakpoint_at(t);
  shift(at->second.placed, row);
  if (at->second.empty()) breakpoints_.erase(at);
}

void RateHistory::forget(PlacementId placement) {
  const auto erase_from = [&](PlacedRows& rows) {
    std::erase_if(rows, [&](const PlacedRow& row) { return row.placement == placement; });
  };
  for (RateSnapshot& snapshot : snapshots_) erase_from(snapshot.placed);
  erase_from(cursor_.placed);
  for (auto& [t, breakpoint] : breakpoints_) erase_from(breakpoint.placed);
  std::erase_if(breakpoints_, [](const auto& entry) { return entry.second.empty(); });
}

void RateHistory::change(Instant t, OrgId organization, const LevelChange& change) {
  SHAPLEY_REQUIRE(t > snapshots_.front().upto);
  rewind_before(t);
  const auto at = breakpoint_at(t);
  std::vector<Entry>& entries = at->second.levels;
  auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.organization == organization; });
  if (entry == entries.end()) entry = entries.insert(entries.end(), {organization, {}});
  entry->change.running += change.running;
  entry->change.waiting += change.waiting;
  entry->change.owned += change.owned;
  // A change that was retracted leaves nothing: an empty breakpoint would still draw new rates above k_exact_players.
  if (is_zero(entry->change)) entries.erase(entry);
  if (at->second.empty()) breakpoints_.erase(at);
}

void RateHistory::set_boundaries(std::vector<Instant> boundaries) {
  const auto [before, after] =
      std::mismatch(boundaries_.begin(), boundaries_.end(), boundaries.begin(), boundaries.end());
  if (before != boundaries_.end()) rewind_before(*before);
  if (after != boundaries.end()) rewind_before(*after);
  boundaries_ = std::move(boundaries);
}

void RateHistory::rewind_before(Instant t) {
  if (t > cursor_.upto) return;
  while (snapshots_.back().upto >= t) snapshots_.pop_back();
  cursor_ = snapshots_.back();
  closed_.resize(cursor_.periods_closed);
}

const RateSnapshot& RateHistory::evaluate(Instant t) {
  go_forward(cursor_, t, true);
  return cursor_;
}

void RateHistory::go_forward(RateSnapshot& cursor, Instant limit, bool keep) {
  auto next = breakpoints_.upper_bound(cursor.upto);
  while (true) {
    const Instant breakpoint = next == breakpoints_.end() ? k_end_of_time : next->first;
    const Instant boundary =
        cursor.periods_closed == boundaries_.size() ? k_end_of_time : boundaries_[cursor.periods_closed];
    const Instant t = std::min(breakpoint, boundary);
    if (t > limit || t == k_end_of_time) return;
    if (boundary == t) close_period(cursor, t);
    if (breakpoint == t) {
      apply_breakpoint(cursor, t, next->second);
      ++next;
    }
    cursor.upto = t;
    ++cursor.number;
    if (keep) keep_snapshot(cursor);
  }
}

void RateHistory::close_period(RateSnapshot& cursor, Instant boundary) {
  if (closed_.size() <= cursor.periods_closed) closed_.resize(cursor.periods_closed + 1);
  std::vector<game::UtilitySum>& closed = closed_[cursor.periods_closed];
  closed.clear();
  ++cursor.periods_closed;
  for (RateRow& row : cursor.rows) {
    closed.push_back(row.given);
    const ProcessorMillionths rate = row.given.running();
    row.given = {};
    row.given.add_running(rate, boundary);
  }
}

// Offers of a placement matter only while jobs wait or run in it: otherwise no rate is computed again, so that the
// instant of the first offer does not matter.
void RateHistory::apply_breakpoint(RateSnapshot& cursor, Instant t, const Breakpoint& breakpoint) const {
  cursor.rows.resize(players_.size());
  for (const Entry& entry : breakpoint.levels) shift(cursor.rows[entry.organization.value], entry.change);
  bool matters = !breakpoint.levels.empty();
  for (const PlacedRow& change : breakpoint.placed) shift(cursor.placed, change);
  for (const PlacedRow& change : breakpoint.placed) {
    matters = matters || asks(change) || anybody_asks(cursor.placed, change.placement);
  }
  if (matters) rate(cursor, t);
}

void RateHistory::rate(RateSnapshot& cursor, Instant t) const {
  std::vector<game::Player> game;
  game.reserve(players_.size());
  ProcessorMillionths running;
  for (const OrgId player : players_) {
    const RateRow& row = cursor.rows[player.value];
    game.push_back({row.running + row.waiting, row.owned});
    running += row.running;
  }
  const std::vector<game::Placement> placements = placements_of(cursor.placed, players_, game);
  const std::vector<ProcessorMillionths> rates = game::shapley_rates(
      game, {.running = running, .seed = static_cast<std::uint64_t>(t.value), .placements = placements});
  // Nodes offer at least what runs on them (node.hpp), so the grand coalition is worth something whenever something
  // runs.
  SHAPLEY_REQUIRE(rates.size() == players_.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    game::UtilitySum& given = cursor.rows[players_[i].value].given;
    if (given.running() == rates[i]) continue;
    given.remove_running(given.running(), t);
    given.add_running(rates[i], t);
  }
}

void RateHistory::keep_snapshot(const RateSnapshot& cursor) {
  snapshots_.push_back(cursor);
  if (snapshots_.size() <= k_dense_snapshots + 1) return;
  const auto old = snapshots_.end() - static_cast<std::ptrdiff_t>(k_dense_snapshots) - 1;
  if (old != snapshots_.begin() && old->number % k_snapshot_stride != 0) snapshots_.erase(old);
}

void RateHistory::forget_before(Instant horizon) {
  const Instant last_forgotten{horizon.value - 1};
  if (last_forgotten <= snapshots_.front().upto) return;
  const auto later = std::find_if(snapshots_.begin(), snapshots_.end(),
                                  [&](const RateSnapshot& s) { return s.upto > last_forgotten; });
  RateSnapshot base = *std::prev(later);
  go_forward(base, last_forgotten, false);
  base.upto = last_forgotten;
  snapshots_.erase(snapshots_.begin(), later);
  if (cursor_.upto < last_forgotten) cursor_ = base;
  snapshots_.insert(snapshots_.begin(), std::move(base));
  breakpoints_.erase(breakpoints_.begin(), breakpoints_.lower_bound(horizon));
}

std::vector<const RateSnapshot*> RateHistory::landmarks() const {
  std::vector<const RateSnapshot*> chosen;
  std::uint64_t distance = 0;
  for (std::size_t i = snapshots_.size(); i-- > 1;) {
    if (cursor_.number - snapshots_[i].number < distance) continue;
    chosen.push_back(&snapshots_[i]);
    distance = distance == 0 ? 1 : 2 * distance;
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

bool RateHistory::restore(RateSnapshot base, std::vector<RateSnapshot> landmarks,
                          std::vector<std::vector<game::UtilitySum>> closed) {
  std::vector<RateRow> levels(players_.size());
  PlacedRows placed;
  auto next = breakpoints_.begin();
  // Gives the snapshot the levels at its instant; false if its rates do not sum to what runs then.
  const auto complete = [&](RateSnapshot& snapshot) {
    for (; next != breakpoints_.end() && next->first <= snapshot.upto; ++next) {
      for (const Entry& entry : next->second.levels) shift(levels[entry.organization.value], entry.change);
      for (const PlacedRow& change : next->second.placed) shift(placed, change);
    }
    snapshot.placed = placed;
    snapshot.rows.resize(players_.size());
    ProcessorMillionths rates;
    ProcessorMillionths running;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const game::UtilitySum given = snapshot.rows[i].given;
      snapshot.rows[i] = levels[i];
      snapshot.rows[i].given = given;
      rates += given.running();
      running += levels[i].running;
    }
    return rates == running;
  };
  bool all_consistent = complete(base);
  breakpoints_.erase(breakpoints_.begin(), next);
  snapshots_.assign(1, std::move(base));
  for (RateSnapshot& landmark : landmarks) {
    all_consistent = complete(landmark) && all_consistent;
    snapshots_.push_back(std::move(landmark));
  }
  cursor_ = snapshots_.back();
  closed_ = std::move(closed);
  return all_consistent;
}

}  // namespace shapley::accounting
