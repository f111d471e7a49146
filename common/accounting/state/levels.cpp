#include "accounting/state/levels.hpp"

#include <utility>

namespace shapley::accounting {

Level& Level::operator+=(const Level& other) {
  owned += other.owned;
  waiting += other.waiting;
  lent += other.lent;
  borrowed += other.borrowed;
  return *this;
}

void Levels::resize(std::size_t organizations) {
  for (Period& period : periods_) period.rows.resize(organizations);
}

void Levels::change(Instant t, OrgId organization, const Level& change) {
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > t; ++period) {
    if (settled(*period)) return;
    period->rows[organization.value] += change;
  }
}

void Levels::fold_piece(int sign, const Piece& piece) {
  if (piece.organization == piece.owner) return;
  const MicroProcessors processors{sign * piece.processors.value};
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > piece.begin; ++period) {
    if (settled(*period)) return;
    if (piece.end < period->end) continue;
    period->rows[piece.owner.value].lent += processors;
    period->rows[piece.organization.value].borrowed += processors;
  }
}

void Levels::close_period(Instant boundary) {
  Period next{k_end_of_time, periods_.back().rows};
  periods_.back().end = boundary;
  periods_.push_back(std::move(next));
}

void Levels::set_boundaries(const std::vector<Instant>& boundaries) {
  const std::size_t organizations = periods_.back().rows.size();
  std::vector<Period> periods;
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const Instant end = i == boundaries.size() ? k_end_of_time : boundaries[i];
    const bool keep = i < periods_.size() && periods_[i].end == end && settled(periods_[i]);
    periods.push_back({end, keep ? std::move(periods_[i].rows) : std::vector<Level>(organizations)});
  }
  periods_ = std::move(periods);
}

}  // namespace shapley::accounting
