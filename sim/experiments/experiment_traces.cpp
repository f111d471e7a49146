#include "sim/experiments/experiment_traces.hpp"

#include <algorithm>
#include <cstdlib>

#include "sim/experiments/paper_numbers.hpp"

namespace shapley::sim {

namespace {

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

ExperimentTrace describe(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const KnownTrace& known : k_known_traces)
    if (name.rfind(known.name, 0) == 0) return {std::string(known.name), file.string(), known.processors};
  return {name, file.string(), 0};
}

}  // namespace

Expected<std::vector<ExperimentTrace>> find_traces(const ExperimentArguments& arguments) {
  if (!arguments.trace.empty()) return std::vector{describe(arguments.trace)};
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
    if (file != files.end() && wanted(arguments, known.name)) traces.push_back(describe(*file));
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

}  // namespace shapley::sim
