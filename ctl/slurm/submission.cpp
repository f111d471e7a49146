#include "ctl/slurm/submission.hpp"

#include <sstream>
#include <string_view>

#include "sacct/attribution.hpp"

namespace shapley::ctl {

std::vector<std::string> accounts_above(const std::string& account, const ProgramRunner& run) {
  if (!run) return {};
  const auto output = run({"sacctmgr", "-n", "-P", "list", "associations", "format=Account,ParentName"});
  std::istringstream text(output.value_or(""));
  return sacct::accounts_above(sacct::read_account_parents(text).value_or(sacct::AccountParents()), account);
}

std::optional<std::string> test_only(const ledger::SubmissionAsked& asked, const std::string& time,
                                     const ProgramRunner& run) {
  if (!run) return std::nullopt;
  // sbatch writes its answer to its standard error. The shell's text is fixed; what users write are arguments.
  std::vector<std::string> words{"sh",
                                 "-c",
                                 "sbatch \"$@\" 2>&1 || true",
                                 "sh",
                                 "--test-only",
                                 "--account=" + asked.account,
                                 "--ntasks=" + std::to_string(asked.processors)};
  if (!asked.partition.empty()) words.push_back("--partition=" + asked.partition);
  if (!asked.qos.empty()) words.push_back("--qos=" + asked.qos);
  if (!time.empty()) words.push_back("--time=" + time);
  words.emplace_back("--wrap=true");
  const auto output = run(words);
  std::string answer = output ? *output : output.error().what;
  answer = answer.substr(0, answer.find('\n'));
  constexpr std::string_view k_name = "sbatch: ";
  if (answer.starts_with(k_name)) answer.erase(0, k_name.size());
  return answer;
}

}  // namespace shapley::ctl
