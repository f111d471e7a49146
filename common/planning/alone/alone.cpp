#include "planning/alone/alone.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "planning/model/min_tree.hpp"

namespace shapley::planning {

std::vector<std::int64_t> run_alone(const std::vector<SubmittedJob>& jobs, std::int64_t processors) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return jobs[a].submit < jobs[b].submit; });
  std::vector<Int128> widths;
  for (const std::size_t job : order) widths.push_back(jobs[job].processors);
  MinTree waiting(widths);
  using Completion = std::pair<std::int64_t, std::int64_t>;  // instant, processors
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> running;
  std::vector<std::int64_t> starts(jobs.size(), 0);
  std::size_t arrived = 0;
  std::int64_t idle = processors;
  std::int64_t now = jobs.empty() ? 0 : jobs[order.front()].submit;
  while (!waiting.empty()) {
    while (arrived < order.size() && jobs[order[arrived]].submit <= now) ++arrived;
    for (; !running.empty() && running.top().first <= now; running.pop()) idle += running.top().second;
    const auto place = waiting.first_at_most(0, idle);
    if (place && *place < arrived) {
      const SubmittedJob& job = jobs[order[*place]];
      starts[order[*place]] = now;
      idle -= job.processors;
      running.emplace(now + job.length, job.processors);
      waiting.take(*place);
      continue;
    }
    // The next end or the next submission, whichever comes first; there is one while a job waits.
    std::int64_t next = arrived < order.size() ? jobs[order[arrived]].submit : running.top().first;
    if (!running.empty()) next = std::min(next, running.top().first);
    now = next;
  }
  return starts;
}

}  // namespace shapley::planning
