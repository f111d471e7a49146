#include "planning/algorithms.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <string>

#include "base/contract.hpp"
#include "base/rng.hpp"
#include "planning/mocca.hpp"

namespace shapley::planning {

namespace {

std::vector<std::uint32_t> sorted(const Grid& grid, std::vector<std::uint32_t> jobs, LocalOrder order, Rng& rng) {
  const auto length = [&](std::uint32_t job) { return grid.jobs[job].length; };
  switch (order) {
    case LocalOrder::hf:
      return highest_first(grid, std::move(jobs));
    case LocalOrder::lpt:
      std::stable_sort(jobs.begin(), jobs.end(), [&](auto a, auto b) { return length(a) > length(b); });
      return jobs;
    case LocalOrder::spt:
      std::stable_sort(jobs.begin(), jobs.end(), [&](auto a, auto b) { return length(a) < length(b); });
      return jobs;
    case LocalOrder::random:
      rng.shuffle(std::span<std::uint32_t>(jobs));
      return jobs;
  }
  return jobs;
}

struct Completion {
  Ticks at;
  std::int64_t processors;
  bool operator>(const Completion& other) const { return at > other.at; }
};

void run_list(const Grid& grid, std::uint32_t cluster, const std::vector<std::uint32_t>& list, Schedule& schedule) {
  std::vector<Int128> widths;
  for (const std::uint32_t job : list) widths.push_back(grid.jobs[job].processors);
  MinTree waiting(widths);
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> running;
  std::int64_t idle = grid.clusters[cluster];
  Ticks now = 0;
  while (!waiting.empty()) {
    if (const auto place = waiting.first_at_most(0, idle)) {
      const std::uint32_t job = list[*place];
      schedule[job] = {cluster, now};
      idle -= grid.jobs[job].processors;
      running.push({end_of(grid, schedule, job), grid.jobs[job].processors});
      waiting.take(*place);
      continue;
    }
    // Something runs: every job fits its owner's empty cluster.
    for (now = running.top().at; !running.empty() && running.top().at == now; running.pop())
      idle += running.top().processors;
  }
}

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

  // The greatest width below `width` that reaches further back than `reach`; 0 when there is no such width.
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

Expected<Schedule> literal(const Grid& grid) {
  SHAPLEY_TRY_ASSIGN(MoccaPlan plan, plan_mocca(grid));
  return std::move(plan.schedule);
}

Expected<Schedule> plan_base(const Grid& grid, std::string_view name, std::uint64_t seed) {
  if (name == "mocca") return literal(grid);
  if (name == "mocca_experiment") return plan_mocca_experiment(grid).schedule;
  if (name == "ilba") return balance(grid, schedule_locally(grid, LocalOrder::hf));
  if (name.starts_with("local_")) {
    if (const auto order = parse_local_order(name.substr(6))) return schedule_locally(grid, *order, seed);
  }
  if (name.starts_with("mocca4_")) {
    if (const auto order = parse_local_order(name.substr(7))) return plan_mocca4(grid, *order, seed);
  }
  std::string names;
  for (const std::string_view known : algorithm_names()) names += (names.empty() ? "" : ", ") + std::string(known);
  return fail(Errc::not_found, "algorithm \"" + std::string(name) + "\" is unknown; there are " + names);
}

Expected<Schedule> plan_any(const Grid& grid, std::string_view name, std::uint64_t seed) {
  constexpr std::string_view k_then_balance = "_ilba";
  if (name != "mocca_ilba" && name != "mocca_experiment_ilba") return plan_base(grid, name, seed);
  name.remove_suffix(k_then_balance.size());
  SHAPLEY_TRY_ASSIGN(Schedule schedule, plan_base(grid, name, seed));
  return balance(grid, std::move(schedule));
}

}  // namespace

std::string_view name_of(LocalOrder order) {
  switch (order) {
    case LocalOrder::hf:
      return "hf";
    case LocalOrder::lpt:
      return "lpt";
    case LocalOrder::spt:
      return "spt";
    case LocalOrder::random:
      return "rnd";
  }
  return "";
}

std::optional<LocalOrder> parse_local_order(std::string_view name) {
  for (const LocalOrder order : {LocalOrder::hf, LocalOrder::lpt, LocalOrder::spt, LocalOrder::random})
    if (name == name_of(order)) return order;
  return std::nullopt;
}

Schedule schedule_locally(const Grid& grid, LocalOrder order, std::uint64_t seed) {
  SHAPLEY_REQUIRE(validate_at_home(grid));
  std::vector<std::vector<std::uint32_t>> queues(grid.organizations());
  for (std::uint32_t i = 0; i < grid.jobs.size(); ++i) queues[grid.jobs[i].owner].push_back(i);
  Schedule schedule(grid.jobs.size());
  Rng rng(seed);
  for (std::uint32_t k = 0; k < queues.size(); ++k)
    run_list(grid, k, sorted(grid, std::move(queues[k]), order, rng), schedule);
  return schedule;
}

bool place_backwards(const Grid& grid, const std::vector<std::uint32_t>& moved, Ticks deadline, Schedule& schedule) {
  return moved.empty() || Backward(grid, moved, schedule).run(deadline);
}

const std::vector<std::string_view>& algorithm_names() {
  static const std::vector<std::string_view> k_names = {
      "local_hf",   "local_lpt",  "local_spt",  "local_rnd",        "mocca",      "mocca4_hf",
      "mocca4_lpt", "mocca4_spt", "mocca4_rnd", "mocca_experiment", "mocca_ilba", "mocca_experiment_ilba",
      "ilba"};
  return k_names;
}

Expected<Schedule> plan(const Grid& grid, std::string_view algorithm, std::uint64_t seed) {
  SHAPLEY_TRY(algorithm.starts_with("mocca") ? validate(grid) : validate_at_home(grid));
  SHAPLEY_TRY_ASSIGN(Schedule schedule, plan_any(grid, algorithm, seed));
  SHAPLEY_TRY(check_schedule(grid, schedule));
  return schedule;
}

}  // namespace shapley::planning
