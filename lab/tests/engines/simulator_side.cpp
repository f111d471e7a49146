#include "simulator_side.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"

namespace shapley::engines {

namespace {

using game::Coalition;
using scheduling::Instance;
using scheduling::Job;
using scheduling::Policy;

// Null where the chooser is one of the two that keep the accounts.
std::unique_ptr<Policy> third_policy(const Instance& instance, Chooser chooser) {
  switch (chooser) {
    case Chooser::fcfs:
      return scheduling::make_fcfs(instance);
    case Chooser::round_robin:
      return scheduling::make_round_robin(instance);
    case Chooser::ref:
      return scheduling::make_ref(instance);
    case Chooser::direct_contr:
    case Chooser::shapley_rate:
      break;
  }
  return nullptr;
}

class BothContributions final : public Policy {
 public:
  BothContributions(const Instance& instance, const Setup& setup)
      : direct_(scheduling::make_direct_contr(instance, {.identity = false, .seed = setup.seed})),
        rate_(scheduling::make_shapley_rate(instance, {.method = scheduling::RateMethod::exact, .seed = setup.seed})),
        third_(third_policy(instance, setup.chooser)),
        chooser_(third_                                   ? *third_
                 : setup.chooser == Chooser::direct_contr ? *direct_
                                                          : *rate_),
        owners_(instance.organizations()) {}

  void released(std::int64_t t, const Job& job) override {
    direct_->released(t, job);
    rate_->released(t, job);
    if (third_) third_->released(t, job);
  }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    rate_->started(t, organization);
    if (third_) third_->started(t, organization);
    const std::int32_t owner = direct_->started(t, organization);
    owners_[organization].push_back(static_cast<std::uint32_t>(owner));
    return owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    direct_->completed(t, organization, owner);
    rate_->completed(t, organization, scheduling::k_any_owner);
    if (third_) third_->completed(t, organization, scheduling::k_any_owner);
  }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    return chooser_.choose(t, waiting, scarce);
  }

  [[nodiscard]] Policy& direct() { return *direct_; }
  [[nodiscard]] Policy& rate() { return *rate_; }
  // By organization: whose processors its jobs took, in the order in which they started.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& owners() const { return owners_; }

 private:
  std::unique_ptr<Policy> direct_;
  std::unique_ptr<Policy> rate_;
  std::unique_ptr<Policy> third_;
  Policy& chooser_;
  std::vector<std::vector<std::uint32_t>> owners_;
};

}  // namespace

std::vector<StartedJob> schedule_of(const Instance& instance, const Setup& setup) {
  BothContributions policy(instance, setup);
  const scheduling::SimulationResult result = simulate(instance, policy);
  std::vector<StartedJob> schedule;
  for (const scheduling::Start& start : result.schedule) schedule.push_back({start.job, start.start, {}});

  // An organization's jobs start in the order of release and position.
  std::vector<std::size_t> order(schedule.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return instance.jobs[schedule[a].job].release < instance.jobs[schedule[b].job].release;
  });
  std::vector<std::size_t> taken(instance.organizations());
  for (const std::size_t i : order) {
    const Job& job = instance.jobs[schedule[i].job];
    const auto& owners = policy.owners()[job.organization];
    for (std::uint32_t p = 0; p < job.processors; ++p) {
      assert(taken[job.organization] < owners.size());
      schedule[i].owners.push_back(owners[taken[job.organization]++]);
    }
  }
  return schedule;
}

Account account_at(Instant t, Instance instance, const Setup& setup) {
  instance.end = t;
  BothContributions policy(instance, setup);
  scheduling::SimulationResult result = simulate(instance, policy);
  return {std::move(result.psi), *policy.direct().contributions(t.value), *policy.rate().contributions(t.value)};
}

}  // namespace shapley::engines
