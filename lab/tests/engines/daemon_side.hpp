// A schedule as shapleyd would get it: nodes and owners, jobs that wait, runs on nodes that begin and end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "scheduling/instance.hpp"
#include "simulator_side.hpp"

namespace shapley::engines {

// The instance's instant 0.
inline constexpr Instant k_epoch{1'700'000'000};

// Their order by name is not the instance's order.
[[nodiscard]] const std::string& name_of(std::uint32_t organization);
inline constexpr std::size_t k_names = 6;

struct Layout {
  std::uint32_t node_width = 1;  // processors of one owner on each of its nodes; its last node may have fewer; > 0
  std::uint32_t cut_every = 0;   // every so many-th run is two segments without a gap between them; 0: none
};

// A started job on its nodes.
struct Run {
  std::uint32_t job = 0;
  Instant begin;  // of the instance's time
  std::vector<accounting::NodeShare> nodes;
};

// Gives every job free processors of the owners that the schedule names.
[[nodiscard]] std::vector<Run> place(const scheduling::Instance& instance, const std::vector<StartedJob>& schedule,
                                     const Layout& layout);

// The owner of a node that place() names.
[[nodiscard]] std::uint32_t owner_of(const scheduling::Instance& instance, const std::string& node);
// The owner's first node. REQUIRES: it has a processor.
[[nodiscard]] std::string first_node_of(std::uint32_t owner);

// Everything that happens, ascending by time: declarations at k_epoch; every released job's wait, which never ends
// where the job does not start; every run with its end.
[[nodiscard]] std::vector<accounting::Event> events_of(const scheduling::Instance& instance,
                                                       const std::vector<Run>& runs, const Layout& layout);

}  // namespace shapley::engines
