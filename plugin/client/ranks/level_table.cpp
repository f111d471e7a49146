#include "plugin/client/ranks/level_table.hpp"

#include <bit>
#include <string>

#include "plugin/client/scan/job_slots.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

static_assert(protocol::k_max_level == k_shapley_max_level);

Expected<LevelTable> LevelTable::of(const std::vector<protocol::JobLevel>& jobs) {
  LevelTable table;
  if (jobs.empty()) return table;
  if (jobs.size() > protocol::k_max_level_jobs) {
    return fail(Errc::protocol, "the daemon sent levels of " + std::to_string(jobs.size()) + " jobs, more than the " +
                                    std::to_string(protocol::k_max_level_jobs) + " that a message may list");
  }
  table.slots_.resize(std::bit_ceil(2 * jobs.size()));
  table.size_ = jobs.size();
  std::uint32_t before = 0;
  for (const protocol::JobLevel& job : jobs) {
    if (job.job_id <= before) {
      return fail(Errc::protocol, "the daemon sent levels whose job ids do not ascend: " + std::to_string(job.job_id) +
                                      " after " + std::to_string(before));
    }
    if (job.level < 1 || job.level > protocol::k_max_level) {
      return fail(Errc::protocol, "the daemon sent level " + std::to_string(job.level) + " of job " +
                                      std::to_string(job.job_id) + "; levels are 1 to " +
                                      std::to_string(protocol::k_max_level));
    }
    before = job.job_id;
    table.slots_[slot_of(table.slots_, job.job_id)] = job;
  }
  return table;
}

std::uint32_t LevelTable::level_of(std::uint32_t job_id) const {
  // A job without an id would find any free slot, whose level is 0, too.
  return slots_.empty() ? 0 : slots_[slot_of(slots_, job_id)].level;
}

}  // namespace shapley::client
