// Open addressing by job id, as both tables that are read under slurmctld's locks do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shapley::client {

// Where the job is, or the free slot where it belongs. REQUIRES: a power of two slots, one of them free; a free slot
// has job_id 0.
template <typename Slot>
[[nodiscard]] std::size_t slot_of(const std::vector<Slot>& slots, std::uint32_t job_id) {
  // Fibonacci hashing: ids come in runs, and the multiplication spreads a run over the whole table.
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = static_cast<std::size_t>((job_id * 0x9E3779B97F4A7C15ULL) >> 32U) & mask;
  while (slots[slot].job_id != 0 && slots[slot].job_id != job_id) slot = (slot + 1) & mask;
  return slot;
}

}  // namespace shapley::client
