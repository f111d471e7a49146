// A machine that is drained once a week, so that everything comes free at once: who gets what then, by the rule that
// ranks, and by whether organizations are ranked again after every start or once a pass.
//
// Three organizations of 32, 16 and 16 processors, each of which sends 1.05 times what its processors can do in the
// time in which jobs may start, as jobs of one processor (stability_cases.hpp's run times), over 40 weeks. From the
// sixth day of each week on no job starts for 30 hours; what runs goes on, for 24 hours at most. Then all waiting
// jobs may start. Processors count as not offered meanwhile; of what still runs on them shapley_rate knows no giver.
// The schedule is EASY's (scheduling/easy.hpp), which with jobs of one processor starts the first one as long as
// anything is free.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "scheduling/easy.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

inline constexpr std::size_t k_maintained_organizations = 3;

// In [from, to) no job starts.
struct Maintenance {
  Instant from;
  Instant to;
};
struct MaintainedMachine {
  scheduling::EasyInstance instance;
  std::vector<Maintenance> maintenances;
  Instant end;  // of what is measured; jobs are released before it
};
[[nodiscard]] MaintainedMachine maintained_machine(std::uint64_t seed);

// Processors by organization.
using Handful = std::array<std::int64_t, k_maintained_organizations>;
struct MaintenanceResult {
  std::string rule;              // as the registry reads it
  std::vector<Handful> at_once;  // by maintenance: what started in the first minute after it
  // Maintenances after which one organization got all that started in that minute; after which one got less than half
  // of its own processors although it waited for as many.
  std::size_t all_to_one = 0;
  std::size_t below_half = 0;
  // Standard deviation of hourly shares, the greatest of all organizations', over the last third of the hours that no
  // maintenance touches.
  double deviation_hourly = 0;
  Duration longest_wait;  // to the end at most
};
[[nodiscard]] MaintenanceResult measure_maintenance(const MaintainedMachine& machine, std::string rule,
                                                    const scheduling::EasySchedule& schedule);

// direct_contr and shapley_rate under the rules of stability_rules.hpp's rules_after_maintenance, and fair_share. Less
// after Ctrl-C.
[[nodiscard]] Expected<std::vector<MaintenanceResult>> run_maintenance(std::uint64_t seed, unsigned threads);

void print_maintenance(const std::vector<MaintenanceResult>& results, std::ostream& out);
[[nodiscard]] Json to_json(const MaintenanceResult& result);

}  // namespace shapley::sim
