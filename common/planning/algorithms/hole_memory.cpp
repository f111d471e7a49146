#include "planning/algorithms/hole_memory.hpp"

#include <algorithm>

namespace shapley::planning {

SizeClasses::SizeClasses(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const std::size_t step = values.size() / k_classes + 1;
  for (std::size_t i = 0; i < values.size(); i += step) least_.push_back(values[i]);
}

std::size_t SizeClasses::lower(std::int64_t value) const {
  const auto above = std::upper_bound(least_.begin(), least_.end(), value);
  return static_cast<std::size_t>(above - least_.begin());
}

std::size_t SizeClasses::upper(std::int64_t value) const {
  const auto at_least = std::lower_bound(least_.begin(), least_.end(), value);
  return static_cast<std::size_t>(at_least - least_.begin()) + 1;
}

HoleMemory::HoleMemory(const SizeClasses& lengths, const SizeClasses& widths)
    : lengths_(&lengths), widths_(&widths), greatest_((lengths.count() + 1) * (widths.count() + 1), 0) {}

Ticks HoleMemory::not_before(const Job& job) const {
  Ticks latest = 0;
  const std::size_t row = widths_->count() + 1;
  for (std::size_t i = lengths_->lower(job.length); i > 0; i &= i - 1)
    for (std::size_t j = widths_->lower(job.processors); j > 0; j &= j - 1)
      latest = std::max(latest, greatest_[i * row + j]);
  return latest;
}

void HoleMemory::remember(const Job& job, Ticks start) {
  const std::size_t row = widths_->count() + 1;
  for (std::size_t i = lengths_->upper(job.length); i <= lengths_->count(); i += i & (~i + 1))
    for (std::size_t j = widths_->upper(job.processors); j <= widths_->count(); j += j & (~j + 1))
      greatest_[i * row + j] = std::max(greatest_[i * row + j], start);
}

}  // namespace shapley::planning
