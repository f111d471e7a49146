#include "plugin/client/scan/fingerprints.hpp"

#include <algorithm>
#include <bit>

#include "plugin/client/scan/job_slots.hpp"

namespace shapley::client {

namespace {
constexpr std::size_t k_smallest_table = 256;
}

FingerprintTable::Entry& FingerprintTable::at(std::uint32_t job_id) {
  if (slots_.empty()) rebuild(k_smallest_table, 0, false);
  std::size_t slot = slot_of(slots_, job_id);
  if (slots_[slot].job_id == job_id) return slots_[slot];
  if (2 * (size_ + 1) > slots_.size()) {
    rebuild(2 * slots_.size(), 0, false);
    slot = slot_of(slots_, job_id);
  }
  ++size_;
  slots_[slot] = Entry{.job_id = job_id};
  return slots_[slot];
}

std::vector<std::uint32_t> FingerprintTable::unseen(std::uint32_t scan) const {
  std::vector<std::uint32_t> ids;
  for (const Entry& entry : slots_) {
    if (entry.job_id != 0 && entry.seen != scan) ids.push_back(entry.job_id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

void FingerprintTable::remove_unseen(std::uint32_t scan) {
  const auto kept = static_cast<std::size_t>(std::count_if(
      slots_.begin(), slots_.end(), [&](const Entry& entry) { return entry.job_id != 0 && entry.seen == scan; }));
  rebuild(std::max(k_smallest_table, std::bit_ceil(2 * (kept + 1))), scan, true);
}

void FingerprintTable::rebuild(std::size_t slots, std::uint32_t only_seen_by, bool filter) {
  FingerprintTable bigger;
  bigger.slots_.resize(slots);
  for (const Entry& entry : slots_) {
    if (entry.job_id == 0 || (filter && entry.seen != only_seen_by)) continue;
    bigger.slots_[slot_of(bigger.slots_, entry.job_id)] = entry;
    ++bigger.size_;
  }
  *this = std::move(bigger);
}

}  // namespace shapley::client
