#include "daemon_side.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>

namespace shapley::engines {

namespace {

using accounting::CloseReason;
using accounting::Event;
using accounting::SegmentClosed;
using accounting::SegmentKey;
using accounting::SegmentKind;
using accounting::SegmentOpened;
using scheduling::Instance;
using scheduling::Job;

constexpr std::uint32_t k_first_job = 1000;

Instant in_slurm(Instant t) {
  return k_epoch + Duration{t.value};
}

ProcessorMillionths whole(std::uint32_t processors) {
  return {processors * k_micro};
}

std::string node_name(std::uint32_t owner, std::uint32_t number) {
  return name_of(owner) + std::to_string(number);
}

// Every processor of every owner, and until when it is taken.
class Processors {
 public:
  Processors(const Instance& instance, std::uint32_t node_width) : node_width_(node_width) {
    for (const std::uint32_t count : instance.processors) taken_until_.emplace_back(count, Instant{0});
  }

  // Takes a free one; returns the name of its node.
  std::string take(std::uint32_t owner, Instant begin, Instant end) {
    std::vector<Instant>& own = taken_until_[owner];
    const auto free = std::find_if(own.begin(), own.end(), [&](Instant until) { return until <= begin; });
    assert(free != own.end());
    *free = end;
    return node_name(owner, static_cast<std::uint32_t>(free - own.begin()) / node_width_);
  }

 private:
  std::uint32_t node_width_;
  std::vector<std::vector<Instant>> taken_until_;
};

void declare(std::vector<Event>& events, const Instance& instance, std::uint32_t node_width) {
  accounting::OrganizationsDeclared organizations{k_epoch, {}};
  for (std::uint32_t u = 0; u < instance.organizations(); ++u) organizations.names.push_back(name_of(u));
  events.emplace_back(organizations);
  for (std::uint32_t u = 0; u < instance.organizations(); ++u) {
    for (std::uint32_t first = 0; first < instance.processors[u]; first += node_width) {
      const std::string node = node_name(u, first / node_width);
      const std::uint32_t count = std::min(node_width, instance.processors[u] - first);
      events.emplace_back(accounting::OwnershipStated{
          node, k_epoch, {{k_beginning_of_time, {{name_of(u), accounting::k_whole_node}}}}});
      events.emplace_back(accounting::CapacityChanged{node, k_epoch, 0, whole(count)});
    }
  }
}

void add_wait(std::vector<Event>& events, const Instance& instance, std::uint32_t index,
              const std::optional<Instant>& start) {
  const Job& job = instance.jobs[index];
  if (start && *start < job.release) return;
  const Instant begin = in_slurm(job.release);
  const SegmentKey key{SegmentKind::wait, {k_first_job + index}, begin, 0};
  events.emplace_back(SegmentOpened{key, name_of(job.organization), begin, whole(job.processors), {}});
  if (start) events.emplace_back(SegmentClosed{key, in_slurm(*start), CloseReason::started, "RUNNING"});
}

void add_run(std::vector<Event>& events, const Instance& instance, const Run& run, bool cut) {
  const Job& job = instance.jobs[run.job];
  const Instant begin = in_slurm(run.begin);
  const Instant end = begin + job.duration;
  SegmentOpened opened{{SegmentKind::run, {k_first_job + run.job}, begin, 0},
                       name_of(job.organization),
                       begin,
                       whole(job.processors),
                       run.nodes};
  events.emplace_back(opened);
  if (cut) {
    // A run of one second leaves a first segment of no length.
    const Instant middle = begin + Duration{job.duration.value / 2};
    events.emplace_back(SegmentClosed{opened.key, middle, CloseReason::resized, "RUNNING"});
    opened.key.ordinal = 1;
    opened.begin = middle;
    events.emplace_back(opened);
  }
  events.emplace_back(SegmentClosed{opened.key, end, CloseReason::ended, "COMPLETED"});
}

}  // namespace

const std::string& name_of(std::uint32_t organization) {
  static const std::array<std::string, k_names> names{"mu", "alpha", "zeta", "kappa", "beta", "omega"};
  return names.at(organization);
}

std::string first_node_of(std::uint32_t owner) {
  return node_name(owner, 0);
}

std::uint32_t owner_of(const Instance& instance, const std::string& node) {
  std::uint32_t owner = 0;
  while (owner < instance.organizations() && !node.starts_with(name_of(owner))) ++owner;
  return owner;
}

std::vector<Run> place(const Instance& instance, const std::vector<StartedJob>& schedule, const Layout& layout) {
  Processors processors(instance, layout.node_width);
  std::vector<StartedJob> by_begin = schedule;
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [](const StartedJob& a, const StartedJob& b) { return a.begin < b.begin; });
  std::vector<Run> runs;
  for (const StartedJob& started : by_begin) {
    const Instant end = started.begin + instance.jobs[started.job].duration;
    std::map<std::string, ProcessorMillionths> held;  // an event names its nodes in ascending order
    for (const std::uint32_t owner : started.owners) held[processors.take(owner, started.begin, end)] += whole(1);
    Run& run = runs.emplace_back(Run{started.job, started.begin, {}});
    for (const auto& [node, count] : held) run.nodes.push_back({node, count});
  }
  return runs;
}

std::vector<Event> events_of(const Instance& instance, const std::vector<Run>& runs, const Layout& layout) {
  std::vector<Event> events;
  declare(events, instance, layout.node_width);
  std::vector<std::optional<Instant>> starts(instance.jobs.size());
  for (const Run& run : runs) starts[run.job] = run.begin;
  for (std::uint32_t i = 0; i < starts.size(); ++i) add_wait(events, instance, i, starts[i]);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    add_run(events, instance, runs[i], layout.cut_every != 0 && i % layout.cut_every == 0);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  return events;
}

}  // namespace shapley::engines
