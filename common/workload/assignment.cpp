#include "workload/assignment.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>

#include "base/bounded_text.hpp"
#include "base/rng.hpp"

namespace shapley::workload {

Assignment deal_users(const Trace& trace, std::size_t organizations, std::uint64_t seed) {
  std::vector<std::uint32_t> users(trace.users.size());
  std::iota(users.begin(), users.end(), 0U);
  Rng(seed).shuffle(std::span(users));
  Assignment assignment;
  assignment.organization.resize(users.size());
  for (std::size_t i = 0; i < users.size(); ++i)
    assignment.organization[users[i]] = static_cast<std::uint32_t>(i % organizations);
  return assignment;
}

Assignment assign_groups(const Trace& trace, std::size_t organizations) {
  std::vector<double> work(trace.groups.size(), 0.0);
  for (const TraceJob& job : trace.jobs)
    work[job.group] += static_cast<double>(job.run.value) * static_cast<double>(job.processors);
  std::vector<std::uint32_t> order(work.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
  Assignment assignment;
  assignment.by_group = true;
  assignment.organization.resize(work.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    assignment.organization[order[i]] = static_cast<std::uint32_t>(std::min(i, organizations - 1));
  for (std::size_t i = 0; i < std::min(organizations, order.size()); ++i)
    assignment.names.push_back(i + 1 < organizations ? trace.groups[order[i]] : "others");
  return assignment;
}

namespace {

struct UserLines {
  std::map<std::string, std::uint32_t> organization;
  std::optional<std::uint32_t> everybody_else;
  std::vector<std::string> names;
};

Expected<UserLines> read_lines(std::istream& text) {
  UserLines users;
  NameIndex names;
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    const std::string number = std::to_string(lines.number());
    std::istringstream words(line.substr(0, line.find('#')));
    std::string user;
    std::string organization;
    std::string more;
    if (!(words >> user)) continue;
    if (!(words >> organization) || words >> more)
      return fail(Errc::invalid_argument, "line " + number + ": expected \"USER ORGANIZATION\"");
    const std::uint32_t index = names.number_of(organization);
    if (user == "*") {
      users.everybody_else = index;
    } else if (!users.organization.emplace(user, index).second) {
      return fail(Errc::invalid_argument, "line " + number + ": user " + user + " was named before");
    }
  }
  SHAPLEY_TRY(lines.end());
  users.names = names.names();
  return users;
}

}  // namespace

Expected<Assignment> read_assignment(std::istream& text, const Trace& trace, std::size_t organizations) {
  SHAPLEY_TRY_ASSIGN(UserLines lines, read_lines(text));
  if (organizations != 0 && lines.names.size() != organizations) {
    return fail(Errc::invalid_argument, "names " + std::to_string(lines.names.size()) + " organizations, not " +
                                            std::to_string(organizations) + "; leave --organizations out to take them");
  }
  Assignment assignment;
  assignment.names = std::move(lines.names);
  for (const std::string& user : trace.users) {
    const auto place = lines.organization.find(user);
    if (place == lines.organization.end() && !lines.everybody_else) {
      return fail(Errc::invalid_argument,
                  "user " + user + " has no organization; add a line for it, or \"* ORGANIZATION\" for everybody else");
    }
    assignment.organization.push_back(place == lines.organization.end() ? *lines.everybody_else : place->second);
  }
  return assignment;
}

}  // namespace shapley::workload
