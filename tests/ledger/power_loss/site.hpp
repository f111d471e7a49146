// The daemon under test: two organizations with a node each, frequent checkpoints, signed heads.
#pragma once

#include <filesystem>

#include "base/rng.hpp"
#include "daemon/service.hpp"
#include "world.hpp"

namespace shapley::ledger::testing {

[[nodiscard]] daemon::Site site_of(const std::filesystem::path& ledger);
[[nodiscard]] daemon::Service::Options options_of(Rng& rng);
[[nodiscard]] protocol::Hello hello_of(std::uint64_t instance);

// Everything that slurmctld would know after a restart; the sequence number of its last frame.
std::uint64_t send_snapshot(daemon::Service& service, const World& world, Instant now);

}  // namespace shapley::ledger::testing
