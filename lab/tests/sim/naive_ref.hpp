// The witness for REF: SR13 Figure 3 taken literally. Every second is a step, every coalition is simulated on its own,
// and the Shapley value is the printed sum over subsets. A horizon is taken literally, too: what a schedule that stops
// at t is worth later. Slow, and shares no code with common/game and lab/scheduling but the instance.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"

namespace shapley::sim::naive {

struct Running {
  std::size_t job;
  std::int64_t start;
};

// One coalition's schedule so far.
struct Schedule {
  std::vector<Running> started;
  std::vector<std::size_t> next;  // by organization: position in its FIFO queue
};

struct Rule {
  std::int64_t horizon = 0;     // seconds
  std::int64_t millionths = 0;  // guaranteed of what an organization owns
  std::int64_t running = 0;     // millionths: the weight of what runs
  std::int64_t pace = 0;        // millionths of what an organization owns; above 0 it brakes, and has no horizon
};

// When a schedule is seen, and what runs at t counts so often besides.
struct Ahead {
  std::int64_t horizon = 0;
  std::int64_t running_factor = 0;
};

class Ref {
 public:
  // later: owners from then on; what runs goes on.
  explicit Ref(const scheduling::Instance& instance, const Rule& rule = {},
               std::vector<scheduling::Endowment> later = {})
      : instance_(instance),
        rule_(rule),
        owned_(instance.processors),
        later_(std::move(later)),
        queue_(instance.organizations()) {
    for (std::int64_t t = 0; t < instance.end.value; ++t) {  // stable order of (release, position)
      for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
        if (instance.jobs[j].release.value == t) queue_[instance.jobs[j].organization].push_back(j);
      }
    }
    schedules_.resize(std::size_t{1} << instance.organizations());
    for (Schedule& schedule : schedules_) schedule.next.assign(instance.organizations(), 0);
    for (std::int64_t t = 0; t < instance.end.value; ++t) {
      for (const scheduling::Endowment& endowment : later_)
        if (endowment.at.value == t) owned_ = endowment.processors;
      step(t);
    }
  }

  [[nodiscard]] const Schedule& grand() const { return schedules_.back(); }

  // psi of one organization: every unit part that began at i < t is worth t - i; a horizon later so much more.
  [[nodiscard]] std::int64_t psi(std::uint32_t coalition, std::size_t u, std::int64_t t,
                                 const Ahead& ahead = {}) const {
    std::int64_t sum = 0;
    for (const Running& run : schedules_[coalition].started) {
      if (instance_.jobs[run.job].organization != u) continue;
      const std::int64_t end = run.start + instance_.jobs[run.job].duration.value;
      for (std::int64_t i = run.start; i < end && i < t; ++i) sum += t + ahead.horizon - i;
      if (t < end) sum += ahead.running_factor;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t value(std::uint32_t coalition, std::int64_t t, const Ahead& ahead = {}) const {
    std::int64_t sum = 0;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) sum += psi(coalition, u, t, ahead);
    return sum;
  }

  // |C|! * phi[u](C): sum over S in C without u of |S|! (|C|-|S|-1)! (v(S+u) - v(S)).
  [[nodiscard]] std::int64_t scaled_phi(std::uint32_t coalition, std::size_t u, std::int64_t t,
                                        const Ahead& ahead = {}) const {
    const std::uint32_t self = 1U << u;
    std::int64_t sum = 0;
    for (std::uint32_t s = 0; s <= coalition; ++s) {
      if ((s & ~coalition) != 0 || (s & self) != 0) continue;
      const auto size = std::popcount(s);
      sum += factorial(size) * factorial(std::popcount(coalition) - size - 1) *
             (value(s | self, t, ahead) - value(s, t, ahead));
    }
    return sum;
  }

 private:
  static std::int64_t factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

  void step(std::int64_t t) {
    // Decisions at t change no psi at t, but what runs: the numbers of coalitions have subcoalitions first.
    const Ahead ahead{rule_.horizon, running_factor(t)};
    for (std::uint32_t c = 1; c < schedules_.size(); ++c) {
      std::optional<std::vector<Int128>> standing;
      while (free_processors(c, t) > 0) {
        std::optional<std::size_t> best;
        bool best_first = false;
        if (!standing || rule_.running > 0 || rule_.pace > 0) standing = standings(c, t, ahead);
        for (std::size_t u = 0; u < instance_.organizations(); ++u) {
          if ((c >> u & 1U) == 0 || !waits(c, u, t)) continue;
          const bool first = below(c, u, t);
          if (!best || first > best_first || (first == best_first && (*standing)[u] > (*standing)[*best])) {
            best = u;
            best_first = first;
          }
        }
        if (!best) break;
        schedules_[c].started.push_back({queue_[*best][schedules_[c].next[*best]++], t});
      }
    }
  }
  // m as it is given, or by the grand coalition's runs that ended by t.
  [[nodiscard]] std::int64_t residual(std::int64_t t) const {
    std::int64_t seconds = 0;
    std::int64_t squares = 0;
    for (const Running& run : grand().started) {
      const std::int64_t d = instance_.jobs[run.job].duration.value;
      if (run.start + d > t) continue;
      seconds += d;
      squares += d * d;
    }
    if (instance_.residual.value > 0) return instance_.residual.value;
    return seconds == 0 ? 3600 : std::max<std::int64_t>(1, squares / seconds / 2);
  }
  [[nodiscard]] std::int64_t running_factor(std::int64_t t) const {
    std::int64_t m = residual(t);
    m = m > rule_.horizon ? rule_.horizon : m;
    return rule_.running * m * (2 * rule_.horizon - m) / 2'000'000;
  }
  // |C|! (phi - psi).
  [[nodiscard]] std::int64_t balance(std::uint32_t c, std::size_t u, std::int64_t t, const Ahead& ahead) const {
    return scaled_phi(c, u, t, ahead) - factorial(std::popcount(c)) * psi(c, u, t, ahead);
  }
  // A million times |C|! K of braking.hpp, by its words: work and what runs are the differences that they make.
  [[nodiscard]] Int128 braking_key(std::uint32_t c, std::size_t u, std::int64_t t) const {
    const std::int64_t m = residual(t);
    const std::int64_t now = balance(c, u, t, {});
    const Int128 rate = balance(c, u, t, {0, 1}) - now;
    const Int128 work = balance(c, u, t, {1, 0}) - now + m * rate;
    const Int128 turn = std::max<Int128>(Int128{2} * rule_.pace * owned_[u], 1'000'000);
    const Int128 distance = 1'000'000 * work * 1'000'000 * work / (factorial(std::popcount(c)) * turn);
    return Int128{1'000'000} * balance(c, u, t, {m, m * m / 2}) + (work < 0 ? -distance : distance);
  }
  [[nodiscard]] std::vector<Int128> standings(std::uint32_t c, std::int64_t t, const Ahead& ahead) const {
    std::vector<Int128> standing;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) {
      if ((c >> u & 1U) == 0) {
        standing.push_back(0);
      } else {
        standing.push_back(rule_.pace > 0 ? braking_key(c, u, t) : balance(c, u, t, ahead));
      }
    }
    return standing;
  }
  [[nodiscard]] bool waits(std::uint32_t c, std::size_t u, std::int64_t t) const {
    const std::size_t next = schedules_[c].next[u];
    return next < queue_[u].size() && instance_.jobs[queue_[u][next]].release.value <= t;
  }
  [[nodiscard]] bool below(std::uint32_t c, std::size_t u, std::int64_t t) const {
    std::int64_t used = 0;
    for (const Running& run : schedules_[c].started) {
      const scheduling::Job& job = instance_.jobs[run.job];
      if (job.organization == u && t < run.start + job.duration.value) ++used;
    }
    return used * 1'000'000 < rule_.millionths * owned_[u];
  }
  [[nodiscard]] std::int64_t free_processors(std::uint32_t c, std::int64_t t) const {
    std::int64_t free = 0;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) free += (c >> u & 1U) != 0 ? owned_[u] : 0;
    for (const Running& run : schedules_[c].started) {
      if (t < run.start + instance_.jobs[run.job].duration.value) --free;
    }
    return free;
  }

  const scheduling::Instance& instance_;
  Rule rule_;
  std::vector<std::uint32_t> owned_;  // by organization, at the second that is simulated
  std::vector<scheduling::Endowment> later_;
  std::vector<std::vector<std::size_t>> queue_;
  std::vector<Schedule> schedules_;
};

}  // namespace shapley::sim::naive
