#include <algorithm>
#include <cstdlib>

#include "sim/commands/commands.hpp"
#include "sim/experiments/experiments.hpp"

namespace shapley::sim {

namespace {

struct Row {
  std::string_view policy;
  // In the order of the papers' columns: LPC-EGEE, PIK-IPLEX, SHARCNET-Whale, RICC.
  std::array<PaperNumber, 4> numbers;
};

constexpr std::array<std::string_view, 4> k_columns{"LPC-EGEE", "PIK-IPLEX", "SHARCNET-Whale", "RICC"};

constexpr std::array k_table_1{Row{"round_robin", {{{238, 353}, {6, 33}, {145, 38}, {2839, 357}}}},
                               Row{"rand", {{{8, 21}, {0.014, 0.01}, {6, 6}, {162, 187}}}},
                               Row{"direct_contr", {{{5, 11}, {0.02, 0.15}, {10, 7}, {537, 303}}}},
                               Row{"fair_share", {{{16, 25}, {0.3, 1.38}, {13, 8}, {626, 309}}}},
                               Row{"ut_fair_share", {{{16, 25}, {0.3, 1.38}, {38, 67}, {515, 284}}}},
                               Row{"curr_fair_share", {{{87, 106}, {0.3, 1.58}, {145, 80}, {1231, 243}}}}};

constexpr std::array k_table_2{Row{"round_robin", {{{4511, 6257}, {242, 1420}, {404, 1221}, {10850, 13773}}}},
                               Row{"rand", {{{562, 1670}, {1.3, 7}, {26, 158}, {771, 1479}}}},
                               Row{"direct_contr", {{{410, 1083}, {0.2, 1.4}, {60, 204}, {1808, 3397}}}},
                               Row{"fair_share", {{{575, 1404}, {2.3, 12}, {94, 307}, {2746, 4070}}}},
                               Row{"ut_fair_share", {{{888, 2101}, {1.2, 5}, {120, 344}, {4963, 6080}}}},
                               Row{"curr_fair_share", {{{1082, 2091}, {2.2, 11}, {180, 805}, {5387, 9083}}}}};

constexpr std::int64_t k_generated_processors = 70;

std::filesystem::path folder_of(const ExperimentArguments& arguments) {
  if (!arguments.traces.empty()) return arguments.traces;
  const char* folder = std::getenv("SHAPLEY_TRACES");
  return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

bool wanted(const ExperimentArguments& arguments, std::string_view name) {
  return arguments.only.empty() ||
         std::find(arguments.only.begin(), arguments.only.end(), name) != arguments.only.end();
}

ExperimentTrace trace_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const KnownTrace& known : k_known_traces)
    if (name.rfind(known.name, 0) == 0) return {std::string(known.name), file.string(), known.processors};
  return {name, file.string(), 0};
}

}  // namespace

std::optional<PaperNumber> paper_number(int table, std::string_view trace, std::string_view policy) {
  for (const Row& row : table == 1 ? k_table_1 : k_table_2) {
    if (row.policy != policy) continue;
    for (std::size_t column = 0; column < k_columns.size(); ++column)
      if (k_columns[column] == trace) return row.numbers[column];
  }
  return std::nullopt;
}

Expected<std::vector<ExperimentTrace>> find_traces(const ExperimentArguments& arguments) {
  if (!arguments.trace.empty()) return std::vector{trace_of(arguments.trace)};
  const std::filesystem::path folder = folder_of(arguments);
  if (folder.empty()) return std::vector{ExperimentTrace{"generated", "", k_generated_processors}};
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) files.push_back(entry.path());
  if (error) return fail(Errc::io, "traces: " + folder.string() + ": " + error.message());
  std::sort(files.begin(), files.end());
  std::vector<ExperimentTrace> traces;
  for (const KnownTrace& known : k_known_traces) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const std::filesystem::path& candidate) {
      return candidate.filename().string().rfind(known.name, 0) == 0;
    });
    if (file != files.end() && wanted(arguments, known.name)) traces.push_back(trace_of(*file));
  }
  if (traces.empty()) {
    return fail(Errc::not_found, "traces: " + folder.string() +
                                     " holds none of the traces asked for; files begin with "
                                     "LPC-EGEE, PIK-IPLEX, SHARCNET-Whale, RICC, HPC2N or "
                                     "KTH-SP2");
  }
  return traces;
}

Expected<workload::Trace> load_trace(const ExperimentTrace& trace) {
  WorkloadSource source;
  source.trace = trace.file;
  source.generator.processors = k_generated_processors;
  return load_workload(source);
}

Expected<ComparedWindows> compare_windows(const ExperimentTrace& source, const workload::Trace& trace,
                                          ComparisonSettings settings, const ExperimentArguments& arguments) {
  CompareArguments compared;
  compared.settings = std::move(settings);
  compared.settings.processors = source.processors;
  compared.settings.seed = arguments.seed;
  compared.settings.windows = arguments.windows.value_or(compared.settings.windows);
  SHAPLEY_TRY(complete(compared, trace));
  const ComparisonSettings& complete_settings = compared.settings;
  ComparedWindows measured{source.name,
                           digest_of(trace),
                           source.file.empty(),
                           complete_settings.organizations,
                           complete_settings.processors,
                           complete_settings.length,
                           complete_settings.reference,
                           complete_settings.policies,
                           {}};
  const std::string what = "windows of " + source.name + " against " + complete_settings.reference +
                           ", k = " + std::to_string(complete_settings.organizations);
  SHAPLEY_TRY_ASSIGN(measured.windows,
                     run_units<WindowResult>(what, complete_settings.windows, arguments, [&](std::size_t number) {
                       return run_window(trace, complete_settings, number);
                     }));
  return measured;
}

Expected<ComparedOutcome> outcome_of(const ComparedWindows& compared, const std::string& baseline,
                                     const ExperimentArguments& arguments) {
  ComparedOutcome outcome;
  outcome.settings.organizations = compared.organizations;
  outcome.settings.processors = compared.processors;
  outcome.settings.length = compared.length;
  outcome.settings.windows = compared.windows.size();
  outcome.settings.seed = arguments.seed;
  outcome.settings.reference = compared.reference;
  outcome.settings.policies = compared.policies;
  outcome.results = finished_units(compared.windows);
  for (const WindowResult& result : outcome.results) {
    SHAPLEY_TRY(expect_units(result.delta_psi.size(), compared.policies.size()));
    SHAPLEY_TRY(expect_units(result.policy_work.size(), compared.policies.size()));
  }
  outcome.is_whole = outcome.results.size() == compared.windows.size();
  if (!outcome.results.empty()) outcome.summaries = summarize_policies(outcome.settings, outcome.results, baseline);
  return outcome;
}

}  // namespace shapley::sim
