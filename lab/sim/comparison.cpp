#include "sim/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

#include "base/contract.hpp"
#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "sim/system.hpp"
#include "workload/trace_files.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;

constexpr int k_draws = 1000;

// A window in JSON.
struct WindowLine {
  std::size_t window = 0;
  Instant begin;
  std::string endowment;
  std::size_t jobs = 0;
  std::int64_t p_tot = 0;
  ByName<std::int64_t> delta_psi, work;
};
constexpr auto description_of(std::type_identity<WindowLine>) {
  using W = WindowLine;
  return describe(member("window", &W::window), member("begin", &W::begin), member("endowment", &W::endowment),
                  member("jobs", &W::jobs), member("p_tot", &W::p_tot), member("delta_psi", &W::delta_psi),
                  member("work", &W::work));
}

// Streams of neighbouring windows must not be shifts of one another, so the generator scrambles the number first.
Rng window_rng(std::uint64_t seed, std::size_t number) {
  return Rng(Rng(seed).next() ^ Rng(static_cast<std::uint64_t>(number) + 0x51ed2701U).next());
}

workload::Endowment endowment_of(EndowmentChoice choice, std::size_t number) {
  if (choice == EndowmentChoice::zipf) return workload::Endowment::zipf;
  if (choice == EndowmentChoice::uniform) return workload::Endowment::uniform;
  return number % 2 == 0 ? workload::Endowment::zipf : workload::Endowment::uniform;
}

Expected<workload::Assignment> assign(const Trace& trace, const ComparisonSettings& settings, std::uint64_t seed) {
  const std::string& by = settings.assignment;
  if (by == "random") return workload::deal_users(trace, settings.organizations, seed);
  if (by == "group") return workload::assign_groups(trace, settings.organizations);
  workload::Assignment assignment;
  SHAPLEY_TRY(workload::read_input_file(by, [&](std::istream& text) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(assignment, workload::read_assignment(text, trace, settings.organizations));
    return {};
  }));
  return assignment;
}

Expected<DrawnWindow> cut(const Trace& trace, const ComparisonSettings& settings, std::size_t number, Instant begin,
                          Rng rng) {
  DrawnWindow drawn;
  drawn.begin = begin;
  drawn.endowment = endowment_of(settings.endowment, number);
  SHAPLEY_TRY_ASSIGN(const workload::Assignment assignment, assign(trace, settings, rng.next()));
  drawn.policy_seed = rng.next();
  SHAPLEY_TRY_ASSIGN(auto processors, workload::endow(drawn.endowment, settings.organizations, settings.processors));
  SHAPLEY_TRY_ASSIGN(drawn.window, workload::cut_window(trace, assignment, std::move(processors), begin,
                                                        settings.length, settings.parallel));
  return drawn;
}

// phi: if not null, gets what is due by the policy.
Expected<scheduling::SimulationResult> simulate_policy(const DrawnWindow& drawn, const ComparisonSettings& settings,
                                                       const std::string& name,
                                                       std::vector<scheduling::Rational>* phi = nullptr) {
  PolicyOptions options;
  options.seed = drawn.policy_seed;
  options.samples = settings.samples;
  options.rule = settings.rule;
  options.once_a_pass = settings.once_a_pass;
  SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(name, drawn.window.instance, options));
  scheduling::SimulationResult simulated = scheduling::simulate(drawn.window.instance, *policy);
  if (phi == nullptr) return simulated;
  const auto due = policy->contributions(drawn.window.instance.end.value);
  if (!due) {
    return fail(Errc::invalid_argument,
                "--due: by " + name + " nothing is due; name a --reference that has a phi, as ref");
  }
  *phi = *due;
  return simulated;
}

std::int64_t distance(const std::vector<std::int64_t>& psi, const std::vector<std::int64_t>& fair) {
  std::int64_t sum = 0;
  for (std::size_t u = 0; u < psi.size(); ++u) sum += std::abs(psi[u] - fair[u]);
  return sum;
}

}  // namespace

double distance_to_due(const std::vector<std::int64_t>& psi, const std::vector<scheduling::Rational>& phi,
                       double work) {
  std::vector<double> gap;
  double total = 0;
  for (std::size_t u = 0; u < psi.size(); ++u) {
    const Int128 scaled = static_cast<Int128>(psi[u]) * phi[u].denominator - phi[u].numerator;
    gap.push_back(static_cast<double>(scaled) / static_cast<double>(phi[u].denominator));
    total += gap.back();
  }
  double sum = 0;
  for (const double each : gap) sum += std::abs(each - total / static_cast<double>(gap.size()));
  return sum / work;
}

std::string_view name_of(EndowmentChoice choice) {
  switch (choice) {
    case EndowmentChoice::zipf:
      return "zipf";
    case EndowmentChoice::uniform:
      return "uniform";
    case EndowmentChoice::alternate:
      return "alternate";
  }
  return "";
}

Expected<DrawnWindow> draw_window(const Trace& trace, const ComparisonSettings& settings, std::size_t number) {
  Rng rng = window_rng(settings.seed, number);
  const Instant first = trace.jobs.front().submit;
  const std::int64_t span = (workload::last_window_begin(trace, settings.length) - first).value + 1;
  for (int draw = 0; draw < k_draws; ++draw) {
    const Instant begin = first + Duration{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(span)))};
    SHAPLEY_TRY_ASSIGN(DrawnWindow drawn, cut(trace, settings, number, begin, rng));
    if (!drawn.window.instance.jobs.empty()) return drawn;
  }
  return fail(Errc::not_found, "no job in 1,000 windows of " + std::to_string(settings.length.value) +
                                   " s drawn from this trace; choose a greater --length");
}

Expected<DrawnWindow> window_at(const Trace& trace, const ComparisonSettings& settings, std::size_t number,
                                Instant begin) {
  return cut(trace, settings, number, begin, window_rng(settings.seed, number));
}

Expected<WindowResult> run_window(const Trace& trace, const ComparisonSettings& settings, std::size_t number) {
  SHAPLEY_TRY_ASSIGN(const DrawnWindow drawn, draw_window(trace, settings, number));
  WindowResult result{.number = number,
                      .begin = drawn.begin,
                      .endowment = drawn.endowment == workload::Endowment::zipf ? "zipf" : "uniform",
                      .jobs = drawn.window.instance.jobs.size(),
                      .work = 0,
                      .delta_psi = {},
                      .policy_work = {}};
  std::vector<scheduling::Rational> phi;
  SHAPLEY_TRY_ASSIGN(const auto fair,
                     simulate_policy(drawn, settings, settings.reference, settings.due ? &phi : nullptr));
  result.work = fair.work;
  for (const std::string& name : settings.policies) {
    SHAPLEY_TRY_ASSIGN(const auto simulated, simulate_policy(drawn, settings, name));
    result.delta_psi.push_back(settings.due ? std::llround(distance_to_due(simulated.psi, phi, 1))
                                            : distance(simulated.psi, fair.psi));
    result.policy_work.push_back(simulated.work);
  }
  return result;
}

Expected<std::vector<WindowResult>> run_windows(const Trace& trace, const ComparisonSettings& settings,
                                                std::size_t first, std::size_t last, unsigned threads,
                                                Progress& progress) {
  std::vector<std::optional<WindowResult>> slots(last - first);
  SHAPLEY_TRY(run_parallel(slots.size(), threads, [&](std::size_t i) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(slots[i], run_window(trace, settings, first + i));
    progress.one_more();
    return {};
  }));
  std::vector<WindowResult> results;
  for (auto& slot : slots)
    if (slot) results.push_back(std::move(*slot));
  return results;
}

Json to_json(const ComparisonSettings& settings, const WindowResult& result) {
  WindowLine line{.window = result.number,
                  .begin = result.begin,
                  .endowment = result.endowment,
                  .jobs = result.jobs,
                  .p_tot = result.work,
                  .delta_psi = {},
                  .work = {}};
  for (std::size_t p = 0; p < settings.policies.size(); ++p) {
    line.delta_psi.emplace_back(settings.policies[p], result.delta_psi[p]);
    line.work.emplace_back(settings.policies[p], result.policy_work[p]);
  }
  return json_of<Json>(line);
}

Expected<WindowResult> window_from_json(const ComparisonSettings& settings, const nlohmann::json& json) {
  SHAPLEY_TRY_ASSIGN(const WindowLine line, from_json<WindowLine>(json));
  WindowResult result{.number = line.window,
                      .begin = line.begin,
                      .endowment = line.endowment,
                      .jobs = line.jobs,
                      .work = line.p_tot,
                      .delta_psi = {},
                      .policy_work = {}};
  const auto of_policy = [](const ByName<std::int64_t>& values, const std::string& policy) -> Expected<std::int64_t> {
    for (const auto& [name, value] : values)
      if (name == policy) return value;
    return fail(Errc::corrupt, "window without policy " + policy);
  };
  for (const std::string& policy : settings.policies) {
    SHAPLEY_TRY_ASSIGN(const std::int64_t delta, of_policy(line.delta_psi, policy));
    SHAPLEY_TRY_ASSIGN(const std::int64_t work, of_policy(line.work, policy));
    result.delta_psi.push_back(delta);
    result.policy_work.push_back(work);
  }
  return result;
}

Summary summarize(const std::vector<double>& values, const std::vector<std::int64_t>& clusters) {
  SHAPLEY_REQUIRE(!values.empty() && values.size() == clusters.size());
  const auto n = static_cast<double>(values.size());
  Summary summary;
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;

  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  summary.median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;

  double squares = 0;
  std::map<std::int64_t, double> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = values[i] - summary.mean;
    squares += residual * residual;
    sums[clusters[i]] += residual;
  }
  if (values.size() > 1) summary.deviation = std::sqrt(squares / (n - 1));
  if (sums.size() > 1) {
    double between = 0;
    for (const auto& [cluster, sum] : sums) between += sum * sum;
    const auto groups = static_cast<double>(sums.size());
    summary.standard_error = std::sqrt(groups / (groups - 1) * between) / n;
  }
  return summary;
}

charts::PlotPoint plot_point(std::string label, const Summary& summary) {
  return {.label = std::move(label),
          .mean = summary.mean,
          .error = summary.standard_error.value_or(0),
          .median = summary.median};
}

}  // namespace shapley::sim
