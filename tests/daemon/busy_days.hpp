// Some days of a busy cluster, always the same for a first job, as a feeder sends them: jobs of two organizations wait,
// run on a processor of the nodes of records.hpp, and end; a node is down for a while.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages.hpp"

namespace shapley::daemon {

struct BusyDays {
  struct Run {
    std::uint32_t job = 0;
    std::string account;
    std::int64_t submit = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  std::vector<Run> runs;                       // by job; all end within the days
  std::vector<protocol::Observations> frames;  // in the order of time; their sequence numbers are the sender's to set
};

// Jobs are numbered from `first_job`.
[[nodiscard]] BusyDays busy_days(std::int64_t begin, std::int64_t seconds, std::uint32_t first_job);

}  // namespace shapley::daemon
