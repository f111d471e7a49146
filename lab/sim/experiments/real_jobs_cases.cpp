#include <algorithm>
#include <array>

#include "base/rng.hpp"
#include "sim/experiments/real_jobs.hpp"

namespace shapley::sim {

namespace {

using workload::Trace;
using workload::TraceJob;

constexpr std::array<std::string_view, 4> k_case_names{"traces", "wide", "gpu_one", "gpu_two"};
constexpr std::int64_t k_window_s = 400'000;
constexpr std::int64_t k_gpu_window_s = 200'000;
constexpr std::int64_t k_made_s = 20'000'000;
constexpr std::int64_t k_longest_s = 64'800;
constexpr std::uint32_t k_users = 40;

// A user's jobs are alike: as wide, and as long within a factor of four.
struct User {
  std::int64_t processors = 1;
  std::uint64_t exponent = 5;  // of two, of the shortest run time
  std::int64_t limit = 1;      // the requested time, in run times
  bool gpu = false;
};

// In hundredths of jobs, about as on SDSC-SP2.
std::int64_t draw_width(Rng& rng) {
  constexpr std::array<std::pair<std::uint64_t, std::int64_t>, 11> k_widths{
      {{28, 1}, {8, 2}, {2, 3}, {14, 4}, {18, 8}, {2, 12}, {14, 16}, {2, 24}, {8, 32}, {3, 64}, {1, 128}}};
  std::uint64_t place = rng.below(100);
  for (const auto& [part, width] : k_widths) {
    if (place < part) return width;
    place -= part;
  }
  return 1;
}

User draw_user(Rng& rng) {
  constexpr std::uint64_t k_shortest = 7;  // 2^7 s
  constexpr std::uint64_t k_exponents = 8;
  return {.processors = draw_width(rng),
          .exponent = k_shortest + rng.below(k_exponents),
          .limit = std::int64_t{1} << rng.below(4)};
}

// Adds jobs of users in sessions until their work is `load` of what so many processors can do.
void add_sessions(Trace& trace, const std::vector<User>& users, std::uint32_t first, std::uint32_t last,
                  std::int64_t processors, Rng& rng) {
  constexpr double k_load = 0.9;
  constexpr std::uint64_t k_most_jobs = 12;
  constexpr std::uint64_t k_think_s = 3000;
  double work = 0;
  while (work < k_load * static_cast<double>(processors) * static_cast<double>(k_made_s)) {
    const auto number = first + static_cast<std::uint32_t>(rng.below(last - first));
    const User& user = users[number];
    std::int64_t submit = static_cast<std::int64_t>(rng.below(k_made_s));
    for (std::uint64_t left = 1 + rng.below(k_most_jobs); left > 0; --left) {
      const std::uint64_t octave = std::uint64_t{1} << (user.exponent + rng.below(2));
      const std::int64_t run = std::min(static_cast<std::int64_t>(octave + rng.below(octave)), k_longest_s);
      trace.jobs.push_back({.id = static_cast<std::int64_t>(trace.jobs.size()) + 1,
                            .submit = {submit},
                            .run = {run},
                            .processors = user.processors,
                            .user = number,
                            .group = 0,
                            .requested = {run * user.limit},
                            .partition = user.gpu ? 1U : 0U});
      work += static_cast<double>(run) * static_cast<double>(user.processors);
      submit += static_cast<std::int64_t>(rng.below(k_think_s));
    }
  }
}

Trace made_trace(std::vector<User>& users, Rng& rng) {
  Trace trace;
  for (std::uint32_t u = 0; u < k_users; ++u) {
    trace.users.push_back("u" + std::to_string(u));
    users.push_back(draw_user(rng));
  }
  trace.groups = {"made"};
  trace.partitions = {"cpu", "gpu"};
  return trace;
}

RealCase wide_case(const ExperimentArguments& arguments) {
  constexpr std::int64_t k_processors = 128;
  Rng rng(arguments.seed);
  std::vector<User> users;
  RealCase made{.name = "wide",
                .about = "made jobs as wide as on SDSC-SP2, 128 processors",
                .trace = made_trace(users, rng),
                .settings = {},
                .kinds = {}};
  made.trace.processors = k_processors;
  add_sessions(made.trace, users, 0, k_users, k_processors, rng);
  workload::order_jobs(made.trace);
  return made;
}

RealCase gpu_case(const std::string& name, const std::string& about, std::vector<std::uint32_t> gpus,
                  std::uint64_t seed) {
  constexpr std::uint32_t k_cpus = 24;
  constexpr std::int64_t k_all_cpus = 96;
  constexpr std::int64_t k_all_gpus = 32;
  constexpr std::uint32_t k_gpu_users = 10;
  Rng rng(seed);
  std::vector<User> users;
  RealCase made{.name = name, .about = about, .trace = made_trace(users, rng), .settings = {}, .kinds = {}};
  for (std::uint32_t u = 0; u < k_users; ++u) {
    users[u].gpu = u < k_gpu_users;
    users[u].processors = std::min<std::int64_t>(users[u].processors, users[u].gpu ? 8 : 64);
  }
  add_sessions(made.trace, users, 0, k_gpu_users, k_all_gpus, rng);
  add_sessions(made.trace, users, k_gpu_users, k_users, k_all_cpus, rng);
  workload::order_jobs(made.trace);
  made.trace.processors = k_all_cpus + k_all_gpus;
  made.kinds.owned = {std::vector<std::uint32_t>(gpus.size(), k_cpus), std::move(gpus)};
  for (std::uint32_t kind = 0; kind < 2; ++kind)
    made.kinds.of_partition.emplace(made.trace.partitions[kind], scheduling::KindOrder(std::span(&kind, 1)));
  made.settings.organizations = made.kinds.owned.front().size();
  made.settings.length.value = k_gpu_window_s;
  return made;
}

Expected<std::vector<RealCase>> traces_of(const ExperimentArguments& arguments) {
  std::vector<RealCase> cases;
  SHAPLEY_TRY_ASSIGN(const auto sources, find_traces(arguments));
  for (const ExperimentTrace& source : sources) {
    if (source.file.empty()) continue;  // generated jobs are not wide
    SHAPLEY_TRY_ASSIGN(workload::Trace trace, load_trace(source));
    RealCase one{.name = source.name, .about = source.name, .trace = std::move(trace), .settings = {}, .kinds = {}};
    // With its own processors: a job may be as wide as these.
    if (one.trace.processors == 0) one.trace.processors = source.processors;
    one.about += ", " + std::to_string(one.trace.processors) + " processors";
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace

Expected<std::vector<RealCase>> real_cases(const ExperimentArguments& arguments) {
  for (const std::string& name : arguments.cases) {
    if (std::find(k_case_names.begin(), k_case_names.end(), name) != k_case_names.end()) continue;
    return fail(Errc::invalid_argument,
                "--cases: \"" + name + "\" is unknown; known are traces, wide, gpu_one and gpu_two");
  }
  const auto wanted = [&](std::string_view name) {
    return arguments.cases.empty() ||
           std::find(arguments.cases.begin(), arguments.cases.end(), name) != arguments.cases.end();
  };
  std::vector<RealCase> cases;
  if (wanted("traces")) {
    SHAPLEY_TRY_ASSIGN(cases, traces_of(arguments));
  }
  if (wanted("wide")) cases.push_back(wide_case(arguments));
  if (wanted("gpu_one"))
    cases.push_back(gpu_case("gpu_one", "GPU nodes of one of four organizations", {0, 0, 0, 32}, arguments.seed));
  if (wanted("gpu_two"))
    cases.push_back(gpu_case("gpu_two", "GPU nodes of two of four organizations", {0, 0, 16, 16}, arguments.seed));
  for (RealCase& one : cases) {
    ComparisonSettings& settings = one.settings;
    if (one.kinds.owned.empty()) {
      settings.organizations = arguments.organizations.empty() ? 5 : arguments.organizations.front();
      settings.length.value = k_window_s;
    }
    settings.processors = one.trace.processors;
    settings.length.value = arguments.length.value_or(settings.length.value);
    settings.windows = arguments.windows.value_or(20);
    settings.seed = arguments.seed;
    settings.parallel = workload::ParallelJobs::rigid;
  }
  if (cases.empty())
    return fail(Errc::not_found, "--cases: no trace is there; name --traces DIR or --trace FILE, or made cases");
  return cases;
}

}  // namespace shapley::sim
