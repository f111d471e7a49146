#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <ostream>
#include <sstream>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "charts/plot.hpp"
#include "sim/commands/commands.hpp"
#include "sim/json.hpp"
#include "sim/registry.hpp"
#include "sim/results.hpp"
#include "sim/system.hpp"

extern char** environ;

namespace shapley::sim {

namespace {

// `--submit`: a comparison as a Slurm job array: a block of windows per task, one result file per block, merged when
// all exist.
//
// The folder holds the progress: complete results are kept, missing blocks are submitted (again). So the same command
// repeats lost tasks and continues an interrupted comparison. A task writes to a temporary file and renames it at its
// end, so that an incomplete result is never taken for a complete one.

namespace fs = std::filesystem;

constexpr int k_arrays = 3;
constexpr std::size_t k_max_blocks = 1000;  // Slurm's own default of MaxArraySize is 1001

// Quotes for a shell, where a single quote ends a single-quoted word.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string absolute(const std::string& file) {
  return fs::absolute(file).string();
}

std::vector<std::string> source_words(const WorkloadSource& source) {
  if (!source.trace.empty()) {
    return {"--trace", source.trace == k_embedded_excerpt ? source.trace : absolute(source.trace), "--malformed",
            source.malformed == workload::Malformed::skip ? "skip" : "refuse"};
  }
  const workload::GeneratorOptions& g = source.generator;
  const char* kind = g.kind == workload::WorkloadKind::unit   ? "unit"
                     : g.kind == workload::WorkloadKind::zipf ? "zipf"
                                                              : "bursty";
  return {"--generate",
          kind,
          "--generate-users",
          std::to_string(g.users),
          "--generate-load",
          std::to_string(g.load_percent),
          "--generate-processors",
          std::to_string(g.processors),
          "--generate-length",
          std::to_string(g.length.value),
          "--generate-seed",
          std::to_string(g.seed)};
}

std::vector<std::string> settings_words(const ComparisonSettings& s) {
  const bool file = s.assignment != "random" && s.assignment != "group";
  std::vector<std::string> words{"--parallel",       std::string(name_of(s.parallel)),
                                 "--organizations",  std::to_string(s.organizations),
                                 "--processors",     std::to_string(s.processors),
                                 "--endowment",      std::string(name_of(s.endowment)),
                                 "--assign",         file ? absolute(s.assignment) : s.assignment,
                                 "--length",         std::to_string(s.length.value),
                                 "--seed",           std::to_string(s.seed),
                                 "--samples",        std::to_string(s.samples),
                                 "--windows",        std::to_string(s.windows),
                                 "--horizon",        game::format_horizon(s.rule.horizon),
                                 "--guarantee",      game::format_guarantee(s.rule.guarantee),
                                 "--running-weight", game::format_running_weight(s.rule.running),
                                 "--reference",      s.reference,
                                 "--policies",       join(s.policies, ",")};
  if (s.once_a_pass) words.emplace_back("--once-a-pass");
  if (s.due) words.emplace_back("--due");
  return words;
}

fs::path block_file(const CompareArguments& arguments, std::size_t block) {
  return arguments.submit / ("block-" + std::to_string(block) + ".json");
}

std::string task_script(const CompareArguments& arguments) {
  std::error_code ignored;
  std::string command = shell_word(fs::read_symlink("/proc/self/exe", ignored).string()) + " compare";
  for (const auto& words : {source_words(arguments.source), settings_words(arguments.settings)})
    for (const std::string& word : words) command += ' ' + shell_word(word);
  std::ostringstream script;
  script << "#!/bin/sh\n# One block of windows of a comparison; made by shapley-sim compare --submit.\n"
         << "first=$((SLURM_ARRAY_TASK_ID * " << arguments.block << "))\nlast=$((first + " << arguments.block << "))\n"
         << "[ $last -le " << arguments.settings.windows << " ] || last=" << arguments.settings.windows << '\n'
         << "result=" << shell_word(fs::absolute(arguments.submit).string()) << "/block-$SLURM_ARRAY_TASK_ID.json\n"
         << command << " --first-window $first --last-window $last --threads ${SLURM_CPUS_ON_NODE:-1} --json"
         << " >\"$result.$SLURM_JOB_ID\" && mv \"$result.$SLURM_JOB_ID\" \"$result\"\n";
  return script.str();
}

Expected<void> write_file(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  stream.flush();
  if (!stream) return fail(Errc::io, "--submit: " + file.string() + ": cannot be written");
  return {};
}

std::string read_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The folder belongs to one comparison, so that blocks of different ones are never mixed.
Expected<void> prepare_folder(const CompareArguments& arguments) {
  std::error_code error;
  fs::create_directories(arguments.submit, error);
  if (error) return fail(Errc::io, "--submit: " + arguments.submit.string() + ": " + error.message());
  const Json sweep = {{"settings", json_of<Json>(arguments.settings)},
                      {"source", source_words(arguments.source)},
                      {"block", arguments.block}};
  const fs::path about = arguments.submit / "sweep.json";
  const std::string text = sweep.dump(1) + "\n";
  if (fs::exists(about) && read_file(about) != text) {
    return fail(Errc::conflict,
                "--submit: " + arguments.submit.string() +
                    " holds the results of another sweep (sweep.json says which); choose another folder");
  }
  SHAPLEY_TRY(write_file(about, text));
  return write_file(arguments.submit / "task.sh", task_script(arguments));
}

// The part of a task's report that is read.
struct BlockFile {
  std::vector<nlohmann::json> windows;
};
constexpr auto description_of(std::type_identity<BlockFile>) {
  return describe(member("windows", &BlockFile::windows));
}

// The windows of a block; nullopt if its file is missing, cut short or of other settings.
std::optional<std::vector<WindowResult>> read_block(const CompareArguments& arguments, std::size_t block) {
  const auto file = from_json<BlockFile>(parse_json(read_file(block_file(arguments, block))));
  if (!file) return std::nullopt;
  const std::size_t first = block * arguments.block;
  const std::size_t last = std::min(first + arguments.block, arguments.settings.windows);
  std::vector<WindowResult> results;
  for (const nlohmann::json& entry : file->windows) {
    auto result = window_from_json(arguments.settings, entry);
    if (!result || result->number != first + results.size()) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results.size() == last - first ? std::optional(std::move(results)) : std::nullopt;
}

struct Harvest {
  std::vector<WindowResult> results;
  std::vector<std::string> missing;  // numbers of blocks
};

Harvest harvest(const CompareArguments& arguments) {
  Harvest found;
  const std::size_t blocks = (arguments.settings.windows + arguments.block - 1) / arguments.block;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (auto results = read_block(arguments, block)) {
      found.results.insert(found.results.end(), results->begin(), results->end());
    } else {
      found.missing.push_back(std::to_string(block));
    }
  }
  return found;
}

// Returns the program's exit code (-1: killed). Its output goes to our standard error as it comes, since our own
// standard output is a result. Errc::unavailable when there is no such program.
Expected<int> run_program(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  std::vector<std::string> copies = words;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return fail(Errc::unavailable, words[0] + " does not start; is it installed and in PATH?");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Expected<int> submit_array(const CompareArguments& arguments, const std::vector<std::string>& blocks) {
  std::vector<std::string> words{"sbatch", "--wait", "--job-name=shapley-sim", "--array=" + join(blocks, ","),
                                 "--output=" + absolute((arguments.submit / "task-%a.log").string())};
  words.insert(words.end(), arguments.sbatch_options.begin(), arguments.sbatch_options.end());
  words.push_back((arguments.submit / "task.sh").string());
  return run_program(words);
}

// Reports finished windows, in the requested form.
Expected<void> report(const CompareArguments& arguments, const std::vector<WindowResult>& results, std::ostream& out) {
  const auto summaries = summarize_policies(arguments.settings, results, arguments.baseline);
  if (arguments.json) {
    out << text_of(json_of<Json>(report_of(arguments.settings, results, summaries, arguments.baseline)), 1) << '\n';
  } else {
    print_table(arguments.settings, results, summaries, arguments.baseline, out);
  }
  if (!arguments.plot.empty()) {
    std::vector<charts::PlotPoint> points;
    for (const PolicySummary& summary : summaries) points.push_back(plot_point(summary.policy, summary.unfairness));
    SHAPLEY_TRY(charts::plot_unfairness(arguments.plot, "Unfairness by policy", points));
  }
  return {};
}

// Waits for the array (sbatch --wait) and prints the same report as without --submit. REQUIRES: complete().
// Errc::conflict when the folder holds another comparison; Errc::unavailable when Slurm takes no job or blocks are
// still missing after three arrays.
Expected<int> submit_comparison(const CompareArguments& arguments, std::ostream& out) {
  if ((arguments.settings.windows + arguments.block - 1) / arguments.block > k_max_blocks)
    return fail(Errc::limit, "--submit: more than 1000 tasks; raise --block");
  SHAPLEY_TRY(prepare_folder(arguments));
  Harvest found = harvest(arguments);
  for (int array = 0; array < k_arrays && !found.missing.empty(); ++array) {
    const std::size_t missing = found.missing.size();
    std::cerr << "shapley-sim: blocks of windows to do: " << missing << '\n';
    SHAPLEY_TRY_ASSIGN(const int status, submit_array(arguments, found.missing));
    found = harvest(arguments);
    if (status != 0 && found.missing.size() == missing) {
      return fail(Errc::unavailable, "--submit: sbatch ended with exit code " + std::to_string(status) +
                                         " and no task left a result; see above, and " +
                                         (arguments.submit / "task-*.log").string());
    }
  }
  if (!found.missing.empty()) {
    return fail(Errc::unavailable,
                "--submit: blocks " + join(found.missing, ", ") + " are missing after " + std::to_string(k_arrays) +
                    " arrays; see " + (arguments.submit / "task-*.log").string() + ", then run the same command again");
  }
  SHAPLEY_TRY(report(arguments, found.results, out));
  return k_exit_done;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Checked first, so that a wrong name or too many organizations are not found after an hour only.
Expected<void> check_policies(const ComparisonSettings& settings, const workload::Trace& trace) {
  scheduling::Instance empty;
  empty.processors.assign(settings.organizations, 1);
  const auto widest = std::max_element(trace.jobs.begin(), trace.jobs.end(),
                                       [](const auto& a, const auto& b) { return a.processors < b.processors; });
  if (settings.parallel == workload::ParallelJobs::rigid && widest->processors > 1) {
    if (widest->processors > settings.processors) {
      return fail(Errc::invalid_argument, "--parallel rigid: job " + std::to_string(widest->id) +
                                              " of the trace needs " + std::to_string(widest->processors) +
                                              " processors at once, there are " + std::to_string(settings.processors) +
                                              "; give more --processors, or take --parallel copies");
    }
    empty.jobs.push_back({.release = {0}, .duration = {1}, .organization = 0, .processors = 2});
  }
  std::vector<std::string> names = settings.policies;
  names.push_back(settings.reference);
  PolicyOptions options;
  options.rule = settings.rule;
  options.once_a_pass = settings.once_a_pass;
  for (const std::string& name : names) SHAPLEY_TRY(make_policy(name, empty, options));
  return {};
}

}  // namespace

Expected<void> complete(CompareArguments& arguments, const workload::Trace& trace) {
  ComparisonSettings& settings = arguments.settings;
  if (settings.processors == 0) settings.processors = trace.processors;
  if (settings.processors == 0)
    return fail(Errc::invalid_argument, "the trace does not say how many processors there were; give --processors");
  if (settings.policies.empty()) return fail(Errc::invalid_argument, "no policy to compare; give --policies");
  if (settings.windows == 0) return fail(Errc::invalid_argument, "--windows: expected at least one");
  if (settings.length.value < 1) return fail(Errc::invalid_argument, "--length: expected at least one second");
  if (arguments.baseline.empty())
    arguments.baseline = contains(settings.policies, "direct_contr") ? "direct_contr" : settings.policies.front();
  if (!contains(settings.policies, arguments.baseline))
    return fail(Errc::invalid_argument, "--baseline " + arguments.baseline + " is not among --policies");
  return check_policies(settings, trace);
}

Expected<int> compare(CompareArguments arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(arguments.source));
  SHAPLEY_TRY(complete(arguments, trace));
  if (!arguments.submit.empty()) return submit_comparison(arguments, out);
  const std::size_t last = arguments.last_window == 0 ? arguments.settings.windows : arguments.last_window;
  if (arguments.first_window >= last) return fail(Errc::invalid_argument, "--first-window: not before --last-window");
  catch_interrupt();
  std::vector<WindowResult> results;
  {
    Progress progress("windows", last - arguments.first_window);
    SHAPLEY_TRY_ASSIGN(
        results, run_windows(trace, arguments.settings, arguments.first_window, last, arguments.threads, progress));
  }
  const bool whole = results.size() == last - arguments.first_window;
  say_unfinished(results.size(), last - arguments.first_window, "windows");
  if (!results.empty()) SHAPLEY_TRY(report(arguments, results, out));
  return whole ? k_exit_done : k_exit_interrupted;
}

}  // namespace shapley::sim
