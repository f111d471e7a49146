#include "planning/alone.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "base/contract.hpp"
#include "planning/schedule.hpp"

namespace shapley::planning {

namespace {

// The processors in use, and the number of processors.
class Cluster {
 public:
  explicit Cluster(const std::vector<ClusterSize>& sizes) : sizes_(sizes) {}

  // REQUIRES: `now` does not fall.
  void advance(std::int64_t now) {
    for (; next_ < sizes_.size() && sizes_[next_].from <= now; ++next_) size_ = sizes_[next_].processors;
    for (; !running_.empty() && running_.top().first <= now; running_.pop()) used_ -= running_.top().second;
  }
  void start(std::int64_t end, std::int64_t processors) {
    running_.emplace(end, processors);
    used_ += processors;
  }
  // Negative if the cluster has become smaller than what runs.
  [[nodiscard]] std::int64_t idle() const { return size_ - used_; }
  // The next instant at which more may be idle; nullopt: never.
  [[nodiscard]] std::optional<std::int64_t> next_change() const {
    std::optional<std::int64_t> next;
    if (!running_.empty()) next = running_.top().first;
    if (next_ < sizes_.size()) next = std::min(next.value_or(sizes_[next_].from), sizes_[next_].from);
    return next;
  }

 private:
  using Completion = std::pair<std::int64_t, std::int64_t>;  // instant, processors
  const std::vector<ClusterSize>& sizes_;
  std::size_t next_ = 0;
  std::int64_t size_ = 0;
  std::int64_t used_ = 0;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> running_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> run_alone(const std::vector<SubmittedJob>& jobs,
                                                   const std::vector<ClusterSize>& sizes) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return jobs[a].submit < jobs[b].submit; });
  std::vector<Int128> widths;
  for (const std::size_t job : order) widths.push_back(jobs[job].processors);
  MinTree waiting(widths);
  Cluster cluster(sizes);
  std::vector<std::optional<std::int64_t>> starts(jobs.size());
  std::size_t arrived = 0;
  std::int64_t now = jobs.empty() ? 0 : jobs[order.front()].submit;
  while (!waiting.empty()) {
    while (arrived < order.size() && jobs[order[arrived]].submit <= now) ++arrived;
    cluster.advance(now);
    const auto place = waiting.first_at_most(0, cluster.idle());
    if (place && *place < arrived) {
      const SubmittedJob& job = jobs[order[*place]];
      starts[order[*place]] = now;
      cluster.start(now + job.length, job.processors);
      waiting.take(*place);
      continue;
    }
    // The next end, submission or size, whichever comes first.
    std::optional<std::int64_t> next = cluster.next_change();
    if (arrived < order.size())
      next = std::min(next.value_or(jobs[order[arrived]].submit), jobs[order[arrived]].submit);
    if (!next) break;
    now = *next;
  }
  return starts;
}

std::vector<std::int64_t> run_alone(const std::vector<SubmittedJob>& jobs, std::int64_t processors) {
  SHAPLEY_REQUIRE(std::ranges::all_of(jobs, [&](const SubmittedJob& job) { return job.processors <= processors; }));
  std::vector<std::int64_t> starts;
  const std::vector<ClusterSize> always{{std::numeric_limits<std::int64_t>::min(), processors}};
  for (const std::optional<std::int64_t>& start : run_alone(jobs, always)) starts.push_back(start.value());
  return starts;
}

}  // namespace shapley::planning
