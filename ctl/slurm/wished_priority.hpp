// The site factor that the books ask for, computed anew from slurm.conf's weights, the ranks and the job's level
// (docs/internals/plugin.md, "Ranks become priorities"), and whether slurmctld has it.
//
// order strict:   site = 10000 + step * label + level_step * level: the label is the job's place, which the plugin
//                 chooses, so that of a site factor no more can be said than whether it has this form;
//                 step = others_max + 10001 [+ 15 level_step],   level_step = others_max + 2, both narrower if they do
//                 not fit below 2^31. Labels below the number of ranks are those of jobs that are not in line
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

// As the plugin has it (plugin/priority/site_factor.h).
struct StrictSteps {
  std::int64_t step = 0;
  std::int64_t level_step = 0;
  std::int64_t labels = 0;  // how many there are
};
// Of order strict. REQUIRES: rule.ranks > 0, all numbers >= 0.
[[nodiscard]] StrictSteps strict_steps(const RankRule& rule);

// The label in a site factor of order strict, if it is one of a job at this level.
[[nodiscard]] std::optional<std::int64_t> label_in(std::int64_t site, const StrictSteps& steps, std::int64_t level);

// Of order weighted. `position` counts from 0, the best; `level` from 0 to 15. REQUIRES: 0 <= position < rule.ranks,
// all numbers >= 0.
[[nodiscard]] std::int64_t weighted_site(const RankRule& rule, std::int64_t position, std::int64_t level);

// A comparison of what slurmctld has with what the books ask for: {"agrees": true, false or null, "why": TEXT or null,
// "wished_site", "place", "site", "priority", "set_directly"}. agrees null: it cannot be said, `why` says the reason.
// `wished_site` is of order weighted, else null; `place` of order strict where the site factor has the form above, else
// null: {"label", "labels", "step", "level_step", "level", "in_line"}.
// `priorities`: of the daemon's explain (docs/reference/protocol.md); `slurm`: slurm_facts().
[[nodiscard]] nlohmann::json compare_priority(const nlohmann::json& priorities, const nlohmann::json& slurm,
                                              const std::string& organization);

}  // namespace shapley::ctl
