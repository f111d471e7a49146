#include "sim/comparison/submit.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "sim/exit_code.hpp"
#include "sim/json.hpp"
#include "sim/system/program.hpp"

namespace shapley::sim {

namespace {

namespace fs = std::filesystem;

constexpr int k_arrays = 3;
constexpr std::size_t k_max_blocks = 1000;  // Slurm's own default of MaxArraySize is 1001

// For a shell, where a single quote ends a single-quoted word.
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
  const bool file = s.assignment.by != "random" && s.assignment.by != "group";
  std::vector<std::string> words{"--parallel",       s.parallel == workload::ParallelJobs::rigid ? "rigid" : "copies",
                                 "--organizations",  std::to_string(s.organizations),
                                 "--processors",     std::to_string(s.processors),
                                 "--endowment",      std::string(name_of(s.endowment)),
                                 "--assign",         file ? absolute(s.assignment.by) : s.assignment.by,
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
  const Json sweep = {{"settings", to_json(arguments.settings)},
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

// The windows of a block, or nothing if its file is missing, cut short or of other settings.
std::optional<std::vector<WindowResult>> read_block(const CompareArguments& arguments, std::size_t block) {
  const Json json = Json::parse(read_file(block_file(arguments, block)), nullptr, false);
  if (!json.is_object() || !json.contains("windows") || json["windows"].type() != Json::value_t::array)
    return std::nullopt;
  const std::size_t first = block * arguments.block;
  const std::size_t last = std::min(first + arguments.block, arguments.settings.windows);
  std::vector<WindowResult> results;
  for (const Json& entry : json["windows"]) {
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

Expected<int> submit_array(const CompareArguments& arguments, const std::vector<std::string>& blocks) {
  std::vector<std::string> words{"sbatch", "--wait", "--job-name=shapley-sim", "--array=" + join(blocks, ","),
                                 "--output=" + absolute((arguments.submit / "task-%a.log").string())};
  words.insert(words.end(), arguments.sbatch_options.begin(), arguments.sbatch_options.end());
  words.push_back((arguments.submit / "task.sh").string());
  return run_program(words);
}

}  // namespace

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

}  // namespace shapley::sim
