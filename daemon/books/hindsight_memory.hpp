// How much memory hindsight may take, and what is kept of it where it takes more.
//
// What it keeps follows users' jobs. Where that is more than the bound, fewer coalitions are kept: first those of pairs
// instead of all, then none, and its stand-in ranks. Each step is an event, so the books stay a function of the ledger.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"

namespace shapley::daemon {

// The least of what the process's cgroup and those above it may have, by version 2 or 1; nullopt: there is no limit.
// `self` is /proc/self/cgroup, `root` where the cgroups are mounted.
[[nodiscard]] std::optional<std::int64_t> cgroup_memory(const std::filesystem::path& self = "/proc/self/cgroup",
                                                        const std::filesystem::path& root = "/sys/fs/cgroup");

// In bytes: as configured, else a quarter of what the cgroup may have, else 1 GiB.
[[nodiscard]] std::int64_t hindsight_bound(const config::Configuration& configuration,
                                           const std::optional<std::int64_t>& cgroup);

// The next step, if the books need one.
[[nodiscard]] std::optional<accounting::HindsightBounded> hindsight_step(const accounting::State& state,
                                                                         std::int64_t bound, Instant now);

}  // namespace shapley::daemon
