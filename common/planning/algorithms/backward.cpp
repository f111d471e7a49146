#include "planning/algorithms/backward.hpp"

#include <algorithm>
#include <optional>
#include <queue>

#include "planning/model/min_tree.hpp"

namespace shapley::planning {

namespace {

class Backward {
 public:
  Backward(const Grid& grid, const std::vector<std::uint32_t>& moved, Schedule& schedule)
      : grid_(grid), moved_(moved), schedule_(schedule), waiting_(lengths(grid, moved)) {
    std::vector<bool> keep(grid.jobs.size(), true);
    for (const std::uint32_t job : moved) keep[job] = false;
    profiles_ = profiles_of(grid, schedule, keep);
    for (std::uint32_t i = 0; i < schedule.size(); ++i)
      if (keep[i]) turns_.push({schedule[i].start, schedule[i].cluster});
  }

  bool run(Ticks deadline) {
    // What stays ends by the deadline, so nothing starts at it or after.
    for (std::uint32_t k = 0; k < grid_.organizations(); ++k) turns_.push({deadline, k});
    while (!waiting_.empty() && !turns_.empty() && turns_.top().at > 0) {
      const Ticks now = turns_.top().at;
      std::vector<std::uint32_t> clusters;
      for (; !turns_.empty() && turns_.top().at == now; turns_.pop()) clusters.push_back(turns_.top().cluster);
      fill(now, smallest_first(std::move(clusters)));
    }
    return waiting_.empty();
  }

 private:
  struct Turn {
    Ticks at;
    std::uint32_t cluster;
    bool operator<(const Turn& other) const { return at < other.at; }
  };

  static std::vector<Int128> lengths(const Grid& grid, const std::vector<std::uint32_t>& jobs) {
    std::vector<Int128> values;
    for (const std::uint32_t job : jobs) values.push_back(grid.length_of(grid.jobs[job]));
    return values;
  }

  [[nodiscard]] std::vector<std::uint32_t> smallest_first(std::vector<std::uint32_t> clusters) const {
    // The paper numbers clusters from the largest, ties in input order; this is that order read backwards.
    std::sort(clusters.begin(), clusters.end(), [&](std::uint32_t a, std::uint32_t b) {
      return grid_.clusters[a] != grid_.clusters[b] ? grid_.clusters[a] < grid_.clusters[b] : a > b;
    });
    clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
    return clusters;
  }

  // Only clusters on which a job starts at `now` can take a job that did not fit before: on the others, what blocked it
  // still does.
  void fill(Ticks now, const std::vector<std::uint32_t>& clusters) {
    while (!waiting_.empty()) {
      std::optional<std::size_t> best;
      std::uint32_t cluster = 0;
      for (const std::uint32_t k : clusters) {
        const auto place = first_fitting(k, now);
        if (!place || (best && *best <= *place)) continue;
        best = place;
        cluster = k;
      }
      if (!best) return;
      end_job(*best, cluster, now);
    }
  }

  void end_job(std::size_t place, std::uint32_t cluster, Ticks now) {
    const std::uint32_t job = moved_[place];
    const Ticks start = now - grid_.length_of(grid_.jobs[job]);
    waiting_.take(place);
    schedule_[job] = {cluster, start};
    profiles_[cluster].add(start, now, grid_.jobs[job].processors);
    turns_.push({start, cluster});
  }

  // The first waiting job that may end at `now` on the cluster. How far back a job may reach depends on its width alone
  // and is the same for a range of widths: one step per range, the widest first.
  [[nodiscard]] std::optional<std::size_t> first_fitting(std::uint32_t k, Ticks now) const {
    std::int64_t width = profiles_[k].idle_before(now);
    while (width >= 1) {
      const std::size_t from = first_not_wider(width);
      const auto candidate = waiting_.first_at_most(from, now);
      if (!candidate) return std::nullopt;
      width = grid_.jobs[moved_[*candidate]].processors;
      const Ticks reach = profiles_[k].busy_until(now, width);
      const std::int64_t narrower = next_range(k, now, width, reach);
      const auto fitting = waiting_.first_at_most(*candidate, now - reach);
      if (fitting && *fitting < first_not_wider(narrower)) return fitting;
      width = narrower;
    }
    return std::nullopt;
  }

  // The greatest width below `width` that reaches further back than `reach`; 0 when there is none.
  [[nodiscard]] std::int64_t next_range(std::uint32_t k, Ticks now, std::int64_t width, Ticks reach) const {
    std::int64_t further = 0;
    while (width - further > 1) {
      const std::int64_t middle = further + (width - further) / 2;
      (profiles_[k].busy_until(now, middle) < reach ? further : width) = middle;
    }
    return further;
  }

  [[nodiscard]] std::size_t first_not_wider(std::int64_t width) const {
    const auto found = std::partition_point(moved_.begin(), moved_.end(),
                                            [&](std::uint32_t job) { return grid_.jobs[job].processors > width; });
    return static_cast<std::size_t>(found - moved_.begin());
  }

  const Grid& grid_;
  const std::vector<std::uint32_t>& moved_;  // in HF order
  Schedule& schedule_;
  MinTree waiting_;  // lengths of `moved_`
  std::vector<Profile> profiles_;
  std::priority_queue<Turn> turns_;
};

}  // namespace

bool place_backwards(const Grid& grid, const std::vector<std::uint32_t>& moved, Ticks deadline, Schedule& schedule) {
  return moved.empty() || Backward(grid, moved, schedule).run(deadline);
}

}  // namespace shapley::planning
