// Which organization a job belongs to: by its user or by its group.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/trace.hpp"

namespace shapley::workload {

struct Assignment {
  bool by_group = false;
  std::vector<std::uint32_t> organization;  // of each user (or group) of the trace
  std::vector<std::string> names;           // of the organizations; empty: they have numbers only

  [[nodiscard]] std::uint32_t of(const TraceJob& job) const { return organization[by_group ? job.group : job.user]; }
};

// Users in a random order, assigned in turn: the numbers of users of two organizations differ by one at most.
[[nodiscard]] Assignment deal_users(const Trace& trace, std::size_t organizations, std::uint64_t seed);

// The groups with most work are organizations of their own, the largest first; all others together are the last one.
[[nodiscard]] Assignment assign_groups(const Trace& trace, std::size_t organizations);

// Lines "USER ORGANIZATION"; '#' begins a comment; the user '*' stands for everybody else. Organizations are numbered
// as they appear. Errc::invalid_argument names the line that is wrong, the user that is missing, or says that the
// file names another number of organizations than asked for (0: take what it names).
[[nodiscard]] Expected<Assignment> read_assignment(std::istream& text, const Trace& trace, std::size_t organizations);

}  // namespace shapley::workload
