#include "plugin/client/places/serving_line.hpp"

#include <algorithm>
#include <unordered_map>

namespace shapley::client {

namespace {

struct Task {
  bool below = false;
  std::int64_t lead = 0;  // lead - cum
  std::uint32_t rank = 0;
  std::uint32_t organization = 0;
  const Asking* asking = nullptr;
  std::size_t number = 0;  // ascends with its place in its organization's queue
};

bool is_served_before(const Task& a, const Task& b) {
  if (a.below != b.below) return a.below;
  if (a.lead != b.lead) return a.lead > b.lead;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.number < b.number;
}

void add_tasks(std::uint32_t organization, const Contender& contender, std::span<const Asking> queue,
               std::int64_t reach, std::vector<Task>& tasks) {
  std::int64_t available = 0;
  std::int64_t all = 0;
  for (const Asking& asking : queue) {
    for (std::uint32_t task = 0; task < asking.tasks; ++task) {
      const std::int64_t cum = asking.nodes_available ? available : all;
      if (cum >= reach) break;
      tasks.push_back(
          {cum < contender.lacking, contender.lead - cum, contender.rank, organization, &asking, tasks.size()});
      if (asking.nodes_available) available += asking.processors;
      all += asking.processors;
    }
  }
}

}  // namespace

std::vector<LinePlace> serving_line(std::span<const Contender> contenders, std::span<const std::vector<Asking>> queues,
                                    std::int64_t reach, std::size_t longest) {
  std::vector<Task> tasks;
  for (std::uint32_t u = 0; u < contenders.size(); ++u) add_tasks(u, contenders[u], queues[u], reach, tasks);
  std::sort(tasks.begin(), tasks.end(), is_served_before);

  std::vector<LinePlace> line;
  struct Begun {
    std::size_t place = 0;
    std::size_t last_task = 0;
  };
  std::unordered_map<const Asking*, Begun> arrays;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tasks.size() && total < reach; ++i) {
    const Task& task = tasks[i];
    total += task.asking->processors;
    if (task.asking->tasks == 1) {
      if (line.size() == longest) break;
      line.push_back({task.asking->job, task.organization, 1, false});
      continue;
    }
    const auto [known, is_first] = arrays.try_emplace(task.asking, Begun{line.size(), i});
    if (is_first) {
      if (line.size() == longest) break;
      line.push_back({task.asking->job, task.organization, 1, false});
      continue;
    }
    LinePlace& place = line[known->second.place];
    ++place.tasks;
    for (std::size_t between = known->second.last_task + 1; between < i && !place.parted; ++between) {
      place.parted = tasks[between].organization != task.organization;
    }
    known->second.last_task = i;
  }
  return line;
}

}  // namespace shapley::client
