// The laboratory's order of service beside the product's. direct_contr chooses in a random world under a rule: one that
// brakes, one that looks a horizon ahead, or the published one. State gets the same starts as events, and before each
// choice it ranks the organizations by the rule as shapleyd declares it. The laboratory's choice is the first of those
// that wait. So keys, guarantees, U and ties agree, choice by choice.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/rng.hpp"
#include "game/braking.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "tests/engines/daemon_side.hpp"

namespace shapley::engines {
namespace {

using accounting::Event;
using accounting::KeyRule;
using accounting::RankingDeclared;
using accounting::SegmentKind;
using accounting::State;
using game::Coalition;
using scheduling::Instance;
using scheduling::Job;

// A start, and what the policy was asked before it; waiting == 0: it was not asked, as one organization waited.
struct Served {
  std::int64_t at = 0;
  std::size_t organization = 0;
  std::uint32_t owner = 0;
  Coalition waiting = 0;
};

class Recorded final : public scheduling::Policy {
 public:
  explicit Recorded(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}

  void released(std::int64_t t, const Job& job) override { policy_->released(t, job); }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    const std::int32_t owner = policy_->started(t, organization);
    served_.push_back({t, organization, static_cast<std::uint32_t>(owner), std::exchange(asked_, 0)});
    return owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    policy_->completed(t, organization, owner);
  }
  [[nodiscard]] bool asks_run_times() const override { return policy_->asks_run_times(); }
  void ran(std::int64_t t, Duration duration) override { policy_->ran(t, duration); }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    asked_ = waiting;
    return policy_->choose(t, waiting, scarce);
  }
  [[nodiscard]] const std::vector<Served>& served() const { return served_; }

 private:
  std::unique_ptr<Policy> policy_;
  Coalition asked_ = 0;
  std::vector<Served> served_;
};

std::vector<Served> served_by(const Instance& instance, const game::ServingRule& rule, std::uint64_t seed) {
  Recorded policy(scheduling::make_direct_contr(instance, {.seed = seed, .rule = rule}));
  const std::size_t starts = scheduling::simulate(instance, policy).schedule.size();
  EXPECT_EQ(starts, policy.served().size());
  return policy.served();
}

RankingDeclared declared(const game::ServingRule& rule) {
  return {.at = k_epoch,
          .contribution = "direct_contr",
          .horizon = rule.horizon.value,
          .guarantee = rule.guarantee.millionths,
          .exceptions = {},
          .running_weight = rule.running.millionths,
          .rule = rule.pace == game::Pace{} ? KeyRule::horizon : KeyRule::braking};
}

// Which job each start is of: an organization's jobs start in the order of release and position.
std::vector<StartedJob> schedule_of(const Instance& instance, const std::vector<Served>& served) {
  std::vector<std::vector<std::uint32_t>> queues(instance.organizations());
  std::vector<std::uint32_t> order(instance.jobs.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return instance.jobs[i].release; });
  for (const std::uint32_t i : order) queues[instance.jobs[i].organization].push_back(i);
  std::vector<std::size_t> taken(instance.organizations());
  std::vector<StartedJob> schedule;
  for (const Served& start : served) {
    const std::uint32_t job = queues[start.organization].at(taken[start.organization]++);
    schedule.push_back({job, {start.at}, {start.owner}});
  }
  return schedule;
}

// The start that an event belongs to: that a job's wait ends, or that its run begins. nullopt: another event.
std::optional<JobId> started_by(const Event& event) {
  if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
    if (opened->key.kind == SegmentKind::run) return opened->key.job;
  }
  if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) {
    if (closed->reason == accounting::CloseReason::started) return closed->key.job;
  }
  return std::nullopt;
}

class Books {
 public:
  Books(const std::vector<Event>& events, const RankingDeclared& rule, Duration residual) : events_(events) {
    apply(rule);
    apply(accounting::ResidualMeasured{k_epoch, residual.value, 1});
    next_ = events_.begin();
  }

  // Everything up to t but the starts of t.
  void advance(Instant t) {
    for (; next_ != events_.end() && time_of(*next_) <= t; ++next_) {
      const auto job = started_by(*next_);
      if (job && time_of(*next_) == t) {
        starting_[*job].push_back(*next_);
      } else {
        apply(*next_);
      }
    }
  }
  void start(JobId job) {
    for (const Event& event : starting_.at(job)) apply(event);
    starting_.erase(job);
  }
  [[nodiscard]] State& state() { return state_; }

 private:
  void apply(const Event& event) {
    const auto applied = state_.apply(event);
    if (!applied) throw std::runtime_error(applied.error().what);
    if (*applied != accounting::Applied::changed) throw std::runtime_error(event_key(event) + ": not new");
  }

  const std::vector<Event>& events_;
  std::vector<Event>::const_iterator next_;
  std::map<JobId, std::vector<Event>> starting_;
  State state_;
};

struct World {
  Instance instance;
  game::ServingRule rule;
  std::uint64_t seed = 1;
};

std::ostream& operator<<(std::ostream& out, const World& world) {
  out << "machines";
  for (const std::uint32_t count : world.instance.processors) out << ' ' << count;
  out << ", jobs (release, duration, organization)";
  for (const Job& job : world.instance.jobs)
    out << " [" << job.release.value << ", " << job.duration.value << ", " << job.organization << ']';
  return out << ", m " << world.instance.residual.value << ", horizon " << world.rule.horizon.value << ", guarantee "
             << world.rule.guarantee.millionths << ", weight " << world.rule.running.millionths << ", pace "
             << world.rule.pace.millionths << ", seed " << world.seed;
}

// What the product ranks by `rule` beside the laboratory's choices; empty: the same everywhere. `asked`: the choices.
std::string difference(const World& world, const RankingDeclared& rule, std::size_t& asked) {
  const std::vector<Served> served = served_by(world.instance, world.rule, world.seed);
  const std::vector<StartedJob> schedule = schedule_of(world.instance, served);
  const std::vector<Run> runs = place(world.instance, schedule, {});
  const std::vector<Event> events = events_of(world.instance, runs, {});
  Books books(events, rule, world.instance.residual);
  for (std::size_t i = 0; i < served.size(); ++i) {
    const Instant t = k_epoch + Duration{served[i].at};
    books.advance(t);
    if (served[i].waiting != 0) {
      ++asked;
      const std::vector<accounting::Rank> ranks = books.state().advance(t).ranking();
      const auto waits = [&](const accounting::Rank& rank) {
        for (std::uint32_t u = 0; u < world.instance.organizations(); ++u)
          if (rank.organization == name_of(u)) return (served[i].waiting >> u & 1U) != 0;
        return false;
      };
      const auto first = std::ranges::find_if(ranks, waits);
      const std::string& chosen = name_of(static_cast<std::uint32_t>(served[i].organization));
      if (first == ranks.end() || first->organization != chosen)
        return "at " + std::to_string(served[i].at) + " the simulator serves " + chosen + ", State " +
               (first == ranks.end() ? "nothing" : first->organization);
    }
    constexpr std::uint32_t k_first_job = 1000;  // as in the events
    books.start({k_first_job + schedule[i].job});
  }
  return "";
}

game::ServingRule draw_rule() {
  const game::Guarantee guarantee{*rc::gen::element(0, 250'000, 500'000, 750'000, 1'000'000)};
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return {.horizon = {}, .guarantee = guarantee};
    case 1:
      return {.horizon = {*rc::gen::inRange<std::int64_t>(1, 100'000)},
              .guarantee = guarantee,
              .running = {*rc::gen::element(0, 100'000, 1'000'000)}};
    default:
      return {.horizon = {}, .guarantee = guarantee, .pace = game::pace_under(guarantee)};
  }
}

// Few processors, many jobs: most choices are among several, and keys are often equal.
World draw_world() {
  World world;
  const std::int64_t step = *rc::gen::element<std::int64_t>(1, 30, 3607);
  const auto organizations = *rc::gen::inRange<std::uint32_t>(1, k_names + 1);
  for (std::uint32_t u = 0; u < organizations; ++u)
    world.instance.processors.push_back(*rc::gen::inRange(u == 0 ? 1U : 0U, 6U));
  const int jobs = *rc::gen::inRange(1, 60);
  for (int j = 0; j < jobs; ++j) {
    world.instance.jobs.push_back({.release = {step * *rc::gen::inRange<std::int64_t>(0, 40)},
                                   .duration = {step * *rc::gen::inRange<std::int64_t>(1, 9)},
                                   .organization = *rc::gen::inRange(0U, organizations)});
  }
  world.instance.end = {step * 200};
  world.instance.residual = {*rc::gen::element<std::int64_t>(1, 2, 60, step, 5 * step, 100'000)};
  world.rule = draw_rule();
  world.seed = *rc::gen::arbitrary<std::uint64_t>();
  return world;
}

rc::Gen<World> any_world() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec(draw_world));
}

RC_GTEST_PROP(Orders, OfTheSimulatorAreThoseThatShapleydSends, ()) {
  const World world = *any_world();
  std::size_t asked = 0;
  RC_ASSERT(difference(world, declared(world.rule), asked) == "");
  RC_TAG(world.rule.pace == game::Pace{} ? "does not brake" : "brakes");
  RC_CLASSIFY(asked == 0, "no choice");
}

// The comparison itself is checked: choices of a rule that brakes are not those of another rule. Each of 200 worlds has
// a hundred choices or so; in some of them another organization goes first.
TEST(Orders, AnotherRuleIsFound) {
  const game::ServingRule half{.horizon = {}, .guarantee = {500'000}, .pace = game::pace_under({500'000})};
  RankingDeclared less = declared(half);
  less.guarantee = 0;
  RankingDeclared published = declared(half);
  published.rule = KeyRule::horizon;
  std::array<std::size_t, 3> worlds{};  // that differ by: the rule itself, without a guarantee, the published one
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    World world{{.processors = {3, 2, 1}, .jobs = {}, .end = {20'000}, .residual = {300}}, half, rng.below(1'000)};
    for (int j = 0; j < 100; ++j) {
      world.instance.jobs.push_back({.release = {static_cast<std::int64_t>(rng.below(3'000))},
                                     .duration = {1 + static_cast<std::int64_t>(rng.below(600))},
                                     .organization = rng.below_32(3)});
    }
    std::size_t asked = 0;
    std::size_t* differs = worlds.data();
    for (const RankingDeclared& rule : {declared(half), less, published})
      *differs++ += difference(world, rule, asked).empty() ? 0U : 1U;
    EXPECT_GT(asked, 0U);
  }
  EXPECT_EQ(worlds[0], 0U);
  EXPECT_GT(worlds[1], 100U);
  EXPECT_GT(worlds[2], 100U);
}

}  // namespace
}  // namespace shapley::engines
