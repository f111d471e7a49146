// Kinds of processors on the command line: who owns how many of which kind, and which kinds the jobs of a partition may
// use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "scheduling/easy.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

struct KindOptions {
  std::vector<std::string> owned;  // "KIND=N,N,...": processors by organization, in the order of preference of kinds
  std::vector<std::string> kinds;  // "PARTITION=KIND", or KIND+KIND in order of preference
};

struct Kinds {
  std::vector<std::vector<std::uint32_t>> owned;  // by kind, organization; empty: all are alike
  std::map<std::string, scheduling::KindOrder> of_partition;
};
// Errc::invalid_argument names the option, what is wrong, and what is expected.
[[nodiscard]] Expected<Kinds> parse_kinds(const KindOptions& options);

// The jobs of a window as whole jobs with their requested times, until the window's end. A job of a partition that
// `kinds` does not name may use any kind. A requested time that is not known is the duration; a job that ran for longer
// than it requested counts as if it had requested its duration.
// Errc::invalid_argument: a partition that the trace does not have, or another number of organizations.
[[nodiscard]] Expected<scheduling::EasyInstance> whole_jobs_of(const workload::Trace& trace,
                                                               const workload::Window& window, const Kinds& kinds);

}  // namespace shapley::sim
