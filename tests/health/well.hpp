// A status of which no rule finds anything.
#pragma once

#include "health/health.hpp"

namespace shapley::health {

inline constexpr Instant k_now{1'795'244'400};  // 2026-11-21T07:00:00Z

inline Report well() {
  Report report;
  report.daemon.now = k_now;
  report.daemon.mode = "priorities";
  report.daemon.ranks_computed_at = k_now - Duration{2};
  report.daemon.stale_after = Duration{300};
  report.daemon.storage.free_bytes = 50'000'000'000;
  report.plugin = {.connected = true,
                   .last_heard_at = k_now - Duration{10},
                   .backlog = 2,
                   .dropped_backlogs = 0,
                   .sign_of_life_s = 10};
  return report;
}

}  // namespace shapley::health
