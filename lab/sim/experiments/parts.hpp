// Runs an experiment on one machine, or in parts on several.
//
// An experiment measures units of work that depend only on its settings and their own number (a window, an instance, a
// seed), and then reports on all of them. Part i of n measures every n-th unit and writes them to a file; `shapley-sim
// merge` combines the files and reports by the code of a whole run, on the same values in the same order. So its tables
// are those of a whole run, to the digit.
//
// A new experiment has one struct for its measurements, described (base/description.hpp) and with its units as
// Units<T>, and two functions, measure and report; experiment_of() makes the row of the table of experiments from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "scheduling/instance.hpp"
#include "sim/system.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

// The settings on which an experiment's numbers depend, besides the traces themselves; equal in all its parts.
struct ExperimentSettings {
  std::string name;               // one of experiment_names()
  std::vector<std::string> only;  // names of known traces; empty: all available ones
  std::optional<std::size_t> windows;
  std::optional<std::int64_t> length;
  std::vector<std::size_t> organizations;  // of figure10 and speed; for others, the first one
  std::vector<std::string> policies;       // empty: the preset's
  std::vector<std::string>
      cases;  // stability, consortium, real_jobs, strategy: of cases; strategy: of attacks; empty: all
  std::optional<std::size_t> instances;  // mosp, workflow: per setting; strategy, consortium: seeds
  std::uint64_t seed = 1;
};
constexpr auto description_of(std::type_identity<ExperimentSettings>) {
  using S = ExperimentSettings;
  return describe(member("experiment", &S::name), member("only", &S::only), member("windows", &S::windows),
                  member("length", &S::length), member("organizations", &S::organizations),
                  member("policies", &S::policies), member("cases", &S::cases), member("instances", &S::instances),
                  member("seed", &S::seed));
}

// Part `number` (from 1) of `of`.
struct Part {
  std::size_t number = 1;
  std::size_t of = 1;

  // Every part has one of `of` consecutive units, at a position that differs from row to row: units of one setting
  // often follow each other at a regular distance, and one part would get all the long ones.
  [[nodiscard]] bool has(std::size_t unit) const { return (unit + unit / of) % of == number - 1; }
};
inline constexpr std::size_t k_most_parts = 100'000;
// "3/40". Errc::invalid_argument says what is allowed.
[[nodiscard]] Expected<Part> parse_part(std::string_view text);

struct ExperimentArguments : ExperimentSettings {
  std::filesystem::path traces;  // folder of traces; empty: $SHAPLEY_TRACES
  std::string trace;             // or this one file
  unsigned threads = 0;
  bool json = false;
  std::filesystem::path plot;  // folder for SVG files
  std::optional<Part> part;    // measures only, and writes to the file `out`
  std::filesystem::path out;
};

// Results by number of the unit; empty: another part's, or not finished.
template <typename T>
using Units = std::vector<std::optional<T>>;

// Calls `measure` with the numbers of the part's units among 0 .. count - 1, each once, on several threads. It returns
// Expected<T>, or Expected<std::optional<T>> if Ctrl-C may cut a unit short.
template <typename T, typename Measure>
[[nodiscard]] Expected<Units<T>> run_units(const std::string& what, std::size_t count,
                                           const ExperimentArguments& arguments, const Measure& measure) {
  std::vector<std::size_t> numbers;
  for (std::size_t unit = 0; unit < count; ++unit)
    if (!arguments.part || arguments.part->has(unit)) numbers.push_back(unit);
  Units<T> units(count);
  {
    Progress progress(what, numbers.size());
    SHAPLEY_TRY(run_parallel(numbers.size(), arguments.threads, [&](std::size_t i) -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(units[numbers[i]], measure(numbers[i]));
      progress.one_more();
      return {};
    }));
  }
  const auto finished = std::count_if(units.begin(), units.end(), [](const auto& unit) { return unit.has_value(); });
  say_unfinished(static_cast<std::size_t>(finished), numbers.size(), what);
  return units;
}

template <typename T>
[[nodiscard]] std::vector<T> finished_units(const Units<T>& units) {
  std::vector<T> finished;
  for (const auto& unit : units)
    if (unit) finished.push_back(*unit);
  return finished;
}

// Errc::corrupt unless there are as many units as the experiment has: a file may come from another build.
[[nodiscard]] Expected<void> expect_units(std::size_t found, std::size_t expected);

// Distinguishes jobs of different traces with the same name. 64 bits (FNV-1a), against mistakes only.
[[nodiscard]] std::string digest_of(const workload::Trace& trace);
[[nodiscard]] std::string digest_of(const scheduling::Instance& instance);

// An experiment in the table of experiments.
struct Experiment {
  // Measures, and reports or writes a part.
  Expected<void> (*run)(const ExperimentArguments& arguments, std::ostream& out);
  // Reports on the measurements of all parts.
  Expected<void> (*report)(const nlohmann::json& measured, const ExperimentArguments& arguments, std::ostream& out);
};

// Checks, before hours of work, that the results can be written. Leaves an empty file, which write_part renames when it
// is complete.
[[nodiscard]] Expected<void> prepare_part(const ExperimentArguments& arguments);
[[nodiscard]] Expected<void> write_part(const ExperimentArguments& arguments, const nlohmann::json& measured);

// `measure`: Expected<Measured>(const ExperimentArguments&), where Measured is described;
// `report`: Expected<void>(const Measured&, const ExperimentArguments&, std::ostream&). After Ctrl-C the report is
// about the finished units.
template <auto measure, auto report>
[[nodiscard]] constexpr Experiment experiment_of() {
  return {
      [](const ExperimentArguments& arguments, std::ostream& out) -> Expected<void> {
        SHAPLEY_TRY_ASSIGN(const auto measured, measure(arguments));
        if (!arguments.part) return report(measured, arguments, out);
        return interrupted() ? Expected<void>() : write_part(arguments, json_of(measured));
      },
      [](const nlohmann::json& measured, const ExperimentArguments& arguments, std::ostream& out) -> Expected<void> {
        using Measured = typename decltype(measure(arguments))::value_type;
        SHAPLEY_TRY_ASSIGN(const Measured read, from_json<Measured>(measured));
        return report(read, arguments, out);
      }};
}

// `shapley-sim merge`: the report of an experiment from the files of its parts.
struct MergeArguments {
  std::vector<std::string> files;
  bool json = false;
  std::filesystem::path plot;
};

// Only the files are read, no trace. Errc::corrupt: a file is damaged; Errc::conflict: two files are of different
// experiments, or the same part; Errc::not_found: parts are missing. Each names the files or parts.
struct MergedParts {
  ExperimentSettings settings;
  nlohmann::json measured;
};
[[nodiscard]] Expected<MergedParts> merge_parts(const std::vector<std::string>& files);

}  // namespace shapley::sim
