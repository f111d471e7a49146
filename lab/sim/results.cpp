#include "sim/results.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <queue>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

std::vector<double> unfairness_of(const std::vector<WindowResult>& results, std::size_t policy) {
  std::vector<double> values;
  for (const WindowResult& result : results)
    values.push_back(static_cast<double>(result.delta_psi[policy]) / static_cast<double>(result.work));
  return values;
}

std::vector<std::int64_t> clusters_of(const ComparisonSettings& settings, const std::vector<WindowResult>& results) {
  std::vector<std::int64_t> clusters;
  for (const WindowResult& result : results) clusters.push_back(result.begin.value / settings.length.value);
  return clusters;
}

std::string error_text(const std::optional<double>& error) {
  return error ? short_number(*error) : "-";
}

// Delta method: the error of mean(x) / mean(y) is that of the mean of x - ratio * y, divided by mean(y).
std::optional<double> error_of_ratio(const std::vector<double>& values, const std::vector<double>& base, double ratio,
                                     double base_mean, const std::vector<std::int64_t>& clusters) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < values.size(); ++i) residuals.push_back(values[i] - ratio * base[i]);
  const auto error = summarize(residuals, clusters).standard_error;
  return error ? std::optional(*error / base_mean) : std::nullopt;
}

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

// "0-3 7": intervals of ascending numbers, in Batsim's format.
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

std::string short_number(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value + 0.0;
  return text.str();
}

std::vector<PolicySummary> summarize_policies(const ComparisonSettings& settings,
                                              const std::vector<WindowResult>& results, const std::string& baseline) {
  const auto clusters = clusters_of(settings, results);
  const auto place = std::find(settings.policies.begin(), settings.policies.end(), baseline);
  const auto base = unfairness_of(results, static_cast<std::size_t>(place - settings.policies.begin()));
  const double base_mean = summarize(base, clusters).mean;
  std::vector<PolicySummary> summaries;
  for (std::size_t p = 0; p < settings.policies.size(); ++p) {
    const auto values = unfairness_of(results, p);
    std::vector<double> differences;
    for (std::size_t i = 0; i < values.size(); ++i) differences.push_back(values[i] - base[i]);
    PolicySummary summary{.policy = settings.policies[p],
                          .unfairness = summarize(values, clusters),
                          .ratio = 0,
                          .ratio_error = std::nullopt,
                          .difference = summarize(differences, clusters)};
    if (base_mean > 0) {
      summary.ratio = summary.unfairness.mean / base_mean;
      summary.ratio_error = error_of_ratio(values, base, summary.ratio, base_mean, clusters);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

void print_table(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                 const std::vector<PolicySummary>& summaries, const std::string& baseline, std::ostream& out) {
  out << counted(results.size(), "window") << " of " << settings.length.value << " s, "
      << counted(settings.organizations, "organization") << ", " << counted(settings.processors, "processor") << " ("
      << name_of(settings.endowment) << "), seed " << settings.seed
      << (settings.parallel == workload::ParallelJobs::rigid ? ", rigid parallel jobs" : "")
      << "; unfairness = " << (settings.due ? "distance to what is due by " : "delta-psi / p_tot against ")
      << settings.reference << (settings.due ? " / p_tot" : "") << ", in seconds\n\n";
  std::size_t width = 22;
  for (const PolicySummary& summary : summaries) width = std::max(width, summary.policy.size() + 1);
  const int name_width = static_cast<int>(width);
  out << std::left << std::setw(name_width) << "POLICY" << std::right << std::setw(10) << "MEAN" << std::setw(10)
      << "STD.ERR" << std::setw(10) << "MEDIAN" << std::setw(10) << "STD.DEV" << std::setw(8) << "RATIO" << std::setw(9)
      << "STD.ERR" << std::setw(12) << "DIFFERENCE" << std::setw(10) << "STD.ERR" << '\n';
  for (const PolicySummary& summary : summaries) {
    out << std::left << std::setw(name_width) << summary.policy << std::right << std::setw(10)
        << short_number(summary.unfairness.mean) << std::setw(10) << error_text(summary.unfairness.standard_error)
        << std::setw(10) << short_number(summary.unfairness.median) << std::setw(10)
        << short_number(summary.unfairness.deviation) << std::setw(8) << fixed(summary.ratio, 2) << std::setw(9)
        << (summary.ratio_error ? fixed(*summary.ratio_error, 2) : "-") << std::setw(12)
        << short_number(summary.difference.mean) << std::setw(10) << error_text(summary.difference.standard_error)
        << '\n';
  }
  out << "\nRATIO and DIFFERENCE are to " << baseline << ", window by window; standard errors are cluster-robust.\n";
}

ComparisonReport report_of(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                           const std::vector<PolicySummary>& summaries, const std::string& baseline) {
  ComparisonReport report{settings, baseline, results.size(), summaries, {}};
  for (const WindowResult& result : results) report.windows.push_back(to_json(settings, result));
  return report;
}

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
