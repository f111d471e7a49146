// The Shapley value of whole jobs on processors of several kinds: by hand, golden instances, and a witness that looks
// at every second of every coalition.
#include "sim/real_jobs.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/whole_jobs.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/input/kinds.hpp"
#include "sim/json.hpp"
#include "workload/trace_files.hpp"

namespace shapley::sim {
namespace {

using scheduling::EasyInstance;
using scheduling::Job;
using scheduling::KindOrder;
using Values = std::vector<std::int64_t>;

struct Fact {
  Job job;
  bool known = true;  // whether its duration is known
};

// By the words of the definition, second by second: v of coalition c at `end`.
std::int64_t naive_value(const std::vector<std::vector<std::uint32_t>>& owned, const std::vector<Fact>& facts,
                         std::uint32_t c, std::int64_t end) {
  std::vector<std::int64_t> free;
  for (const auto& kind : owned) {
    free.push_back(0);
    for (std::size_t u = 0; u < kind.size(); ++u)
      if ((c >> u & 1U) != 0) free.back() += kind[u];
  }
  std::vector<std::size_t> order(facts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return facts[i].job.release.value; });
  std::vector<std::int64_t> start(facts.size(), -1);
  std::vector<std::size_t> on(facts.size());
  const auto ends_at = [&](std::size_t i) {
    return facts[i].known ? start[i] + facts[i].job.duration.value : std::int64_t{1} << 50;
  };
  std::int64_t value = 0;
  for (std::int64_t t = 0; t < end; ++t) {
    for (const std::size_t i : order)
      if (start[i] >= 0 && ends_at(i) == t) free[on[i]] += facts[i].job.processors;
    for (const std::size_t i : order) {
      const Job& job = facts[i].job;
      if ((c >> job.organization & 1U) == 0 || job.release.value > t || start[i] >= 0) continue;
      job.kinds.for_each(owned.size(), [&](std::size_t kind) {
        if (start[i] >= 0 || free[kind] < job.processors) return;
        free[kind] -= job.processors;
        start[i] = t;
        on[i] = kind;
      });
    }
    // A part of this second is worth as many seconds as have passed since it began.
    for (const std::size_t i : order)
      if (start[i] >= 0 && t < ends_at(i)) value += (end - t) * facts[i].job.processors;
  }
  return value;
}

Values values_of(const std::vector<std::vector<std::uint32_t>>& owned, const std::vector<Fact>& facts,
                 std::int64_t end) {
  const auto schedules = scheduling::make_whole_schedules(owned);
  std::vector<std::uint32_t> order(facts.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return facts[i].job.release.value; });
  for (const std::uint32_t i : order) {
    schedules->released(i, facts[i].job);
    if (facts[i].known) schedules->ended(i, facts[i].job.duration);
  }
  return scheduling::values_at(schedules->at(end), end);
}

// ---- golden instances ----

struct Golden {
  std::int64_t end = 0;
  std::vector<std::vector<std::uint32_t>> owned;
  std::vector<Fact> facts;
  Values today, rigid;
};

std::vector<Golden> golden_instances() {
  std::ifstream file(SHAPLEY_KINDS);
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    Golden golden{json["T"].get<std::int64_t>(),
                  json["m"].get<std::vector<std::vector<std::uint32_t>>>(),
                  {},
                  json["today"].get<Values>(),
                  json["rigid"].get<Values>()};
    for (const auto& job : json["jobs"]) {
      const auto kind = job[4].get<std::uint32_t>();
      golden.facts.push_back({{.release = {job[0].get<std::int64_t>()},
                               .duration = {job[1].get<std::int64_t>()},
                               .organization = job[2].get<std::uint32_t>(),
                               .processors = job[3].get<std::uint32_t>(),
                               .kinds = KindOrder(std::span(&kind, 1))},
                              job[5].get<int>() == 1});
    }
    all.push_back(std::move(golden));
  }
  return all;
}

TEST(WholeJobs, golden_instances_of_two_kinds) {
  const std::vector<Golden> all = golden_instances();
  ASSERT_EQ(all.size(), 40U);
  for (const Golden& golden : all) {
    EXPECT_EQ(values_of(golden.owned, golden.facts, golden.end), golden.rigid);
    for (std::uint32_t c = 1; c < golden.rigid.size(); ++c)
      EXPECT_EQ(naive_value(golden.owned, golden.facts, c, golden.end), golden.rigid[c]);
  }
}

// Copies of one processor on one pool.
TEST(WholeJobs, golden_instances_as_copies_on_one_pool) {
  for (const Golden& golden : golden_instances()) {
    std::vector<std::uint32_t> pool(golden.owned.front().size());
    for (const auto& kind : golden.owned)
      for (std::size_t u = 0; u < pool.size(); ++u) pool[u] += kind[u];
    std::vector<Fact> copies;
    for (const Fact& fact : golden.facts) {
      Fact copy = fact;
      copy.job.processors = 1;
      copy.job.kinds = {};
      copies.insert(copies.end(), fact.job.processors, copy);
    }
    EXPECT_EQ(values_of({pool}, copies, golden.end), golden.today);
  }
}

// ---- facts that come late ----

struct Drawn {
  EasyInstance instance;
  std::int64_t end = 0;
};

Drawn any_real_jobs(Rng& rng, bool sequential) {
  const auto number = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint32_t>(from + rng.below(to - from + 1));
  };
  Drawn drawn;
  const std::size_t k = number(1, 4);
  drawn.end = number(10, 60);
  drawn.instance.kinds.resize(sequential ? 1 : number(1, 3), std::vector<std::uint32_t>(k));
  for (auto& kind : drawn.instance.kinds)
    for (std::uint32_t& processors : kind) processors = number(sequential ? 1 : 0, 4);
  const auto jobs = number(0, 40);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    Job job{.release = {number(0, static_cast<std::uint64_t>(drawn.end) - 1)},
            .duration = {number(1, 14)},
            .organization = number(0, k - 1),
            .processors = sequential ? 1 : number(1, 5)};
    const std::vector<std::uint32_t> order{1, 0};
    if (drawn.instance.kinds.size() > 1 && number(0, 2) > 0)
      job.kinds = KindOrder(std::span(order).first(number(1, 2)));
    drawn.instance.jobs.push_back(job);
    drawn.instance.requested.push_back({job.duration.value + number(0, 9)});
  }
  drawn.instance.until = {drawn.end};
  EXPECT_TRUE(scheduling::finish_kinds(drawn.instance));
  return drawn;
}

// A policy that is asked at some instants, and compares with the naive values of what is known then.
class Asker final : public scheduling::Policy {
 public:
  explicit Asker(const EasyInstance& instance)
      : instance_(instance),
        schedules_(scheduling::make_whole_schedules(instance.kinds)),
        facts_(instance.jobs.size()) {}
  void regards(std::uint32_t job, std::size_t) override { job_ = job; }
  void released(std::int64_t t, const Job& job) override {
    ask(t);
    if (std::ranges::find(order_, job_) != order_.end()) return;
    facts_[job_] = {job, false};
    order_.push_back(job_);
    schedules_->released(job_, job);
  }
  std::int32_t started(std::int64_t, std::size_t) override { return scheduling::k_any_owner; }
  void completed(std::int64_t t, std::size_t, std::int32_t) override {
    ask(t);
    if (facts_[job_].known) return;
    facts_[job_].known = true;
    schedules_->ended(job_, facts_[job_].job.duration);
  }
  [[nodiscard]] std::size_t choose(std::int64_t, game::Coalition, bool) override { return 0; }

  void ask(std::int64_t t) {
    if (t % 3 == 0) return;  // not at every instant
    std::vector<Fact> facts;
    for (const std::uint32_t job : order_) facts.push_back(facts_[job]);
    const Values values = scheduling::values_at(schedules_->at(t), t);
    for (std::uint32_t c = 1; c < values.size(); ++c)
      ASSERT_EQ(values[c], naive_value(instance_.kinds, facts, c, t)) << "coalition " << c << " at " << t;
    ++asked_;
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  const EasyInstance& instance_;
  std::unique_ptr<scheduling::CoalitionSchedules> schedules_;
  std::vector<Fact> facts_ = {};
  std::vector<std::uint32_t> order_;
  std::uint32_t job_ = 0;
  int asked_ = 0;
};

TEST(WholeJobs, schedules_are_made_again_when_durations_become_known) {
  Rng rng(7);
  int asked = 0;
  for (int i = 0; i < 150; ++i) {
    const Drawn drawn = any_real_jobs(rng, false);
    Asker asker(drawn.instance);
    ASSERT_TRUE(scheduling::simulate_easy(drawn.instance, nullptr, &asker));
    asker.ask(drawn.end);
    asked += asker.asked();
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(asked, 500);
}

// Sequential jobs on processors of one kind: hindsight, to the unit.
TEST(WholeJobs, sequential_jobs_of_one_kind_are_as_before) {
  Rng rng(11);
  for (int i = 0; i < 200; ++i) {
    const Drawn drawn = any_real_jobs(rng, true);
    const auto real = estimate_all(drawn.instance, 1);
    ASSERT_TRUE(real);
    const auto& before = real->estimates[0];
    const auto& whole = real->estimates[1];
    ASSERT_EQ(before.name, "hindsight");
    ASSERT_EQ(whole.name, "hindsight_whole");
    for (std::size_t u = 0; u < before.phi.size(); ++u) EXPECT_EQ(to_string(whole.phi[u]), to_string(before.phi[u]));
    for (const auto* ranked : {"hindsight", "fair_tree", "direct_contr"})
      EXPECT_TRUE(psi_ranked_by(ranked, drawn.instance, {}));
    EXPECT_EQ(*psi_ranked_by("hindsight", drawn.instance, {}), *psi_ranked_by("hindsight_whole", drawn.instance, {}));
  }
}

// By each rule, too; and the rules differ.
TEST(WholeJobs, sequential_jobs_of_one_kind_are_ranked_as_by_hindsight) {
  Rng rng(12);
  std::map<std::string, int> unlike;
  for (int i = 0; i < 200; ++i) {
    const Drawn drawn = any_real_jobs(rng, true);
    const Values published = *psi_ranked_by("hindsight_whole", drawn.instance, {});
    for (const std::string rule : {"@braking", "@braking/0.5", "@0/0.5", "@30s/0/1", "@braking/0.5/once"}) {
      const auto whole = psi_ranked_by("hindsight_whole" + rule, drawn.instance, {});
      ASSERT_TRUE(whole) << whole.error().what;
      EXPECT_EQ(*whole, *psi_ranked_by("hindsight" + rule, drawn.instance, {})) << rule;
      unlike[rule] += *whole == published ? 0 : 1;
    }
  }
  EXPECT_EQ(unlike.size(), 5U);
  for (const auto& [rule, count] : unlike) EXPECT_GT(count, 5) << rule;
}

// ---- by hand ----

std::string phi_of(const RealJobs& real, const std::string& name) {
  std::string text;
  for (const Estimate& estimate : real.estimates)
    for (std::size_t u = 0; estimate.name == name && u < estimate.phi.size(); ++u)
      text += (u == 0 ? "" : " ") + to_string(estimate.phi[u]);
  return text;
}

// A owns one processor, B three; A's job of four runs from 0 to 10.
TEST(WholeJobs, nobody_could_have_run_the_job_alone) {
  const auto instance = parse_easy_instance_json(R"({"machines": [1, 3], "jobs": [[0, 10, 0, 4]], "t_end": 20})");
  ASSERT_TRUE(instance) << instance.error().what;
  const auto real = estimate_all(*instance, 1);
  ASSERT_TRUE(real);
  EXPECT_EQ(real->psi, (Values{620, 0}));
  EXPECT_EQ(real->work, 40);
  EXPECT_EQ(phi_of(*real, "hindsight"), "415 205");
  EXPECT_EQ(phi_of(*real, "hindsight_whole"), "310 310");
  EXPECT_EQ(phi_of(*real, "direct_contr"), "155 465");
  EXPECT_EQ(phi_of(*real, "shares"), "155 465");
  EXPECT_EQ(to_string(real->exact.phi[0]), "310");
}

// B owns the processor of kind 1, and A's job needs it; a job of either kind prefers kind 0.
TEST(WholeJobs, kinds_decide_what_a_coalition_can_run) {
  const auto instance = parse_easy_instance_json(
      R"({"machines": [[2, 0], [0, 1]], "jobs": [[0, 5, 0, 1, 1, 9], [0, 5, 1, 1, [0, 1]], [0, 5, 1, 1, []]], "t_end": 10})");
  ASSERT_TRUE(instance) << instance.error().what;
  EXPECT_EQ(instance->requested[0].value, 9);
  const auto real = estimate_all(*instance, 1);
  ASSERT_TRUE(real);
  // One run from 0 to 5 is worth 40 at 10, one from 5 to 10 is worth 15.
  const std::vector<std::pair<game::Coalition, std::int64_t>> exact{{1, 0}, {2, 55}, {3, 120}};
  EXPECT_EQ(real->exact.values, exact);
  EXPECT_EQ(phi_of(*real, "hindsight_whole"), "65/2 175/2");
  EXPECT_EQ(alone_of(real->exact), 55);
}

TEST(WholeJobs, ranking_knows_the_policies_that_know_backfill) {
  const auto instance = parse_easy_instance_json(
      R"({"machines": [1, 1], "jobs": [[0, 5, 0, 2], [0, 5, 0, 2], [0, 5, 1, 2]], "t_end": 15})");
  ASSERT_TRUE(instance);
  EXPECT_EQ(*psi_ranked_by("fcfs", *instance, {}), (Values{130 + 80, 30}));
  EXPECT_EQ(*psi_ranked_by("exact", *instance, {}), (Values{130 + 30, 80}));
  EXPECT_EQ(*psi_ranked_by("hindsight_whole", *instance, {}), (Values{130 + 30, 80}));
  EXPECT_EQ(psi_ranked_by("ref", *instance, {}).error().code, Errc::invalid_argument);
  EXPECT_EQ(psi_ranked_by("nothing", *instance, {}).error().code, Errc::invalid_argument);
}

// ---- input ----

std::string fault_of(const std::string& text) {
  const auto instance = parse_easy_instance_json(text);
  return instance ? "" : instance.error().what;
}

TEST(WholeJobsInput, json_faults_name_place_and_remedy) {
  EXPECT_EQ(fault_of(R"({"machines": [[1, 2], [1]], "jobs": [], "t_end": 5})"),
            "machines[1]: has processors of 1 kinds, and machines[0] of 2; list a number for each kind, 0 where there "
            "are none");
  EXPECT_EQ(fault_of(R"({"machines": [[1, 2]], "jobs": [[0, 1, 0, 1, 2]], "t_end": 5})"),
            "jobs[0][4]: there is no kind 2; by machines[0], kinds are 0 to 1");
  EXPECT_EQ(fault_of(R"({"machines": [[1, 2]], "jobs": [[0, 1, 0, 1, [1, 1]]], "t_end": 5})"),
            "jobs[0][4]: kind 1 is there twice; name it once");
  EXPECT_EQ(fault_of(R"({"machines": [1], "jobs": [[0, 4, 0, 1, 0, 3]], "t_end": 5})"),
            "instance: job 0: runs for longer than it requested, which the scheduler does not allow");
  EXPECT_EQ(fault_of(R"({"machines": [1], "jobs": [[0, 4]], "t_end": 5})").substr(0, 17), "jobs[0]: expected");
  EXPECT_EQ(fault_of(R"({"machines": [], "jobs": [], "t_end": 5})"),
            "machines: no organization; list their processors");
  EXPECT_EQ(fault_of(R"({"machines": [1], "jobs": [[0, 4, 1]], "t_end": 5})"),
            "instance: job 0: organization 1 does not exist");
  EXPECT_EQ(fault_of(R"({"machines": [1], "jobs": [[0, 9223372036854775807, 0]], "t_end": 5})"),
            "instance: a duration or t_end is beyond 2^40 s; cut the trace into windows");
  // The other commands read what they read before, and name the one that reads more.
  EXPECT_EQ(parse_instance_json(R"({"machines": [[1, 2]], "jobs": [], "t_end": 5})").error().what,
            "machines[0]: expected a number of processors; `shapley-sim value` reads processors of several kinds");
  EXPECT_NE(parse_instance_json(R"({"machines": [1], "jobs": [[0, 1, 0, 1, 0]], "t_end": 5})")
                .error()
                .what.find("`shapley-sim value` reads kinds"),
            std::string::npos);
}

std::string fault_of(const KindOptions& options) {
  const auto kinds = parse_kinds(options);
  return kinds ? "" : kinds.error().what;
}

TEST(WholeJobsInput, option_faults_name_place_and_remedy) {
  EXPECT_EQ(fault_of(KindOptions{{"cpu"}, {}}), "--owned: \"cpu\": expected KIND=N,N,..., such as gpu=0,0,8");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1,x"}, {}}),
            "--owned: \"cpu=1,x\": \"x\" is no number of processors, 0 to 10,000,000");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1,2", "gpu=1"}, {}}),
            "--owned: \"gpu=1\": of another number of organizations than the kind before; write 0 for those that own "
            "none");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1", "cpu=1"}, {}}),
            "--owned: \"cpu=1\": this kind was given before; give it once");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1"}, {"long=gpu"}}),
            "--kinds: \"long=gpu\": there is no kind \"gpu\"; --owned names cpu");
  EXPECT_EQ(fault_of(KindOptions{{}, {"long=gpu"}}),
            "--kinds: \"long=gpu\": there is no kind \"gpu\"; give --owned KIND=N,N,... for each kind");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1"}, {"a=cpu", "a=cpu"}}),
            "--kinds: \"a=cpu\": this partition was given before; give it once");
  EXPECT_EQ(fault_of(KindOptions{{"cpu=1"}, {"=cpu"}}),
            "--kinds: \"=cpu\": expected PARTITION=KIND, such as gpu=gpu or all=cpu+gpu");
}

// SWF: width in column 5, limit in 9, partition in 16; the first job ran for longer than its limit.
TEST(WholeJobsInput, a_trace_gives_widths_limits_and_partitions) {
  std::istringstream text(
      "; MaxProcs: 8\n"
      "1 0 0 100 2 -1 -1 2 60 -1 1 1 1 -1 1 7 -1 -1\n"
      "2 5 0 100 3 -1 -1 3 600 -1 1 2 1 -1 1 9 -1 -1\n");
  const auto trace = workload::parse_swf(text, workload::Malformed::refuse);
  ASSERT_TRUE(trace);
  const auto window = workload::cut_window(*trace, workload::deal_users(*trace, 2, 1), {4, 4}, {0}, {50},
                                           workload::ParallelJobs::rigid);
  const auto kinds = parse_kinds({{"cpu=3,3", "gpu=1,1"}, {"9=gpu+cpu"}});
  ASSERT_TRUE(window && kinds);
  const auto instance = whole_jobs_of(*trace, *window, *kinds);
  ASSERT_TRUE(instance) << instance.error().what;
  EXPECT_EQ(instance->jobs[0].processors, 2U);
  EXPECT_TRUE(instance->jobs[0].kinds.any());
  EXPECT_EQ(instance->requested[0].value, 100);
  std::vector<std::size_t> order;
  instance->jobs[1].kinds.for_each(2, [&](std::size_t kind) { order.push_back(kind); });
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(instance->requested[1].value, 600);
  EXPECT_EQ(instance->until.value, 50);
  const auto unknown = whole_jobs_of(*trace, *window, *parse_kinds({{"cpu=4,4"}, {"8=cpu"}}));
  EXPECT_EQ(unknown.error().what, "--kinds: \"8\": the trace has no such partition; it has 7, 9");
  EXPECT_EQ(whole_jobs_of(*trace, *window, *parse_kinds({{"cpu=8"}, {}})).error().what,
            "--owned: names 1 organizations, and the window has 2; give --organizations as many");
}

TEST(WholeJobsInput, sacct_gives_limits_and_partitions) {
  std::istringstream text(
      "JobIDRaw|User|Account|Submit|ElapsedRaw|AllocCPUS|State|TimelimitRaw|Partition\n"
      "1|ann|astro|100|50|2|COMPLETED|10|gpu\n"
      "2|bob|bio|101|50|1|COMPLETED|UNLIMITED|cpu\n");
  const auto trace = workload::parse_sacct(text, workload::Malformed::refuse);
  ASSERT_TRUE(trace) << trace.error().what;
  EXPECT_EQ(trace->partitions, (std::vector<std::string>{"gpu", "cpu"}));
  EXPECT_EQ(trace->jobs[0].requested.value, 600);
  EXPECT_EQ(trace->jobs[1].requested.value, 0);
  EXPECT_EQ(trace->jobs[1].partition, 1U);
}

}  // namespace
}  // namespace shapley::sim
