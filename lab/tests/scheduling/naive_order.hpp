// Witnesses for the policies that need no coalitions' fair schedules: second by second, every choice from the words of
// serving_order.hpp. phi and psi are sums over single seconds of a schedule that stops at t and is seen at t + horizon,
// and what runs in the second of the choice counts besides.
// Slow, and shares no code with common/game and lab/scheduling but the instance.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/instance.hpp"

namespace shapley::scheduling::naive {

// What is true in the second that begins at t, once all starts of t are made.
struct Second {
  std::int64_t begin = 0;
  std::vector<std::int64_t> running;  // by organization
  std::vector<std::int64_t> demand;   // running and waiting
  std::vector<std::int64_t> busy;     // processors of the organization that any job holds
};

// scale_of() times what each organization gives in a second; all of it is worth what psi is worth.
using GivenRates = std::function<std::vector<std::int64_t>(const Instance&, const Second&)>;

inline std::int64_t factorial(std::size_t n) {
  return n <= 1 ? 1 : static_cast<std::int64_t>(n) * factorial(n - 1);
}

// What rates are multiplied by: k!, of more organizations than have coalitions here nothing, for whole processors.
inline std::int64_t scale_of(const Instance& instance) {
  constexpr std::size_t k_of_coalitions = 12;
  return instance.organizations() <= k_of_coalitions ? factorial(instance.organizations()) : 1;
}

// DIRECTCONTR: the busy processors that one owns.
inline std::vector<std::int64_t> given_by_owners(const Instance& instance, const Second& second) {
  std::vector<std::int64_t> rates = second.busy;
  for (std::int64_t& rate : rates) rate *= scale_of(instance);
  return rates;
}

// k! times the printed Shapley value of the game value(coalition).
template <typename Value>
std::vector<std::int64_t> scaled_shapley(std::size_t k, Value&& value) {
  std::vector<std::int64_t> shapley(k);
  for (std::size_t u = 0; u < k; ++u) {
    for (std::uint32_t s = 0; s < 1U << k; ++s) {
      if ((s >> u & 1U) != 0) continue;
      const auto size = static_cast<std::size_t>(std::popcount(s));
      shapley[u] += factorial(size) * factorial(k - size - 1) * (value(s | 1U << u) - value(s));
    }
  }
  return shapley;
}

// What a coalition is worth to ShapleyRate in a second: min(demand, processors).
inline std::int64_t worth_of_rate(const Instance& instance, const Second& second, std::uint32_t coalition) {
  std::int64_t demand = 0;
  std::int64_t processors = 0;
  for (std::size_t u = 0; u < instance.organizations(); ++u) {
    if ((coalition >> u & 1U) == 0) continue;
    demand += second.demand[u];
    processors += instance.processors[u];
  }
  return std::min(demand, processors);
}

inline std::vector<std::int64_t> given_by_game(const Instance& instance, const Second& second) {
  return scaled_shapley(instance.organizations(),
                        [&](std::uint32_t coalition) { return worth_of_rate(instance, second, coalition); });
}

// Busy processors of a coalition by itself under FCFS, in the second that begins at t.
inline std::int64_t busy_under_fcfs(const Instance& instance, std::uint32_t coalition, std::int64_t t) {
  std::vector<const Job*> queue;
  for (const Job& job : instance.jobs)
    if ((coalition >> job.organization & 1U) != 0) queue.push_back(&job);
  std::stable_sort(queue.begin(), queue.end(), [](const Job* a, const Job* b) { return a->release < b->release; });
  std::uint64_t processors = 0;
  for (std::size_t u = 0; u < instance.organizations(); ++u)
    processors += (coalition >> u & 1U) != 0 ? instance.processors[u] : 0;
  std::vector<std::int64_t> ends;
  std::size_t next = 0;
  for (std::int64_t i = 0; i <= t; ++i) {
    std::erase(ends, i);
    while (ends.size() < processors && next < queue.size() && queue[next]->release.value <= i)
      ends.push_back(i + queue[next++]->duration.value);
  }
  return static_cast<std::int64_t>(ends.size());
}

// Coalitions under FCFS: v is a sum over busy seconds, so its Shapley value is the sum of that of single seconds.
inline std::vector<std::int64_t> given_by_coalitions(const Instance& instance, const Second& second) {
  return scaled_shapley(instance.organizations(),
                        [&](std::uint32_t coalition) { return busy_under_fcfs(instance, coalition, second.begin); });
}

struct Rule {
  std::int64_t horizon = 0;     // seconds
  std::int64_t millionths = 0;  // guaranteed of what an organization owns
  std::int64_t running = 0;     // millionths: the weight of what runs
  bool once = false;            // organizations are ordered once for all starts of an instant
  std::int64_t pace = 0;        // millionths of what an organization owns; above 0 it brakes, and has no horizon
};

// m of serving_order.hpp by its words: given, or that of the runs that ended by t, of one processor each.
inline std::int64_t residual(const Instance& instance, const std::vector<std::int64_t>& starts, std::int64_t t) {
  std::int64_t seconds = 0;
  std::int64_t squares = 0;
  for (std::size_t j = 0; j < starts.size(); ++j) {
    const std::int64_t d = instance.jobs[j].duration.value;
    if (starts[j] < 0 || starts[j] + d > t) continue;
    seconds += d;
    squares += d * d;
  }
  if (instance.residual.value > 0) return instance.residual.value;
  return seconds == 0 ? 3600 : std::max<std::int64_t>(1, squares / seconds / 2);
}

// c of serving_order.hpp likewise.
inline std::int64_t running_factor(const Instance& instance, const std::vector<std::int64_t>& starts, const Rule& rule,
                                   std::int64_t t) {
  const std::int64_t m = std::min(residual(instance, starts, t), rule.horizon);
  return rule.running * m * (2 * rule.horizon - m) / 2'000'000;
}

class Simulation {
 public:
  // What an organization's key has from other clusters at t, where what runs counts so often.
  using Elsewhere = std::function<std::int64_t(std::size_t u, std::int64_t t, std::int64_t running_factor)>;

  Simulation(const Instance& instance, const Rule& rule, GivenRates given)
      : Simulation(instance, rule, std::move(given), {}) {
    for (std::int64_t t = 0; t < instance.end.value; ++t) step(t);
  }
  // Nothing has happened yet.
  Simulation(const Instance& instance, const Rule& rule, GivenRates given, Elsewhere elsewhere)
      : instance_(instance),
        rule_(rule),
        given_(std::move(given)),
        elsewhere_(std::move(elsewhere)),
        start_(instance.jobs.size(), -1),
        owner_(start_) {}

  // All of the next second.
  void step(std::int64_t t) {
    at_begin_ = standings(t);
    while (const auto organization = next(t)) begin_first_job(*organization, t);
    seconds_.push_back(second(t));
    given_rates_.push_back(given_(instance_, seconds_.back()));
  }

  // By job; -1: not started.
  [[nodiscard]] const std::vector<std::int64_t>& starts() const { return start_; }
  // k! times the processors that u gives less those that it holds, in the second that begins at t.
  [[nodiscard]] std::int64_t rate_less_used(std::size_t u, std::int64_t t) const {
    return given_rates_[static_cast<std::size_t>(t)][u] -
           scale_of(instance_) * seconds_[static_cast<std::size_t>(t)].running[u];
  }

 private:
  [[nodiscard]] bool runs(std::size_t job, std::int64_t t) const {
    return start_[job] >= 0 && t < start_[job] + instance_.jobs[job].duration.value;
  }
  [[nodiscard]] std::vector<std::int64_t> free_by_owner(std::int64_t t) const {
    std::vector<std::int64_t> free(instance_.processors.begin(), instance_.processors.end());
    for (std::size_t j = 0; j < start_.size(); ++j)
      if (runs(j, t)) --free[static_cast<std::size_t>(owner_[j])];
    return free;
  }
  [[nodiscard]] std::optional<std::size_t> first_waiting(std::size_t u, std::int64_t t) const {
    std::optional<std::size_t> first;
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const Job& job = instance_.jobs[j];
      if (job.organization != u || start_[j] >= 0 || job.release.value > t) continue;
      if (!first || job.release < instance_.jobs[*first].release) first = j;
    }
    return first;
  }
  [[nodiscard]] bool below(std::size_t u, std::int64_t t) const {
    std::int64_t used = 0;
    for (std::size_t j = 0; j < start_.size(); ++j)
      if (instance_.jobs[j].organization == u && runs(j, t)) ++used;
    return used * 1'000'000 < rule_.millionths * instance_.processors[u];
  }
  // A million times k! K of braking.hpp, by its words.
  [[nodiscard]] Int128 braking_key(std::size_t u, std::int64_t t) const {
    const std::int64_t m = residual(instance_, start_, t);
    const std::int64_t scale = scale_of(instance_);
    const Second now = second(t);
    const std::int64_t rate = given_(instance_, now)[u] - scale * now.running[u];
    Int128 balance = m * m / 2 * rate;
    Int128 work = m * rate;
    for (std::int64_t i = 0; i < t; ++i) {
      balance += rate_less_used(u, i) * (t + m - i);
      work += rate_less_used(u, i);
    }
    const Int128 turn = std::max<Int128>(Int128{2} * rule_.pace * instance_.processors[u], 1'000'000);
    const Int128 distance = 1'000'000 * work * 1'000'000 * work / (scale * turn);
    return 1'000'000 * balance + (work < 0 ? -distance : distance);
  }
  // k! (phi - psi) at t + horizon of the schedule that stops at t, and what runs at t.
  [[nodiscard]] Int128 key(std::size_t u, std::int64_t t) const {
    if (rule_.pace > 0) return braking_key(u, t);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < t; ++i) sum += rate_less_used(u, i) * (t + rule_.horizon - i);
    const std::int64_t factor = running_factor(instance_, start_, rule_, t);
    const std::int64_t here = sum + (elsewhere_ ? elsewhere_(u, t, factor) : 0);
    if (rule_.running == 0) return here;
    const Second now = second(t);
    return here + factor * (given_(instance_, now)[u] - scale_of(instance_) * now.running[u]);
  }
  struct Standing {
    bool below;
    Int128 key;
  };
  [[nodiscard]] std::vector<Standing> standings(std::int64_t t) const {
    std::vector<Standing> standings;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) standings.push_back({below(u, t), key(u, t)});
    return standings;
  }
  [[nodiscard]] std::optional<std::size_t> next(std::int64_t t) const {
    const std::vector<std::int64_t> free = free_by_owner(t);
    if (std::all_of(free.begin(), free.end(), [](std::int64_t processors) { return processors == 0; }))
      return std::nullopt;
    const std::vector<Standing> now = rule_.once ? at_begin_ : standings(t);
    std::optional<std::size_t> best;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) {
      if (!first_waiting(u, t)) continue;
      const bool better =
          !best || now[u].below > now[*best].below || (now[u].below == now[*best].below && now[u].key > now[*best].key);
      if (better) best = u;
    }
    return best;
  }
  // On the lowest-numbered free processor.
  void begin_first_job(std::size_t u, std::int64_t t) {
    const std::vector<std::int64_t> free = free_by_owner(t);
    const std::size_t job = *first_waiting(u, t);
    start_[job] = t;
    owner_[job] = std::find_if(free.begin(), free.end(), [](std::int64_t count) { return count > 0; }) - free.begin();
  }
  [[nodiscard]] Second second(std::int64_t t) const {
    const std::size_t k = instance_.organizations();
    Second second{t, std::vector<std::int64_t>(k), std::vector<std::int64_t>(k), std::vector<std::int64_t>(k)};
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const Job& job = instance_.jobs[j];
      const bool waits = start_[j] < 0 && job.release.value <= t;
      if (runs(j, t)) {
        ++second.running[job.organization];
        ++second.busy[static_cast<std::size_t>(owner_[j])];
      }
      if (runs(j, t) || waits) ++second.demand[job.organization];
    }
    return second;
  }

  const Instance& instance_;
  Rule rule_;
  GivenRates given_;
  Elsewhere elsewhere_;
  std::vector<std::int64_t> start_;
  std::vector<std::int64_t> owner_;
  std::vector<Second> seconds_;
  std::vector<std::vector<std::int64_t>> given_rates_;  // by second, organization
  std::vector<Standing> at_begin_;                      // of the instant
};

// FAIRSHARE: by job, when it starts; -1: not before the end.
inline std::vector<std::int64_t> starts_by_fair_share(const Instance& instance) {
  std::vector<std::int64_t> start(instance.jobs.size(), -1);
  std::vector<std::int64_t> used(instance.organizations());  // seconds of processors
  const auto runs = [&](std::size_t j, std::int64_t t) {
    return start[j] >= 0 && t < start[j] + instance.jobs[j].duration.value;
  };
  // By what a processor that one owns has brought so far, then by organization, then in the order of its queue.
  const auto is_before = [&](std::size_t a, std::size_t b) {
    const std::uint32_t u = instance.jobs[a].organization;
    const std::uint32_t v = instance.jobs[b].organization;
    const std::int64_t own = instance.processors[u];
    const std::int64_t other = instance.processors[v];
    if (u == v) return instance.jobs[a].release < instance.jobs[b].release;
    if (own == 0 || other == 0) return own != 0 || (other == 0 && u < v);
    return used[u] * other != used[v] * own ? used[u] * other < used[v] * own : u < v;
  };
  for (std::int64_t t = 0; t < instance.end.value; ++t) {
    auto free = static_cast<std::int64_t>(instance.total_processors());
    for (std::size_t j = 0; j < start.size(); ++j) free -= runs(j, t) ? 1 : 0;
    for (; free > 0; --free) {
      std::optional<std::size_t> next;
      for (std::size_t j = 0; j < start.size(); ++j) {
        if (start[j] >= 0 || instance.jobs[j].release.value > t) continue;
        if (!next || is_before(j, *next)) next = j;
      }
      if (!next) break;
      start[*next] = t;
    }
    for (std::size_t j = 0; j < start.size(); ++j) used[instance.jobs[j].organization] += runs(j, t) ? 1 : 0;
  }
  return start;
}

}  // namespace shapley::scheduling::naive
