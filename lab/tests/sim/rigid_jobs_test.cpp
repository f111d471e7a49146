// Rigid parallel jobs: against a witness that steps through every second, and what docs/reference promises of them.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/simulate.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::sim {
namespace {

using scheduling::Instance;
using scheduling::SimulationResult;

constexpr std::array k_any_width{"direct_contr",         "direct_contr_identity", "round_robin", "fair_share",
                                 "ut_fair_share",        "curr_fair_share",       "fcfs",        "shapley_rate",
                                 "shapley_rate_sampled", "shapley_rate_loo",      "karma",       "fair_tree"};

// As any_instance, jobs needing up to as many processors as there are.
Instance any_rigid_instance() {
  Instance instance = any_instance(4);
  const auto total = static_cast<std::uint32_t>(instance.total_processors());
  for (scheduling::Job& job : instance.jobs) job.processors = *rc::gen::inRange(1U, std::max(total, 1U) + 1);
  return instance;
}

SimulationResult simulate_by(const std::string& name, const Instance& instance) {
  const auto policy = make_policy(name, instance, {});
  return scheduling::simulate(instance, **policy);
}

// Instants at which jobs start under FCFS or round robin, second by second, from the words of simulate.hpp alone.
class RigidWitness {
 public:
  RigidWitness(const Instance& instance, bool round_robin)
      : instance_(instance), round_robin_(round_robin), start_(instance.jobs.size(), -1) {
    for (std::int64_t t = 0; t < instance.end.value; ++t) {
      for (auto job = next(t); job; job = next(t)) {
        start_[*job] = t;
        pointer_ = (instance.jobs[*job].organization + 1) % instance.organizations();
      }
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& starts() const { return start_; }

 private:
  [[nodiscard]] std::int64_t free_at(std::int64_t t) const {
    auto free = static_cast<std::int64_t>(instance_.total_processors());
    for (std::size_t j = 0; j < start_.size(); ++j) {
      if (start_[j] >= 0 && t < start_[j] + instance_.jobs[j].duration.value) free -= instance_.jobs[j].processors;
    }
    return free;
  }
  [[nodiscard]] std::optional<std::size_t> first_waiting(std::size_t u, std::int64_t t) const {
    std::optional<std::size_t> first;
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const scheduling::Job& job = instance_.jobs[j];
      if (job.organization != u || start_[j] >= 0 || job.release.value > t) continue;
      if (!first || job.release < instance_.jobs[*first].release) first = j;
    }
    return first;
  }
  [[nodiscard]] std::optional<std::size_t> next(std::int64_t t) const {
    using Rank = std::tuple<std::int64_t, std::size_t>;  // FCFS: release, position; round robin: from the pointer on
    std::optional<std::pair<Rank, std::size_t>> best;
    for (std::size_t u = 0; u < instance_.organizations(); ++u) {
      const auto job = first_waiting(u, t);
      if (!job || instance_.jobs[*job].processors > free_at(t)) continue;
      const std::size_t k = instance_.organizations();
      const Rank rank = round_robin_ ? Rank{static_cast<std::int64_t>((u + k - pointer_) % k), u}
                                     : Rank{instance_.jobs[*job].release.value, *job};
      if (!best || rank < best->first) best = {rank, *job};
    }
    return best ? std::optional(best->second) : std::nullopt;
  }

  const Instance& instance_;
  bool round_robin_;
  std::vector<std::int64_t> start_;  // by job; -1: not started
  std::size_t pointer_ = 0;
};

RC_GTEST_PROP(RigidJobs, StartWhenTheWitnessSays, ()) {
  const Instance instance = after_idle_ones(any_rigid_instance(), *rc::gen::element(0U, 30U, 60U));
  for (const bool round_robin : {false, true}) {
    const SimulationResult result = simulate_by(round_robin ? "round_robin" : "fcfs", instance);
    const RigidWitness witness(instance, round_robin);
    std::vector<std::int64_t> starts(instance.jobs.size(), -1);
    std::vector<std::int64_t> psi(instance.organizations(), 0);
    std::int64_t work = 0;
    for (const scheduling::Start& start : result.schedule) starts[start.job] = start.start.value;
    for (std::size_t j = 0; j < starts.size(); ++j) {
      const scheduling::Job& job = instance.jobs[j];
      if (witness.starts()[j] < 0) continue;
      const std::int64_t end = std::min(witness.starts()[j] + job.duration.value, instance.end.value);
      for (std::int64_t i = witness.starts()[j]; i < end; ++i) {
        psi[job.organization] += job.processors * (instance.end.value - i);
        work += job.processors;
      }
    }
    RC_ASSERT(starts == witness.starts());
    RC_ASSERT(result.psi == psi);
    RC_ASSERT(result.work == work);
    const auto utilities =
        scheduling::utilities_of(**scheduling::find_utility_function("psi_sp"), instance, result.schedule);
    RC_ASSERT(utilities == psi);
  }
}

// Greedy, in order, and never more than there is, whatever the policy.
RC_GTEST_PROP(RigidJobs, NoFirstJobWaitsThatFits, ()) {
  const Instance instance = any_rigid_instance();
  for (const char* name : k_any_width) {
    const SimulationResult result = simulate_by(name, instance);
    std::vector<std::int64_t> starts(instance.jobs.size(), instance.end.value);
    for (const scheduling::Start& start : result.schedule) starts[start.job] = start.start.value;
    for (std::int64_t t = 0; t < instance.end.value; ++t) {
      std::uint64_t busy = 0;
      std::vector<std::optional<std::size_t>> first(instance.organizations());
      for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
        const scheduling::Job& job = instance.jobs[j];
        if (starts[j] <= t && t < starts[j] + job.duration.value) busy += job.processors;
        if (job.release.value > t || t >= starts[j]) continue;
        auto& own = first[job.organization];
        if (!own || job.release < instance.jobs[*own].release) own = j;
      }
      RC_ASSERT(busy <= instance.total_processors());
      for (const auto& job : first)
        RC_ASSERT((!job || busy + instance.jobs[*job].processors > instance.total_processors()));
    }
    for (std::size_t a = 0; a < starts.size(); ++a) {
      for (std::size_t b = a + 1; b < starts.size(); ++b) {
        if (instance.jobs[a].organization != instance.jobs[b].organization) continue;
        const auto [first, second] =
            instance.jobs[a].release <= instance.jobs[b].release ? std::pair(a, b) : std::pair(b, a);
        RC_ASSERT(starts[first] <= starts[second]);
      }
    }
  }
}

// Machines and jobs all g times as wide are the sequential instance, each of its processors g times.
RC_GTEST_PROP(RigidJobs, OfOneWidthAreSequentialJobs, ()) {
  Instance sequential = any_instance(4);
  // A wide job that can never start is refused, a sequential one is not.
  if (sequential.total_processors() == 0) sequential.processors.front() = 1;
  constexpr std::uint32_t width = 2;
  Instance wide = sequential;
  for (std::uint32_t& processors : wide.processors) processors *= width;
  for (scheduling::Job& job : wide.jobs) job.processors = width;
  for (const std::string name : k_any_width) {
    if (name == "direct_contr") continue;  // draws an owner per processor
    const SimulationResult expected = simulate_by(name, sequential);
    const SimulationResult found = simulate_by(name, wide);
    RC_ASSERT(found.value == width * expected.value);
    RC_ASSERT(found.work == width * expected.work);
    RC_ASSERT(found.schedule.size() == expected.schedule.size());
    for (std::size_t i = 0; i < found.schedule.size(); ++i) {
      RC_ASSERT(found.schedule[i].job == expected.schedule[i].job);
      RC_ASSERT(found.schedule[i].start == expected.schedule[i].start);
    }
  }
}

// DirectContr gives what is got. The Shapley rate values what could run if jobs could be divided: never less.
RC_GTEST_PROP(RigidJobs, ContributionsSumToTheValueOrMore, ()) {
  const Instance instance = any_rigid_instance();
  for (const std::string name : {"direct_contr", "direct_contr_identity", "shapley_rate", "shapley_rate_sampled"}) {
    const auto policy = make_policy(name, instance, {});
    const SimulationResult result = scheduling::simulate(instance, **policy);
    const auto phi = (*policy)->contributions(instance.end.value);
    Int128 sum = 0;
    for (const scheduling::Rational& value : *phi) sum += value.numerator;
    const Int128 value = phi->front().denominator * result.value;
    RC_ASSERT((name.starts_with("direct_contr") ? sum == value : sum >= value));
  }
}

TEST(RigidJobs, AFirstJobThatDoesNotFitBlocksItsOwnOrganizationOnly) {
  // At 1 two processors are free. Organization 0's first job needs 3 and blocks its second; organization 1's fits.
  const Instance instance{.processors = {2, 1},
                          .jobs = {{{0}, {4}, 0, 1}, {{1}, {1}, 0, 3}, {{1}, {1}, 0, 1}, {{1}, {2}, 1, 2}},
                          .end = {10}};
  const SimulationResult result = simulate_by("fcfs", instance);
  std::vector<std::int64_t> starts;
  for (const scheduling::Start& start : result.schedule) starts.push_back(start.start.value);
  EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 4, 5, 1}));
}

TEST(RigidJobs, CoalitionsRefuseWithTheAlternative) {
  const Instance instance{.processors = {1, 2}, .jobs = {{{0}, {1}, 0, 2}}, .end = {9}};
  for (const char* name :
       {"ref", "rand", "coalitions_loo", "coalitions_pair", "coalitions_all", "hindsight", "hindsight_pair"}) {
    const auto policy = make_policy(name, instance, {});
    ASSERT_FALSE(policy.has_value()) << name;
    EXPECT_NE(policy.error().what.find("use shapley_rate or direct_contr"), std::string::npos) << policy.error().what;
  }
}

TEST(RigidJobs, WiderThanTheMachineIsRefused) {
  const Instance instance{.processors = {1, 2}, .jobs = {{{0}, {1}, 0, 4}}, .end = {9}};
  const auto checked = scheduling::validate(instance);
  ASSERT_FALSE(checked.has_value());
  EXPECT_NE(checked.error().what.find("job 0: needs 4 of 3 processors"), std::string::npos) << checked.error().what;
}

TEST(RigidJobs, AnInstanceFileSaysHowWide) {
  constexpr std::string_view text = R"({"machines": [2, 1], "jobs": [[0, 5, 0, 2], [1, 3, 1]], "t_end": 9})";
  const auto rigid = parse_instance_json(text, workload::ParallelJobs::rigid);
  ASSERT_TRUE(rigid.has_value()) << rigid.error().what;
  ASSERT_EQ(rigid->jobs.size(), 2U);
  EXPECT_EQ(rigid->jobs[0].processors, 2U);
  const auto copies = parse_instance_json(text);
  ASSERT_TRUE(copies.has_value()) << copies.error().what;
  ASSERT_EQ(copies->jobs.size(), 3U);
  EXPECT_FALSE(copies->has_rigid_jobs());
  EXPECT_EQ(copies->jobs[1].duration.value, 5);
  EXPECT_FALSE(parse_instance_json(R"({"machines": [2], "jobs": [[0, 5, 0, 0]], "t_end": 9})").has_value());
}

}  // namespace
}  // namespace shapley::sim
