// The site factor that the books ask for, computed anew from slurm.conf's weights, the ranks and the job's level
// (docs/internals/plugin.md, "Ranks become priorities"), and whether slurmctld has it.
//
// order strict:   site = 10000 + step * (ranks - 1 - position) + level_step * level,
//                 step = others_max + 10001 [+ 15 level_step],   level_step = others_max + 2, both narrower if they do
//                 not fit below 2^31
// order weighted: site = weight * (ranks - 1 - position) / (ranks - 1) + level_step * level
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

struct RankRule {
  bool strict = true;
  std::int64_t weight = 0;      // order weighted: of the first rank
  std::int64_t others_max = 0;  // order strict: what the other factors of a job sum to at most
  std::int64_t ranks = 0;       // how many organizations have one
  bool levels = false;          // steps leave room for levels
};

// `position` counts from 0, the best; `level` from 0 to 15. REQUIRES: 0 <= position < rule.ranks, all numbers >= 0.
[[nodiscard]] std::int64_t wished_site(const RankRule& rule, std::int64_t position, std::int64_t level);

// A comparison of what slurmctld has with what the books ask for: {"agrees": true, false or null, "why": TEXT or null,
// "wished_site", "site", "priority", "set_directly"}. agrees null: it cannot be said, `why` says the reason.
// `priorities`: of the daemon's explain (docs/reference/protocol.md); `slurm`: slurm_facts().
[[nodiscard]] nlohmann::json compare_priority(const nlohmann::json& priorities, const nlohmann::json& slurm,
                                              const std::string& organization);

}  // namespace shapley::ctl
