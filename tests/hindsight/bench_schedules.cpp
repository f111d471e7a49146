// What virtual schedules cost by the definition of before whole jobs, by whole jobs, and by kinds and whole jobs, on
// the same events: `bench_schedules [JOBS]`.
//
// A made-up site of 1,024 processors: organizations of unequal size release jobs in bursts, narrow or wide, on a
// machine that is nearly full or has a growing queue; the real schedule is first-fit over all. Schedules get facts as
// they happen and are asked for values every ten seconds, as often as shapleyd asks in a busy cluster. What is older
// than five minutes is settled. Measured is CPU time of the one thread for an event (a release, a start, an end).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "base/rng.hpp"
#include "hindsight/virtual_schedules.hpp"

namespace shapley::hindsight {
namespace {

constexpr std::int64_t k_begin = 1'700'000'000;
constexpr std::int64_t k_processors = 1'024;
constexpr std::int64_t k_mean_duration = 600;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Job {
  std::int64_t release = 0;
  std::int64_t width = 1;
  std::int64_t duration = 1;
  std::size_t organization = 0;
  Kind kind = 0;
  std::int64_t start = k_never;
};

enum class What : std::uint8_t { release, start, end };

struct Event {
  std::int64_t at = 0;
  What what = What::release;
  std::size_t job = 0;
};

struct Site {
  std::size_t organizations = 5;
  bool is_wide = false;
  double load = 0.93;
};

// The first organization owns the dear eighth of the processors, and the others unequal parts of the rest.
std::int64_t owned(const Site& site, std::size_t u, Kind kind) {
  if (kind == 1) return u == 0 ? k_processors / 8 : 0;
  const auto k = static_cast<std::int64_t>(site.organizations);
  return k_processors * 7 / 8 * (static_cast<std::int64_t>(u) + 1) * 2 / (k * (k + 1));
}

std::int64_t some_width(Rng& rng) {
  if (rng.below(3) == 0) return 1;
  const auto power = std::int64_t{1} << rng.below(8);
  return rng.below(4) == 0 ? std::min<std::int64_t>(power + static_cast<std::int64_t>(rng.below(64)), 128) : power;
}

std::vector<Job> some_jobs(const Site& site, std::size_t count) {
  Rng rng(42);
  std::vector<Job> jobs(count);
  double work = 0;
  std::int64_t at = k_begin;
  while (count > 0) {
    const std::size_t u = rng.below(site.organizations);
    const Kind kind = rng.below(8) == 0 ? 1 : 0;
    const std::int64_t width = site.is_wide ? std::min<std::int64_t>(some_width(rng), kind == 1 ? 64 : 128) : 1;
    for (std::uint64_t burst = 1 + rng.below(8); burst > 0 && count > 0; --burst) {
      const auto duration = static_cast<std::int64_t>(-std::log(rng.uniform()) * k_mean_duration);
      jobs[--count] = {.release = at, .width = width, .duration = 1 + duration, .organization = u, .kind = kind};
      work += static_cast<double>(width * (1 + duration));
    }
    at = k_begin + static_cast<std::int64_t>(work / k_processors / site.load);
  }
  std::ranges::reverse(jobs);
  return jobs;
}

// Gives each job a start, and returns all events in order.
std::vector<Event> really(const Site& site, std::vector<Job>& jobs) {
  std::vector<std::int64_t> free(2);
  for (std::size_t u = 0; u < site.organizations; ++u) {
    for (const Kind kind : {Kind{0}, Kind{1}}) free[kind] += owned(site, u, kind);
  }
  using Ending = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends;
  std::deque<std::size_t> waiting;
  std::vector<Event> events;
  std::size_t released = 0;
  while (released < jobs.size()) {
    const std::int64_t now = std::min(jobs[released].release, ends.empty() ? k_never : ends.top().first);
    for (; !ends.empty() && ends.top().first == now; ends.pop()) {
      free[jobs[ends.top().second].kind] += jobs[ends.top().second].width;
      events.push_back({now, What::end, ends.top().second});
    }
    for (; released < jobs.size() && jobs[released].release == now; ++released) {
      events.push_back({now, What::release, released});
      waiting.push_back(released);
    }
    std::erase_if(waiting, [&](std::size_t i) {
      Job& job = jobs[i];
      if (job.width > free[job.kind]) return false;
      free[job.kind] -= job.width;
      job.start = now;
      ends.emplace(now + job.duration, i);
      events.push_back({now, What::start, i});
      return true;
    });
  }
  return events;
}

enum class Definition : std::uint8_t { parts, whole, kinds };

struct Cost {
  double microseconds = 0;  // for an event
  double parts = 0;         // made for an event, in all schedules
  double mib = 0;
};

Cost cost_of(const Site& site, Definition definition, const std::vector<Job>& jobs, const std::vector<Event>& events) {
  const std::vector<Coalition> coalitions = game::all_coalitions(site.organizations);
  VirtualSchedules<Int128> schedules(site.organizations, coalitions);
  const bool has_kinds = definition == Definition::kinds;
  for (std::size_t u = 0; u < site.organizations; ++u) {
    for (const Kind kind : {Kind{0}, Kind{1}})
      schedules.change_capacity(u, k_begin, owned(site, u, kind), has_kinds ? kind : Kind{0});
  }
  std::vector<Request> names(jobs.size());
  std::size_t bytes = 0;
  std::int64_t asked = k_begin;
  const double before = cpu_seconds();
  for (const Event& event : events) {
    if (event.at >= asked + 10) {
      asked = event.at;
      schedules.advance(asked);
      schedules.settle(asked - 300);
      bytes = std::max(bytes, schedules.bytes());
    }
    const Job& job = jobs[event.job];
    Form form{.kinds = {has_kinds ? job.kind : Kind{0}}, .width = definition == Definition::parts ? 0 : job.width};
    if (event.what == What::release)
      names[event.job] = schedules.add(job.organization, job.release, job.width, Order(event.job), form);
    if (event.what == What::start) schedules.started(names[event.job], event.at);
    if (event.what == What::end) schedules.ended(names[event.job], job.duration);
  }
  const auto count = static_cast<double>(events.size());
  return {.microseconds = (cpu_seconds() - before) * 1e6 / count,
          .parts = static_cast<double>(schedules.effort().parts) / count,
          .mib = static_cast<double>(bytes) / (1024.0 * 1024.0)};
}

void measure(const Site& site, std::size_t count) {
  std::vector<Job> jobs = some_jobs(site, count);
  const std::vector<Event> events = really(site, jobs);
  std::printf("k = %zu, %s jobs, load %.2f, %zu events:\n", site.organizations, site.is_wide ? "wide" : "narrow",
              site.load, events.size());
  for (const auto& [definition, name] : {std::pair(Definition::parts, "parts"), std::pair(Definition::whole, "whole"),
                                         std::pair(Definition::kinds, "kinds and whole")}) {
    const Cost cost = cost_of(site, definition, jobs, events);
    std::printf("  %-16s %8.1f us an event, %6.1f parts, %6.1f MiB at most\n", name, cost.microseconds, cost.parts,
                cost.mib);
  }
}

}  // namespace
}  // namespace shapley::hindsight

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::size_t jobs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20'000;
  for (const std::size_t k : {5U, 8U}) {
    for (const bool is_wide : {false, true}) {
      for (const double load : {0.93, 1.2}) shapley::hindsight::measure({k, is_wide, load}, jobs);
    }
  }
  return 0;
}
