// `shapley-sim replay`: a site's own jobs, organizations and nodes under chosen policies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "sim/replay/site_history.hpp"

namespace shapley::sim {

struct ReplayArguments {
  SiteHistorySource source;
  std::string since, until;           // base/calendar.hpp; empty: all
  std::vector<std::string> policies;  // empty: usual_policies()
  std::uint64_t seed = 1;
  std::optional<Duration> horizon;             // none: as configured
  std::optional<game::Guarantee> guarantee;    // none: as configured
  std::optional<game::RunningWeight> running;  // none: as configured
  bool once_a_pass = false;
  bool json = false;
  std::filesystem::path html;
};

// Prints a table, or with `json` one object; docs/reference/shapley-sim.md describes both.
[[nodiscard]] Expected<void> run_replay(const ReplayArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
