// The jobs of the benchmarks of this directory. Each makes five events, as shapleyd's observer does: described, wait
// opened, wait closed, run opened (on two nodes of 500), run closed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "tests/support/must.hpp"

namespace shapley::ledger::bench {

inline constexpr std::int64_t k_begin = 1'700'000'000;
inline constexpr std::int64_t k_day = 24 * 3600;
inline constexpr std::uint32_t k_nodes = 500;
inline constexpr std::uint32_t k_organizations = 10;

[[nodiscard]] std::string node_of(std::uint32_t i);
[[nodiscard]] std::string organization_of(std::uint32_t i);

// When job number `job` is submitted.
[[nodiscard]] Instant submit_of(std::uint32_t job, std::int64_t jobs_a_day);

// The events of `count` jobs, one job after the other.
[[nodiscard]] std::vector<accounting::Event> jobs(std::uint32_t first, std::uint32_t count, std::int64_t jobs_a_day);

}  // namespace shapley::ledger::bench
