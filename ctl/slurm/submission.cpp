#include "ctl/slurm/submission.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

namespace {

constexpr std::string_view k_estimate = " to start at ";

// A site's job_submit plugin may say something to each user before: the line with the estimate, else the last one,
// which says why there is no estimate. Its time is UTC (run_program.hpp), and says so.
std::string line_of_estimate(std::string_view answer) {
  std::string_view chosen;
  for (const std::string_view each : split(answer, '\n')) {
    const std::string_view line = trimmed(each);
    if (line.empty() || chosen.find(k_estimate) != std::string_view::npos) continue;
    chosen = line;
  }
  constexpr std::string_view k_name = "sbatch: ";
  if (chosen.starts_with(k_name)) chosen.remove_prefix(k_name.size());
  std::string line(chosen);
  const std::size_t estimate = line.find(k_estimate);
  if (estimate == std::string::npos) return line;
  const std::size_t end = std::min(line.find(' ', estimate + k_estimate.size()), line.size());
  const std::size_t time = estimate + k_estimate.size();
  return parse_instant(line.substr(time, end - time)) ? line.insert(end, "Z") : line;
}

std::string default_partition(const ProgramRunner& run) {
  const auto partitions = parse_partitions(run({"scontrol", "-a", "-o", "show", "partition"}).value_or(""));
  const auto found = std::ranges::find(partitions, true, &SlurmPartition::is_default);
  return found == partitions.end() ? std::string() : found->name;
}

// Empty: scontrol does not say it.
std::string cluster_name(const ProgramRunner& run) {
  return config_value(run({"scontrol", "show", "config"}).value_or(""), "ClusterName");
}

// The user's on this cluster; "": there is no accounting, or it knows no such user.
std::string default_account(const std::string& user, const std::string& cluster, const ProgramRunner& run) {
  const std::string output = run({"sacctmgr", "-n", "-P", "list", "associations", "cluster=" + cluster, "user=" + user,
                                  "onlydefaults", "format=Account"})
                                 .value_or("");
  return std::string(trimmed(std::string_view(output).substr(0, output.find('\n'))));
}

// As assoc_mgr_get_default_qos_info() of slurmctld. An association with a partition goes before the one without.
std::string default_qos(const ledger::SubmissionAsked& asked, const std::string& user, const std::string& cluster,
                        const ProgramRunner& run) {
  const std::string output = run({"sacctmgr", "-n", "-P", "list", "associations", "cluster=" + cluster,
                                  "account=" + asked.account, "user=" + user, "format=Partition,DefaultQOS,QOS"})
                                 .value_or("");
  std::string chosen;
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    constexpr std::size_t k_cells = 3;
    if (cells.size() != k_cells || (!cells[0].empty() && cells[0] != asked.partition)) continue;
    const bool is_only_one = !cells[2].empty() && cells[2].find(',') == std::string_view::npos;
    chosen = !cells[1].empty() ? cells[1] : is_only_one ? cells[2] : "normal";
    if (!cells[0].empty()) break;
  }
  return chosen;
}

}  // namespace

ledger::SubmissionAsked completed(ledger::SubmissionAsked asked, const std::string& user, const ProgramRunner& run) {
  if (!run) return asked;
  if (asked.partition.empty()) asked.partition = default_partition(run);
  const std::string cluster = cluster_name(run);
  if (cluster.empty() || user.empty()) return asked;
  if (asked.account.empty()) asked.account = default_account(user, cluster, run);
  if (asked.qos.empty() && !asked.account.empty()) asked.qos = default_qos(asked, user, cluster, run);
  return asked;
}

Expected<site_rules::AccountParents> account_parents(std::string cluster, const ProgramRunner& run) {
  if (!run) return fail(Errc::unavailable, "this program runs no others here");
  if (cluster.empty()) {
    const auto configuration = run({"scontrol", "show", "config"});
    if (!configuration) return fail(Errc::unavailable, configuration.error().what);
    cluster = config_value(*configuration, "ClusterName");
  }
  if (cluster.empty()) return fail(Errc::unavailable, "scontrol show config does not name the cluster; name a file");
  SHAPLEY_TRY_ASSIGN(const std::string output, run({"sacctmgr", "-n", "-P", "list", "associations",
                                                    "cluster=" + cluster, "format=Account,ParentName"}));
  std::istringstream text(output);
  return site_rules::read_account_parents(text);
}

AccountsAbove accounts_above(const std::string& account, const ProgramRunner& run) {
  if (!run) return {};
  const auto configuration = run({"scontrol", "show", "config"});
  if (!configuration) return {.unknown = configuration.error().what};
  // Without slurmdbd accounts have no parents.
  const std::string storage = config_value(*configuration, "AccountingStorageType");
  if (!storage.empty() && !storage.ends_with("slurmdbd")) return {};
  const auto parents = account_parents(config_value(*configuration, "ClusterName"), run);
  if (!parents) return {.unknown = parents.error().what};
  if (account.empty()) return {};
  return {.names = site_rules::accounts_above(*parents, account)};
}

std::optional<std::string> test_only(const ledger::SubmissionAsked& asked, const std::string& time,
                                     const ProgramRunner& run, const std::vector<std::string>& options) {
  if (!run) return std::nullopt;
  // sbatch writes its answer to its standard error. The shell's text is fixed; what users write are arguments.
  std::vector<std::string> words{"sh", "-c",          "sbatch \"$@\" 2>&1 || true",
                                 "sh", "--test-only", "--ntasks=" + std::to_string(asked.processors)};
  if (!asked.account.empty()) words.push_back("--account=" + asked.account);
  if (!asked.partition.empty()) words.push_back("--partition=" + asked.partition);
  if (!asked.qos.empty()) words.push_back("--qos=" + asked.qos);
  if (!time.empty()) words.push_back("--time=" + time);
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--wrap=true");
  const auto output = run(words);
  std::string answer = output ? *output : output.error().what;
  // What the shell did not do is what sbatch did not.
  constexpr std::string_view k_shell = "sh: ";
  if (!output && answer.starts_with(k_shell)) answer.erase(0, k_shell.size());
  return line_of_estimate(answer);
}

}  // namespace shapley::ctl
