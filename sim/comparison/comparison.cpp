#include "sim/comparison/comparison.hpp"

#include <cstdlib>

#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "sim/system/parallel.hpp"
#include "workload/input_file.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;

constexpr int k_draws = 1000;

// Streams of neighbouring windows must not be shifts of one another, so the number passes through the generator first.
Rng window_rng(std::uint64_t seed, std::size_t number) {
  return Rng(Rng(seed).next() ^ Rng(static_cast<std::uint64_t>(number) + 0x51ed2701U).next());
}

workload::Endowment endowment_of(EndowmentChoice choice, std::size_t number) {
  if (choice == EndowmentChoice::zipf) return workload::Endowment::zipf;
  if (choice == EndowmentChoice::uniform) return workload::Endowment::uniform;
  return number % 2 == 0 ? workload::Endowment::zipf : workload::Endowment::uniform;
}

Expected<workload::Assignment> assign(const Trace& trace, const ComparisonSettings& settings, std::uint64_t seed) {
  const std::string& by = settings.assignment.by;
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

Expected<scheduling::SimulationResult> simulate_policy(const DrawnWindow& drawn, const ComparisonSettings& settings,
                                                       const std::string& name) {
  PolicyOptions options;
  options.seed = drawn.policy_seed;
  options.samples = settings.samples;
  options.rule = settings.rule;
  options.once_a_pass = settings.once_a_pass;
  SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(name, drawn.window.instance, options));
  return scheduling::simulate(drawn.window.instance, *policy);
}

std::int64_t distance(const std::vector<std::int64_t>& psi, const std::vector<std::int64_t>& fair) {
  std::int64_t sum = 0;
  for (std::size_t u = 0; u < psi.size(); ++u) sum += std::abs(psi[u] - fair[u]);
  return sum;
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
  SHAPLEY_TRY_ASSIGN(const auto fair, simulate_policy(drawn, settings, settings.reference));
  result.work = fair.work;
  for (const std::string& name : settings.policies) {
    SHAPLEY_TRY_ASSIGN(const auto simulated, simulate_policy(drawn, settings, name));
    result.delta_psi.push_back(distance(simulated.psi, fair.psi));
    result.policy_work.push_back(simulated.work);
  }
  return result;
}

}  // namespace

std::optional<EndowmentChoice> parse_endowment(std::string_view name) {
  if (name == "zipf") return EndowmentChoice::zipf;
  if (name == "uniform") return EndowmentChoice::uniform;
  if (name == "alternate") return EndowmentChoice::alternate;
  return std::nullopt;
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

Json to_json(const ComparisonSettings& settings) {
  Json json = {{"organizations", settings.organizations},
               {"processors", settings.processors},
               {"endowment", std::string(name_of(settings.endowment))},
               {"assign", settings.assignment.by},
               {"length", settings.length.value},
               {"windows", settings.windows},
               {"seed", settings.seed},
               {"samples", settings.samples},
               {"reference", settings.reference},
               {"policies", settings.policies}};
  // Left out where it is the default, so that a comparison begun by an older version can be continued.
  if (settings.parallel == workload::ParallelJobs::rigid) json["parallel"] = "rigid";
  if (settings.rule != game::ServingRule{}) {
    json["horizon"] = game::format_horizon(settings.rule.horizon);
    json["guarantee"] = game::format_guarantee(settings.rule.guarantee);
  }
  if (settings.rule.running != game::RunningWeight{})
    json["running_weight"] = game::format_running_weight(settings.rule.running);
  if (settings.once_a_pass) json["once_a_pass"] = true;
  return json;
}

Json to_json(const ComparisonSettings& settings, const WindowResult& result) {
  Json delta = Json::object();
  Json work = Json::object();
  for (std::size_t p = 0; p < settings.policies.size(); ++p) {
    delta[settings.policies[p]] = result.delta_psi[p];
    work[settings.policies[p]] = result.policy_work[p];
  }
  return {{"window", result.number},
          {"begin", result.begin.value},
          {"endowment", result.endowment},
          {"jobs", result.jobs},
          {"p_tot", result.work},
          {"delta_psi", delta},
          {"work", work}};
}

Expected<WindowResult> window_from_json(const ComparisonSettings& settings, const Json& json) {
  const auto integer_member = [&](const Json& object, const std::string& member) -> Expected<std::int64_t> {
    const auto place = object.find(member);
    if (place == object.end() || !place->is_number_integer())
      return fail(Errc::corrupt, "window without an integer \"" + member + "\"");
    return place->get<std::int64_t>();
  };
  const bool whole = json.is_object() && json.contains("delta_psi") && json["delta_psi"].is_object() &&
                     json.contains("work") && json["work"].is_object() && json.contains("endowment") &&
                     json["endowment"].is_string();
  if (!whole) return fail(Errc::corrupt, "not a window of a comparison");
  WindowResult result;
  SHAPLEY_TRY_ASSIGN(const std::int64_t number, integer_member(json, "window"));
  result.number = static_cast<std::size_t>(number);
  SHAPLEY_TRY_ASSIGN(result.begin.value, integer_member(json, "begin"));
  result.endowment = json["endowment"].get<std::string>();
  SHAPLEY_TRY_ASSIGN(const std::int64_t jobs, integer_member(json, "jobs"));
  result.jobs = static_cast<std::size_t>(jobs);
  SHAPLEY_TRY_ASSIGN(result.work, integer_member(json, "p_tot"));
  for (const std::string& policy : settings.policies) {
    SHAPLEY_TRY_ASSIGN(const std::int64_t delta, integer_member(json["delta_psi"], policy));
    result.delta_psi.push_back(delta);
    SHAPLEY_TRY_ASSIGN(const std::int64_t work, integer_member(json["work"], policy));
    result.policy_work.push_back(work);
  }
  return result;
}

}  // namespace shapley::sim
