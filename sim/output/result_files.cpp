#include "sim/output/result_files.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <queue>
#include <set>

#include "base/csv.hpp"

namespace shapley::sim {

namespace {

Expected<void> finish(std::ofstream& stream, const std::filesystem::path& file) {
  stream.flush();
  if (!stream) return fail(Errc::io, file.string() + ": cannot be written; is there room, and may you write there?");
  return {};
}

std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", value);
  return text;
}

// "0-3 7": intervals of ascending numbers, as Batsim writes them.
std::string intervals(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : " ") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> place_jobs(const scheduling::Instance& instance,
                                                   const std::vector<scheduling::Start>& schedule) {
  std::vector<std::size_t> order(schedule.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return schedule[a].start < schedule[b].start; });
  std::set<std::uint32_t> released;
  std::uint32_t never_used = 0;
  using Busy = std::pair<std::int64_t, std::uint32_t>;  // end, processor
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::vector<std::vector<std::uint32_t>> processors(schedule.size());
  for (const std::size_t i : order) {
    const std::int64_t start = schedule[i].start.value;
    for (; !busy.empty() && busy.top().first <= start; busy.pop()) released.insert(busy.top().second);
    const scheduling::Job& job = instance.jobs[schedule[i].job];
    for (std::uint32_t n = 0; n < job.processors; ++n) {
      const std::uint32_t processor = released.empty() ? never_used++ : *released.begin();
      released.erase(processor);
      processors[i].push_back(processor);
      busy.emplace(start + job.duration.value, processor);
    }
  }
  return processors;
}

Expected<void> write_organizations(const std::filesystem::path& file, const scheduling::Instance& instance,
                                   const std::vector<PolicyResult>& results) {
  std::ofstream out(file);
  out << "policy,organization,processors,jobs,started,completed,work,psi,phi\n";
  for (const PolicyResult& result : results) {
    std::vector<std::uint64_t> jobs(instance.organizations(), 0);
    std::vector<std::uint64_t> started = jobs;
    std::vector<std::uint64_t> completed = jobs;
    std::vector<std::int64_t> work(instance.organizations(), 0);
    for (const scheduling::Job& job : instance.jobs) ++jobs[job.organization];
    for (const scheduling::Start& start : result.simulation.schedule) {
      const scheduling::Job& job = instance.jobs[start.job];
      const std::int64_t done = std::min(job.duration.value, (instance.end - start.start).value);
      ++started[job.organization];
      completed[job.organization] += done == job.duration.value ? 1U : 0U;
      work[job.organization] += done * job.processors;
    }
    for (std::size_t u = 0; u < instance.organizations(); ++u) {
      out << csv_cell(result.policy) << ',' << u << ',' << instance.processors[u] << ',' << jobs[u] << ',' << started[u]
          << ',' << completed[u] << ',' << work[u] << ',' << result.simulation.psi[u] << ','
          << (result.phi ? scheduling::to_string((*result.phi)[u]) : "") << '\n';
    }
  }
  return finish(out, file);
}

Expected<void> write_batsim_jobs(const std::filesystem::path& file, const scheduling::Instance& instance,
                                 const PolicyResult& result) {
  std::ofstream out(file);
  out << "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
         "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
         "allocated_resources,consumed_energy,metadata\n";
  const auto& schedule = result.simulation.schedule;
  const auto processors = place_jobs(instance, schedule);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const scheduling::Job& job = instance.jobs[schedule[i].job];
    const Instant finish_time = schedule[i].start + job.duration;
    if (finish_time > instance.end) continue;
    const std::int64_t turnaround = (finish_time - job.release).value;
    out << schedule[i].job << ',' << csv_cell(result.policy) << ",organization" << job.organization << ','
        << job.release.value << ',' << job.processors << ',' << job.duration.value << ",1,COMPLETED_SUCCESSFULLY,"
        << schedule[i].start.value << ',' << job.duration.value << ',' << finish_time.value << ','
        << (schedule[i].start - job.release).value << ',' << turnaround << ','
        << decimal(static_cast<double>(turnaround) / static_cast<double>(job.duration.value)) << ','
        << intervals(processors[i]) << ",0,\n";
  }
  return finish(out, file);
}

}  // namespace shapley::sim
