// explain --submit on the books of explain_fixture.hpp: where a job would stand that is not submitted.
#include "ctl/slurm/submission.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "ctl/app.hpp"
#include "explain_fixture.hpp"
#include "ledger/reports/report.hpp"
#include "no_terminal.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

class Submission : public RankedBooks {};

// B's job 4 waits already; one more would stand beside it.
TEST_F(Submission, SaysWhereItWouldStand) {
  const ledger::SubmissionAsked asked{.account = "anything", .partition = "main", .processors = 5};
  const json would = json_of(must(ctl::explained({.submit = asked}, {.ledger = file().native()}, {})));
  const json waits = explained("4");
  for (const char* same : {"organization", "ahead", "turns", "organizations"}) EXPECT_EQ(would[same], waits[same]);
  EXPECT_EQ(would["rule"]["name"], waits["rule"]["name"]);
  EXPECT_EQ(would["job"]["state"], "hypothetical");
  EXPECT_EQ(would["job"]["processors"], 5);
  EXPECT_EQ(would["own"], (json{{"jobs", 1}, {"processors", 2}, {"longer", 1}}));
  EXPECT_TRUE(would["history"].is_null());
  // By an account above its own, and by no rule at all.
  const auto organization_of = [&](const ledger::SubmissionAsked& job) {
    return must(ctl::explained({.submit = job}, {.ledger = file().native()}, {})).job.is.organization;
  };
  EXPECT_EQ(organization_of({.account = "below", .accounts_above = {"acct_A", "root"}}), "A");
  EXPECT_EQ(organization_of({.account = "below"}), "guests");
}

TEST(SlurmThatDoesNotAnswer, IsNamedByTheCommandThatAskedIt) {
  const ProgramRunner run = [](const std::vector<std::string>& words) -> Expected<std::string> {
    return fail(Errc::unavailable, words.front() + ": no end within 5 s");
  };
  // A line that ends with "(sbatch --test-only)".
  EXPECT_EQ(test_only({.account = "a", .processors = 1}, "", run), "no end within 5 s");
  const auto parents = account_parents("", run);
  ASSERT_FALSE(parents);
  EXPECT_EQ(parents.error().what, "scontrol: no end within 5 s");
}

// As Slurm's commands find a cluster: by the slurmdbd that this host's Slurm has.
TEST(Cluster, IsAskedWhereSlurmdbdSaysThatItsSlurmctldIs) {
  std::ostringstream out;
  std::ostringstream err;
  Environment environment = no_terminal(out, err);
  std::vector<std::string> asked;
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    asked = words;
    return "north|10.0.0.1\nsouth|\nhome|127.0.0.1\n";
  };
  const auto ends_with = [&](std::vector<const char*> arguments, const std::string& words) {
    err.str("");
    arguments.insert(arguments.begin(), "shapleyctl");
    EXPECT_TRUE(ctl::run(static_cast<int>(arguments.size()), arguments.data(), environment) != ExitCode::success);
    EXPECT_PRED2(contains, err.str(), words);
  };
  ends_with({"-M", "sonth", "status"}, "shapleyctl: -M: slurmdbd has no cluster 'sonth' (did you mean south?)\n");
  EXPECT_EQ(asked.front(), "sacctmgr");
  ends_with({"status", "--cluster", "South"}, "-M: slurmdbd knows no slurmctld of 'south' that runs");
  ends_with({"-M", "north", "--timeout", "1", "status", "--socket", "/s"}, "name several places");
  // Where all of Slurm is on one host: the daemon of this host, which says whose books it has.
  environment.variable = [](const char* name) {
    return std::string(name) == "SHAPLEY_SOCKET" ? std::optional<std::string>("/nowhere/s") : std::nullopt;
  };
  ends_with({"-M", "home", "--timeout", "1", "status"}, "/nowhere/s");
  ends_with({"-M", "north", "init"}, "-M: init is about the Slurm of this host");
  ends_with({"-M", "north", "statement", "--ledger", "x.db"}, "-M asks a daemon, and --ledger reads a file");
}

TEST_F(Submission, AsksSbatchToo) {
  const json would = json_of(
      must(ctl::explained({.submit = ledger::SubmissionAsked{.account = "acct_a"}}, {.ledger = file().native()}, {})));
  json request;
  const FakeDaemon daemon(directory / "s", FakeDaemon::welcoming([&](const json& asked_for) {
                            request = asked_for;
                            return would;
                          }));
  std::vector<std::vector<std::string>> programs;
  std::string answer;
  std::string associations = "|gold|gold,normal\n";
  environment.run_program = [&](const std::vector<std::string>& words) -> Expected<std::string> {
    programs.push_back(words);
    if (std::ranges::find(words, "onlydefaults") != words.end()) return "acct_a\n";
    if (words[0] == "sacctmgr" && words.back() == "format=Partition,DefaultQOS,QOS") return associations;
    // Without the name of the cluster sacctmgr lists the accounts of all clusters of its slurmdbd.
    if (words[0] == "sacctmgr")
      return std::string("acct_a|science\nscience|root\nroot|\n") +
             (std::ranges::count(words, "cluster=north") == 1 ? "" : "acct_a|trade\ntrade|root\n");
    if (words == std::vector<std::string>{"scontrol", "show", "config"}) return "ClusterName             = north\n";
    if (words[0] == "scontrol" && words[1] == "-a")
      return "PartitionName=gpu Default=NO State=UP\nPartitionName=all Default=YES State=UP\n";
    if (!answer.empty()) return answer;
    return "sbatch: Your project has 12 days left.\nsbatch: Job 7 to start at 2026-11-18T12:00:00 using 2 processors "
           "on "
           "nodes n1 in partition main\nmore\n";
  };
  ExplainArguments arguments{
      .submit = true, .asked = {.account = "acct_a", .partition = "main", .processors = 2}, .time = "10"};
  const std::string text = printed_by(arguments, {.socket = directory / "s", .timeout = std::chrono::minutes(4)});
  EXPECT_EQ(request["submit"]["accounts_above"], (json{"science", "root"}));
  EXPECT_EQ(request["submit"]["processors"], 2);
  EXPECT_EQ(programs.back().back(), "--wrap=true");
  EXPECT_EQ(std::ranges::count(programs.back(), "--time=10"), 1);
  // What it leaves out is what Slurm makes of it.
  EXPECT_EQ(request["submit"]["partition"], "main");
  EXPECT_EQ(request["submit"]["qos"], "gold");
  const auto completed_with = [&](const std::string& rows) {
    associations = rows;
    const ledger::SubmissionAsked asked = completed({.account = "acct_a"}, "ada", environment.run_program);
    return asked.partition + " " + asked.qos;
  };
  EXPECT_EQ(completed_with("||night\n"), "all night");
  EXPECT_EQ(completed_with("||night,normal\n"), "all normal");
  EXPECT_EQ(completed_with("all|day|\ngpu|night|\n||\n"), "all day");
  EXPECT_EQ(completed_with(""), "all ");
  EXPECT_EQ(completed({}, "ada", environment.run_program).account, "acct_a") << "the default one";
  EXPECT_EQ(completed({.account = "b"}, "ada", environment.run_program).account, "b");
  EXPECT_EQ(std::ranges::count(programs.back(), "user=ada"), 1);
  EXPECT_EQ(std::ranges::count(programs.back(), "cluster=north"), 1);
  EXPECT_PRED2(contains, text, "A job submitted now (user ");
  EXPECT_PRED2(contains, text,
               ", account acct_a) would be of A: by the rule account acct_a.\nIt would wait for 1 processor.\n");
  EXPECT_PRED2(contains, text,
               "Slurm:    Job 7 to start at 2026-11-18T12:00:00Z using 2 processors on nodes n1 in partition main "
               "(sbatch --test-only)\n");
  // Without an estimate the last line says why.
  answer = "sbatch: Your project has 12 days left.\nallocation failure: Invalid account specified\n";
  EXPECT_PRED2(contains, printed_by(arguments, {.socket = directory / "s", .timeout = std::chrono::minutes(4)}),
               "Slurm:    allocation failure: Invalid account specified (sbatch --test-only)\n");
  // Without an account sbatch is given none either.
  ASSERT_TRUE(
      run_explain({.submit = true}, {.socket = directory / "s", .timeout = std::chrono::minutes(4)}, environment));
  EXPECT_EQ(request["submit"]["account"], "acct_a");
  EXPECT_TRUE(
      std::ranges::none_of(programs.back(), [](const std::string& word) { return word.starts_with("--account"); }));
  EXPECT_FALSE(run_explain({}, {}, environment)) << "neither a job nor --submit";
  EXPECT_PRED2(lacks, text, "are not known");
  const auto printed_with = [&](const std::string& configuration) {
    environment.run_program = [configuration](const std::vector<std::string>& words) -> Expected<std::string> {
      if (words[0] == "scontrol" && words[1] == "show" && !configuration.empty()) return configuration;
      return fail(Errc::unavailable, words[0] + ": no end within 5 s");
    };
    return printed_by(arguments, {.socket = directory / "s", .timeout = std::chrono::minutes(4)});
  };
  // Without them the organization may be another one's.
  EXPECT_PRED2(contains, printed_with(""), "\nSlurm's accounts are not known (scontrol: no end within 5 s): ");
  const std::string so_far = printed_with("ClusterName = north\n");
  EXPECT_PRED2(contains, so_far, " not known (sacctmgr: no end within 5 s): ");
  const std::string all = printed_with("ClusterName = north\nAccountingStorageType = accounting_storage/none\n");
  EXPECT_PRED2(lacks, all.substr(so_far.size()), "are not known");
}

}  // namespace
}  // namespace shapley::ctl
