#include "bench_jobs.hpp"

namespace shapley::ledger::bench {

using accounting::CloseReason;
using accounting::Event;
using accounting::SegmentKind;

namespace {

void add_job(std::vector<Event>& events, std::uint32_t job, std::int64_t jobs_a_day) {
  const Instant submit = submit_of(job, jobs_a_day);
  const Instant start = submit + Duration{30};
  const std::string organization = organization_of(job);
  accounting::JobDescribed described;
  described.job = {job};
  described.submit = submit;
  described.organization = described.account = organization;
  described.partition = "main";
  described.qos = "normal";
  described.name = "a-job-of-usual-name";
  events.emplace_back(std::move(described));
  const accounting::SegmentKey wait{SegmentKind::wait, {job}, submit, 0};
  const accounting::SegmentKey run{SegmentKind::run, {job}, start, 0};
  events.emplace_back(accounting::SegmentOpened{wait, organization, submit, {16 * k_micro}, {}});
  events.emplace_back(accounting::SegmentClosed{wait, start, CloseReason::started, "RUNNING"});
  const std::uint32_t first_node = 2 * (job % (k_nodes / 2));
  accounting::SegmentOpened runs{run,
                                 organization,
                                 start,
                                 {16 * k_micro},
                                 {{node_of(first_node), {8 * k_micro}}, {node_of(first_node + 1), {8 * k_micro}}}};
  runs.released = submit;
  events.emplace_back(std::move(runs));
  events.emplace_back(
      accounting::SegmentClosed{run, start + Duration{600 + job % 3000}, CloseReason::ended, "COMPLETED"});
}

}  // namespace

std::string node_of(std::uint32_t i) {
  return "node" + std::to_string(1000 + i % k_nodes);
}

std::string organization_of(std::uint32_t i) {
  return "organization" + std::to_string(i % k_organizations);
}

Instant submit_of(std::uint32_t job, std::int64_t jobs_a_day) {
  return {k_begin + job * k_day / jobs_a_day};
}

std::vector<Event> jobs(std::uint32_t first, std::uint32_t count, std::int64_t jobs_a_day) {
  std::vector<Event> events;
  for (std::uint32_t job = first; job < first + count; ++job) add_job(events, job, jobs_a_day);
  return events;
}

}  // namespace shapley::ledger::bench
