// Lower bounds from past searches: while jobs are only added to a profile, the earliest hole for a job never begins
// before the earliest hole once found for a shorter and narrower job.
//
// Lengths and widths are put into classes, at most k_classes each, so that a query and an insertion cost O(log^2
// k_classes). Coarse classes make the bound lower, never wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planning/model/grid.hpp"

namespace shapley::planning {

// The classes of the values of one dimension: `lower` is the class whose least value is at most x, `upper` the first
// class all of whose values are at least x.
class SizeClasses {
 public:
  static constexpr std::size_t k_classes = 128;

  explicit SizeClasses(std::vector<std::int64_t> values);

  [[nodiscard]] std::size_t count() const { return least_.size() + 1; }
  [[nodiscard]] std::size_t lower(std::int64_t value) const;
  [[nodiscard]] std::size_t upper(std::int64_t value) const;

 private:
  std::vector<std::int64_t> least_;  // of each class, rising
};

class HoleMemory {
 public:
  // REQUIRES: both outlive this.
  HoleMemory(const SizeClasses& lengths, const SizeClasses& widths);

  // An instant before which no hole for the job can begin.
  [[nodiscard]] Ticks not_before(const Job& job) const;
  // No hole for the job begins before `start`.
  void remember(const Job& job, Ticks start);

 private:
  const SizeClasses* lengths_;
  const SizeClasses* widths_;
  std::vector<Ticks> greatest_;  // a two-dimensional Fenwick tree of maxima, by (length class, width class)
};

}  // namespace shapley::planning
