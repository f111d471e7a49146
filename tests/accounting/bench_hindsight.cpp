// What the estimator hindsight costs shapleyd, with jobs in parts and whole, beside the same books without it, on the
// same events: `bench_hindsight [ORGANIZATIONS [EVENTS_A_SECOND [JOBS_A_DAY]]]`; or what two days of one user's many
// small jobs cost beside a normal load: `bench_hindsight many ORGANIZATIONS JOBS_A_DAY...`.
//
// A made-up site: organizations of unequal size release jobs in bursts, FIFO over all, on a machine that is nearly
// full; jobs of one processor, or jobs of 1 to 32. The books get every wait and run in batches of half a second, as
// shapleyd does, and are asked for ranks after each. Measured is CPU time of the one thread, and memory that malloc
// gave out.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/rng.hpp"

namespace shapley::accounting {
namespace {

constexpr Instant k_begin{1'700'000'000};
constexpr std::int64_t k_day = 24 * 3600;
constexpr std::int64_t k_node = 32;         // processors
constexpr std::uint64_t k_effort = 50'000;  // as daemon/books/books.hpp

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double allocated_mib() {
  return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd) / (1024.0 * 1024.0);
}

void apply(State& state, const Event& event) {
  const auto applied = state.apply(event);
  if (!applied || *applied != Applied::changed) {
    std::fprintf(stderr, "%s: refused\n", event_key(event).c_str());
    std::exit(1);
  }
}

// How hindsight is kept, if it is.
enum class Kept : std::uint8_t { no, parts, whole };
constexpr Kept k_kept[] = {Kept::no, Kept::parts, Kept::whole};

const char* name_of(Kept kept) {
  if (kept == Kept::no) return "without hindsight";
  return kept == Kept::parts ? "jobs in parts" : "whole jobs";
}

struct Site {
  int organizations = 8;
  double jobs_a_second = 1;
  std::int64_t mean_duration = 60;
  bool has_wide_jobs = false;

  // Half of the jobs have one processor.
  [[nodiscard]] std::int64_t width(Rng& rng) const {
    constexpr std::int64_t k_widths[] = {1, 1, 1, 1, 1, 2, 4, 8, 16, 32};
    return has_wide_jobs ? k_widths[rng.below(std::size(k_widths))] : 1;
  }
  [[nodiscard]] double mean_width() const { return has_wide_jobs ? 6.7 : 1; }

  [[nodiscard]] std::int64_t nodes() const {
    constexpr double k_load = 0.93;
    const double busy = jobs_a_second * static_cast<double>(mean_duration) * mean_width();
    return std::max<std::int64_t>(organizations, std::llround(busy / k_load / k_node));
  }
  [[nodiscard]] static std::string organization(std::uint64_t u) { return "org" + std::to_string(u); }
  // The first has about twice the mean of all organizations, the last next to nothing.
  [[nodiscard]] std::uint64_t owner(std::int64_t node) const {
    const double part = static_cast<double>(node) / static_cast<double>(nodes());
    return static_cast<std::uint64_t>((1 - std::sqrt(1 - part)) * organizations);
  }

  [[nodiscard]] State books(const StateOptions& options, Kept kept) const {
    State state(options);
    if (kept == Kept::whole) apply(state, HindsightDefined{.at = k_begin, .jobs = JobsStart::whole, .kinds = {}});
    std::vector<std::string> names;
    for (int u = 0; u < organizations; ++u) names.push_back(organization(static_cast<std::uint64_t>(u)));
    apply(state, OrganizationsDeclared{k_begin, names});
    for (std::int64_t n = 0; n < nodes(); ++n) {
      const std::string node = "n" + std::to_string(n);
      apply(state, OwnershipStated{node, k_begin, {{k_beginning_of_time, {{organization(owner(n)), k_whole_node}}}}});
      apply(state, CapacityChanged{node, k_begin, 0, {k_node * k_micro}});
    }
    return state;
  }
};

// Events in the order of time, made as they are asked for.
class Events {
 public:
  explicit Events(const Site& site) : site_(site) {
    for (std::int64_t i = 0; i < site.nodes() * k_node; ++i)
      slots_.push_back(static_cast<std::size_t>(i % site.nodes()));
  }

  // Of the next second.
  std::vector<Event> next() {
    events_.clear();
    const Instant t = k_begin + Duration{++second_};
    while (!running_.empty() && running_.top().first <= t) end(t);
    owed_ += site_.jobs_a_second;
    for (; owed_ >= 1; owed_ -= 1) release(t);
    while (!waiting_.empty() && slots_.size() >= waiting_.front().width) start(t);
    return events_;
  }

 private:
  struct Pending {
    SegmentOpened wait;
    std::size_t width = 1;
    bool is_recorded = false;
  };

  // One organization after the other is the one that most comes from, for a while.
  void release(Instant t) {
    if (rng_.below(400) == 0) bursting_ = rng_.below(static_cast<std::uint64_t>(site_.organizations));
    const std::uint64_t u =
        rng_.below(2) == 0 ? bursting_ : rng_.below(static_cast<std::uint64_t>(site_.organizations));
    const std::int64_t width = site_.width(rng_);
    const SegmentOpened wait{{SegmentKind::wait, {++jobs_}, t, 0}, Site::organization(u), t, {width * k_micro}, {}};
    const bool waits = slots_.size() < static_cast<std::size_t>(width) || !waiting_.empty();
    if (waits) events_.emplace_back(wait);
    waiting_.push_back({wait, static_cast<std::size_t>(width), waits});
  }

  void start(Instant t) {
    const Pending next = waiting_.front();
    waiting_.pop_front();
    std::vector<std::size_t> slots(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(next.width));
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(next.width));
    if (next.is_recorded) events_.emplace_back(SegmentClosed{next.wait.key, t, CloseReason::ended, "RUNNING"});
    SegmentOpened run{{SegmentKind::run, next.wait.key.job, t, 0}, next.wait.organization, t, next.wait.processors, {}};
    std::map<std::string, std::int64_t> taken;
    for (const std::size_t node : slots) ++taken["n" + std::to_string(node)];
    for (const auto& [node, count] : taken) run.nodes.push_back({node, {count * k_micro}});
    run.released = next.wait.begin;
    events_.emplace_back(run);
    const auto mean = static_cast<double>(site_.mean_duration);
    const double part = (static_cast<double>(rng_.below(1'000'000)) + 1) / 1e6;
    const Duration length{1 + std::llround(-mean * std::log(part))};
    running_.push({t + length, {run.key, std::move(slots)}});
  }

  void end(Instant t) {
    const auto [key, slots] = running_.top().second;
    running_.pop();
    events_.emplace_back(SegmentClosed{key, t, CloseReason::ended, "COMPLETED"});
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }

  using Running = std::pair<Instant, std::pair<SegmentKey, std::vector<std::size_t>>>;
  Site site_;
  Rng rng_{7};
  std::deque<std::size_t> slots_;  // free processors, by node
  std::deque<Pending> waiting_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::vector<Event> events_;
  double owed_ = 0;
  std::int64_t second_ = 0;
  std::uint64_t bursting_ = 0;
  std::uint32_t jobs_ = 0;
};

EstimatorId hindsight() {
  return parse_estimator("hindsight").value();
}

StateOptions options_of(Kept kept, StateOptions options) {
  if (kept == Kept::no) options.left_out.insert(hindsight());
  return options;
}

// As shapleyd does with what one frame brought.
void rank(State& state, Instant t) {
  const EstimatorSet able = state.advance(t).catch_up(k_effort);
  (void)state.advance(t).ranking(acting(hindsight(), able));
}

struct Course {
  State state;
  double cpu = 0;      // of the measured time
  double longest = 0;  // of one batch, that of forgetting included
  std::size_t events_since_compaction = 0;
  bool has_more = false;

  void second(const std::vector<Event>& events, Instant t, bool is_measured) {
    constexpr std::size_t k_events_between = 10'000;
    for (std::size_t half = 0; half < 2; ++half) {
      const double began = cpu_seconds();
      const std::size_t middle = events.size() / 2;
      const std::size_t first = half == 0 ? 0 : middle;
      const std::size_t last = half == 0 ? middle : events.size();
      for (std::size_t i = first; i < last; ++i) apply(state, events[i]);
      rank(state, t);
      events_since_compaction += last - first;
      if (has_more || events_since_compaction > k_events_between) {
        has_more = !state.compact(k_end_of_time, k_effort);
        events_since_compaction = 0;
      }
      const double took = cpu_seconds() - began;
      if (!is_measured) continue;
      cpu += took;
      longest = std::max(longest, took);
    }
  }
};

void measure_running(int organizations, double events_a_second, bool wide) {
  // A job that waits has four events, and nearly all wait.
  const Site site{
      .organizations = organizations, .jobs_a_second = events_a_second / 4, .mean_duration = 60, .has_wide_jobs = wide};
  constexpr std::int64_t k_warm = 400;
  constexpr std::int64_t k_measured = 300;
  const StateOptions memory{
      .memory_horizon = Duration{300}, .most_finished = 1'000'000, .shortest_memory_horizon = Duration{300}};
  std::vector<Course> courses;
  for (const Kept kept : k_kept) courses.push_back({.state = site.books(options_of(kept, memory), kept)});
  Events events(site);
  std::size_t measured = 0;
  for (std::int64_t s = 1; s <= k_warm + k_measured; ++s) {
    const std::vector<Event> now = events.next();
    if (s > k_warm) measured += now.size();
    for (Course& course : courses) course.second(now, k_begin + Duration{s}, s > k_warm);
  }
  constexpr double k_seconds = k_measured;
  for (std::size_t i = 0; i < courses.size(); ++i) {
    Course& course = courses[i];
    const bool is_behind = course.state.advance(k_begin).catch_up(0) != course.state.kept();
    std::printf(
        "k = %d, %s, %s, %.0f events a second: %.1f %% of a core, %.0f us an event more than without hindsight, "
        "longest turn %.0f ms; %s\n",
        organizations, wide ? "wide jobs" : "jobs of one processor", name_of(k_kept[i]),
        static_cast<double>(measured) / k_seconds, 100 * course.cpu / k_seconds,
        1e6 * (course.cpu - courses[0].cpu) / static_cast<double>(measured), 1000 * course.longest,
        is_behind ? "BEHIND at the end" : "never left behind");
  }
}

void measure_restart(int organizations, double jobs_a_day) {
  const Site site{
      .organizations = organizations, .jobs_a_second = jobs_a_day / static_cast<double>(k_day), .mean_duration = 3600};
  for (const Kept kept : k_kept) {
    std::string text;
    double running = 0;
    {
      const double before = allocated_mib();
      State state = site.books(options_of(kept, {}), kept);
      Events events(site);
      for (std::int64_t s = 1; s <= 3 * k_day; ++s) {
        const std::vector<Event> now = events.next();
        const Instant t = k_begin + Duration{s};
        for (const Event& event : now) apply(state, event);
        if (s % 60 == 0) rank(state, t);
        if (s % 3600 == 0) state.compact();
      }
      while (state.catch_up(k_effort) != state.kept()) {
      }
      running = allocated_mib() - before;
      text = state.save();
    }
    const double before = allocated_mib();
    const double began = cpu_seconds();
    auto loaded = State::load(text, options_of(kept, {}));
    const double read = cpu_seconds();
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().what.c_str());
      std::exit(1);
    }
    rank(*loaded, loaded->now());
    const double first = cpu_seconds();
    while (loaded->catch_up(k_effort) != loaded->kept()) {
    }
    (void)loaded->ranking(hindsight());
    const double all = cpu_seconds();
    std::printf(
        "k = %d, %.0f jobs a day, %s: checkpoint of %.1f MB read in %.2f s, first ranks after %.2f s more, "
        "those of all estimators after %.2f s more; memory %.0f MiB running, %.0f MiB after the restart\n",
        organizations, jobs_a_day, name_of(kept), static_cast<double>(text.size()) / 1e6, read - began, first - read,
        all - first, running, allocated_mib() - before);
  }
}

// Every minute the first organization's user has an array, whose tasks of one processor run for a second each, one
// after the other. Every organization has a job that waits all the time, and virtually may have started at the
// beginning.
class Arrays {
 public:
  explicit Arrays(double jobs_a_day) : a_second_(jobs_a_day / static_cast<double>(k_day)) {}

  void begin(State& state, int organizations) {
    for (int u = 0; u < organizations; ++u) {
      const JobId job{k_first - 1 - static_cast<std::uint32_t>(u)};
      apply(state, SegmentOpened{{SegmentKind::wait, job, k_begin, 0},
                                 Site::organization(static_cast<std::uint64_t>(u)),
                                 k_begin,
                                 {k_micro},
                                 {}});
    }
  }
  void second(State& state, std::int64_t s) {
    const Instant t = k_begin + Duration{s};
    for (const SegmentKey& key : running_) apply(state, SegmentClosed{key, t, CloseReason::ended, "COMPLETED"});
    running_.clear();
    if (s % 60 == 1) {
      array_ = ++job_;
      released_ = t;
    }
    for (owed_ += a_second_; owed_ >= 1; owed_ -= 1) {
      SegmentOpened run{{SegmentKind::run, {++job_}, t, 0}, Site::organization(0), t, {k_micro}, {{"n0", {k_micro}}}};
      run.released = released_;
      run.waited_as = {array_};
      running_.push_back(run.key);
      apply(state, run);
    }
  }

 private:
  static constexpr std::uint32_t k_first = 100'000'000;
  double a_second_;
  double owed_ = 0;
  std::uint32_t job_ = k_first;
  std::uint32_t array_ = 0;
  Instant released_;
  std::vector<SegmentKey> running_;
};

// Runs of any time since the horizon become known, some hundred at once, as they do after an import or a long silence.
void measure_late(State& state, int organizations, const char* which) {
  constexpr std::uint32_t k_late = 40'000;
  constexpr std::uint32_t k_at_once = 500;
  Rng rng(11);
  const auto span = static_cast<std::uint64_t>((state.now() - state.memory_horizon()).value - 10'000);
  const double began = cpu_seconds();
  double longest = 0;
  const auto turn = [&](auto&& work) {
    const double before = cpu_seconds();
    work();
    longest = std::max(longest, cpu_seconds() - before);
  };
  for (std::uint32_t i = 0; i < k_late; i += k_at_once) {
    turn([&] {
      for (std::uint32_t j = i; j < i + k_at_once; ++j) {
        const Instant begin = state.memory_horizon() + Duration{static_cast<std::int64_t>(rng.below(span)) + 5'000};
        const std::uint64_t owner = rng.below(static_cast<std::uint64_t>(organizations));
        const SegmentOpened run{{SegmentKind::run, {90'000'000 + j}, begin, 0},
                                Site::organization(owner),
                                begin,
                                {k_micro},
                                {{"n" + std::to_string(1 + j % 9), {k_micro}}}};
        apply(state, run);
        apply(state, SegmentClosed{run.key, begin + Duration{30}, CloseReason::ended, "COMPLETED"});
      }
      rank(state, state.now());
    });
  }
  bool is_behind = true;
  while (is_behind) {
    turn([&] { is_behind = state.catch_up(k_effort) != state.kept(); });
  }
  std::printf("k = %d, %u late runs, %s: %.1f s of processor time, longest turn %.0f ms\n", organizations, k_late,
              which, cpu_seconds() - began, 1000 * longest);
}

void measure_many(int organizations, double jobs_a_day) {
  const Site site{
      .organizations = organizations, .jobs_a_second = 5'000 / static_cast<double>(k_day), .mean_duration = 3600};
  for (const Kept kept : k_kept) {
    const double before = allocated_mib();
    const double began = cpu_seconds();
    State state = site.books(options_of(kept, {.most_finished = 1'000'000}), kept);
    Events events(site);
    Arrays arrays(jobs_a_day);
    arrays.begin(state, organizations);
    double most = 0;
    double longest = 0;
    bool has_more = false;
    for (std::int64_t s = 1; s <= 5 * k_day / 2; ++s) {
      const double turn = cpu_seconds();
      for (const Event& event : events.next()) apply(state, event);
      arrays.second(state, s);
      if (s % 10 == 0) rank(state, k_begin + Duration{s});
      if (s % 600 == 0 || has_more) has_more = !state.compact(k_end_of_time, k_effort);
      if (s % 600 == 0) most = std::max(most, allocated_mib() - before);
      longest = std::max(longest, cpu_seconds() - turn);
    }
    const bool is_behind = state.catch_up(k_effort) != state.kept();
    const char* which = name_of(kept);
    std::printf(
        "k = %d, %.0f jobs of a second a day for two and a half days, %s: %zu jobs remembered; memory %.0f MiB, at "
        "most %.0f MiB; %.1f s of processor time, longest turn %.0f ms; %s\n",
        organizations, jobs_a_day, which, state.remembered_jobs(), allocated_mib() - before, most,
        cpu_seconds() - began, 1000 * longest, is_behind ? "BEHIND at the end" : "not behind");
    measure_late(state, organizations, which);
  }
}

}  // namespace
}  // namespace shapley::accounting

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto argument = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  if (argc > 3 && std::string(argv[1]) == "many") {
    for (int i = 3; i < argc; ++i) shapley::accounting::measure_many(static_cast<int>(argument(2, 10)), argument(i, 0));
    return 0;
  }
  const int organizations = static_cast<int>(argument(1, 8));
  for (const bool wide : {false, true}) shapley::accounting::measure_running(organizations, argument(2, 500), wide);
  shapley::accounting::measure_restart(organizations, argument(3, 50'000));
  return 0;
}
