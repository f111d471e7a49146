#include "busy_days.hpp"

#include "base/rng.hpp"
#include "records.hpp"

namespace shapley::daemon {

namespace {

constexpr std::int64_t k_between_frames = 600;
constexpr std::size_t k_frame_down = 100;
constexpr std::size_t k_frame_up = 110;

// A second that is no frame's: what happens within the second of its observation is sent later.
std::int64_t between_frames(std::int64_t begin, std::int64_t offset) {
  return begin + offset / k_between_frames * k_between_frames + 10 + offset % (k_between_frames - 20);
}

Job job_of(const BusyDays::Run& run) {
  return {.id = run.job, .account = run.account, .node = run.job % 2 == 0 ? "n1" : "n2", .cpus = 1, .start = run.start};
}

protocol::JobUpdate with_submit(protocol::JobUpdate record, const BusyDays::Run& run) {
  record.submit_time = run.submit;
  record.eligible_time = run.submit;
  return record;
}

}  // namespace

BusyDays busy_days(std::int64_t begin, std::int64_t seconds, std::uint32_t first_job) {
  BusyDays days;
  Rng rng(first_job);
  constexpr std::uint32_t k_between_jobs = 1500;  // on the average
  std::uint32_t id = first_job;
  for (std::int64_t t = 0; t + 20'000 < seconds; t += 1 + rng.below_32(2 * k_between_jobs)) {
    const std::int64_t start = t + 1 + rng.below_32(4000);
    days.runs.push_back({.job = id++,
                         .account = rng.below_32(3) == 0 ? "chem" : "phys",
                         .submit = between_frames(begin, t),
                         .start = between_frames(begin, start + k_between_frames),
                         .end = between_frames(begin, start + 2 * k_between_frames + rng.below_32(10'000))});
  }
  for (std::int64_t at = begin; at <= begin + seconds; at += k_between_frames) {
    protocol::Observations& frame = days.frames.emplace_back();
    frame.observed_at = at;
    const std::int64_t before = at - k_between_frames;
    for (const BusyDays::Run& run : days.runs) {
      const auto happened = [&](std::int64_t t) { return before < t && t <= at; };
      if (happened(run.end)) {
        frame.jobs.push_back(with_submit(ended(job_of(run), run.end), run));
      } else if (happened(run.start)) {
        frame.jobs.push_back(with_submit(running(job_of(run)), run));
      } else if (happened(run.submit)) {
        frame.jobs.push_back(with_submit(waiting(job_of(run)), run));
      }
    }
    const std::size_t number = days.frames.size();
    if (number == k_frame_down || number == k_frame_up) {
      frame.nodes.push_back(node_record("n1"));
      frame.nodes.back().usable = number == k_frame_up;
    }
  }
  return days;
}

}  // namespace shapley::daemon
