// EASY backfill: examples by hand from the words of its papers, and a witness that looks at every second.
#include "scheduling/easy.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/completion_calendar.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"

namespace shapley::scheduling {
namespace {

struct Asked {
  std::int64_t release, duration, requested;
  std::uint32_t processors;
  std::uint32_t organization = 0;
};

EasyInstance instance_of(std::vector<std::uint32_t> processors, const std::vector<Asked>& asked) {
  EasyInstance instance{.endowments = {{{0}, std::move(processors)}}, .jobs = {}, .requested = {}, .latest = {100'000}};
  for (const Asked& a : asked) {
    instance.jobs.push_back({{a.release}, {a.duration}, a.organization, a.processors});
    instance.requested.push_back({a.requested});
  }
  return instance;
}

std::vector<std::int64_t> starts(const EasyInstance& instance, Policy* policy = nullptr) {
  EXPECT_TRUE(validate(instance));
  const auto schedule = simulate_easy(instance, policy);
  if (!schedule) {
    ADD_FAILURE() << schedule.error().what;
    return {};
  }
  return schedule->start;
}

using Starts = std::vector<std::int64_t>;

// Ten processors. The second job is the head from 1 on: its shadow time is 10, when the first ends, with two extra
// processors. The third would run through the shadow time on more than these; the fourth does on just these; the fifth
// ends at the shadow time; for the sixth nothing is free.
TEST(Easy, backfills_what_ends_by_the_shadow_time_or_fits_the_extra_processors) {
  const auto instance =
      instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 8}, {2, 20, 20, 3}, {3, 20, 20, 2}, {4, 6, 6, 2}, {5, 5, 5, 1}});
  EXPECT_EQ(starts(instance), (Starts{0, 10, 20, 3, 4, 20}));
  EXPECT_EQ(simulate_easy(instance, nullptr)->backfilled, 2U);
}

TEST(Easy, a_second_beyond_the_shadow_time_is_too_long) {
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 10}, {2, 8, 8, 4}})), (Starts{0, 10, 2}));
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 10}, {2, 9, 9, 4}})), (Starts{0, 10, 20}));
}

TEST(Easy, extra_processors_are_given_once) {
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 4}, {1, 10, 10, 8}, {2, 50, 50, 2}, {2, 50, 50, 2}})),
            (Starts{0, 10, 2, 20}));
}

// What counts is what was asked for: a short job that asked for long is not backfilled, and the head starts when the
// first job ends before its time.
TEST(Easy, decides_by_requested_times) {
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 10}, {2, 1, 9, 4}})), (Starts{0, 10, 20}));
  EXPECT_EQ(starts(instance_of({10}, {{0, 5, 10, 6}, {1, 10, 10, 10}, {2, 9, 9, 4}})), (Starts{0, 5, 15}));
}

// Only the first job of the queue has a reservation: the fourth takes the extra processors of the second, and so the
// third, which could have started at 20, waits until it ends (the price of EASY against conservative backfilling).
TEST(Easy, may_delay_the_second_job_of_the_queue_but_not_the_first) {
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 6}, {2, 10, 10, 8}})), (Starts{0, 10, 20}));
  EXPECT_EQ(starts(instance_of({10}, {{0, 10, 10, 6}, {1, 10, 10, 6}, {2, 10, 10, 8}, {3, 100, 100, 4}})),
            (Starts{0, 10, 103, 3}));
}

TEST(Easy, without_anything_to_backfill_it_is_fcfs) {
  EXPECT_EQ(starts(instance_of({4}, {{0, 3, 3, 4}, {0, 3, 3, 4}, {0, 3, 3, 1}, {1, 3, 3, 3}})), (Starts{0, 3, 6, 6}));
}

TEST(Easy, passes_over_what_is_wider_than_all_processors_of_the_moment) {
  EasyInstance instance = instance_of({4}, {{0, 5, 5, 6}, {1, 5, 5, 4}, {2, 5, 5, 9}});
  EXPECT_EQ(starts(instance), (Starts{k_never_started, 1, k_never_started}));
  instance.endowments.push_back({{20}, {8}});
  EXPECT_EQ(starts(instance), (Starts{20, 1, k_never_started}));
}

TEST(Easy, what_runs_goes_on_when_its_processors_are_taken_away) {
  EasyInstance instance = instance_of({4, 4}, {{0, 30, 30, 8}, {1, 5, 5, 2}, {2, 5, 5, 4}});
  instance.endowments.push_back({{10}, {4, 0}});
  EXPECT_EQ(starts(instance), (Starts{0, 30, 35}));
}

TEST(Easy, organizations_are_served_in_the_order_of_the_policy) {
  // Organization 1 owns three quarters and has used less of it when the first jobs end.
  const EasyInstance instance = instance_of({1, 3}, {{0, 10, 10, 4, 0}, {1, 10, 10, 4, 0}, {2, 10, 10, 4, 1}});
  EXPECT_EQ(starts(instance, make_fair_share(first_instance(instance)).get()), (Starts{0, 20, 10}));
  EXPECT_EQ(starts(instance), (Starts{0, 10, 20}));
}

TEST(Easy, a_policy_that_cannot_follow_a_change_of_owners_says_so) {
  EasyInstance instance = instance_of({2, 2}, {{0, 10, 10, 4, 0}});
  instance.endowments.push_back({{5}, {1, 3}});
  const auto policy = make_fcfs(first_instance(instance));
  const auto schedule = simulate_easy(instance, policy.get());
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().code, Errc::invalid_argument);
}

TEST(Easy, a_change_of_owners_turns_the_order) {
  EasyInstance instance = instance_of({4, 0}, {{0, 10, 10, 4, 0}, {1, 10, 10, 4, 0}, {2, 10, 10, 4, 1}});
  const auto first_under = [&](auto make) {
    const auto policy = make(first_instance(instance));
    return starts(instance, policy.get());
  };
  const auto fair = [](const Instance& i) { return make_fair_share(i); };
  const auto direct = [](const Instance& i) { return make_direct_contr(i, {.identity = true}); };
  const auto rate = [](const Instance& i) { return make_shapley_rate(i, {}); };
  EXPECT_EQ(first_under(fair), (Starts{0, 10, 20})) << "who owns nothing comes last";
  instance.endowments.push_back({{5}, {0, 4}});
  EXPECT_EQ(first_under(fair), (Starts{0, 20, 10}));
  EXPECT_EQ(first_under(rate), (Starts{0, 20, 10}));
  // A run counts for the owner of its begin: so far no organization is owed anything, and ties go to the first.
  EXPECT_EQ(first_under(direct), (Starts{0, 10, 20}));
}

TEST(Easy, refuses_instances_that_make_no_sense) {
  EasyInstance instance = instance_of({4}, {{0, 5, 4, 1}});
  EXPECT_EQ(validate(instance).error().what,
            "instance: job 0: runs for longer than it requested, which the scheduler does not allow");
  instance.requested[0] = {5};
  instance.latest = {4};
  EXPECT_EQ(simulate_easy(instance, nullptr).error().code, Errc::limit);
}

TEST(Easy, psi_is_that_of_the_papers) {
  const EasyInstance instance = instance_of({2}, {{0, 3, 3, 2}, {0, 2, 2, 1}});
  // [SR13 Eq. 3] at 4: each unit part of [i, i+1) counts 4 - i: 2 * (4 + 3 + 2), and 4 - 3 of the second job's first.
  EXPECT_EQ(psi_of(instance, *simulate_easy(instance, nullptr), {4}), (std::vector<std::int64_t>{19}));
}

// ---- the witness ----

// Serves organization 0 first.
class Strict final : public PolicyOfMany {
 public:
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t, std::size_t) override { return k_any_owner; }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose_among(std::int64_t, OrganizationSet waiting, bool) override {
    std::size_t u = 0;
    while ((waiting >> u & 1U) == 0) ++u;
    return u;
  }
};

// Second by second. A job of the queue other than the first may start if the first's earliest start, read off a profile
// of all seconds to come, stays what it is: the purpose of EASY's two conditions, not their words.
class Witness {
 public:
  Witness(const EasyInstance& instance, bool by_organization)
      : instance_(instance), by_organization_(by_organization), start_(instance.jobs.size(), k_never_started) {
    for (std::int64_t t = 0; t < k_horizon / 2; ++t) second(t);
  }
  [[nodiscard]] const Starts& starts() const { return start_; }

 private:
  static constexpr std::int64_t k_horizon = 600;

  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::uint32_t m : instance_.endowments.front().processors) sum += m;
    return sum;
  }
  // Free processors at second s as far as is known at t: what still runs at t ends as it requested.
  [[nodiscard]] std::int64_t free_at(std::int64_t s, std::int64_t t) const {
    std::int64_t free = total();
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const bool runs = start_[j] != k_never_started && start_[j] + instance_.jobs[j].duration.value > t;
      if (runs && s < start_[j] + instance_.requested[j].value) free -= instance_.jobs[j].processors;
    }
    return free;
  }
  [[nodiscard]] std::int64_t earliest(std::size_t j, std::int64_t t) const {
    std::int64_t s = t;
    while (s < k_horizon && free_at(s, t) < instance_.jobs[j].processors) ++s;
    return s;
  }
  [[nodiscard]] std::vector<std::size_t> queue(std::int64_t t) const {
    std::vector<std::size_t> queue;
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const Job& job = instance_.jobs[j];
      if (start_[j] == k_never_started && job.release.value <= t && job.processors <= total()) queue.push_back(j);
    }
    std::sort(queue.begin(), queue.end(), [this](std::size_t a, std::size_t b) {
      const auto key = [this](std::size_t j) {
        const Job& job = instance_.jobs[j];
        return std::tuple(by_organization_ ? job.organization : 0U, job.release.value, j);
      };
      return key(a) < key(b);
    });
    return queue;
  }
  void second(std::int64_t t) {
    auto waiting = queue(t);
    while (!waiting.empty() && free_at(t, t) >= instance_.jobs[waiting.front()].processors) {
      start_[waiting.front()] = t;
      waiting.erase(waiting.begin());
    }
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      if (free_at(t, t) < instance_.jobs[waiting[i]].processors) continue;
      const std::int64_t before = earliest(waiting.front(), t);
      start_[waiting[i]] = t;
      if (earliest(waiting.front(), t) != before) start_[waiting[i]] = k_never_started;
    }
  }

  const EasyInstance& instance_;
  bool by_organization_;
  Starts start_;
};

// Crowded, at any size that RapidCheck asks for: many jobs at once, whose requests are often alike. Of organization 0
// and the last one.
EasyInstance any_easy_instance(std::uint32_t last = 1) {
  const auto number = [](std::int64_t from, std::int64_t to) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(from, to + 1));
  };
  EasyInstance instance{.endowments = {{{0}, {4}}}, .jobs = {}, .requested = {}, .latest = {10'000}};
  instance.endowments.front().processors.resize(last);
  instance.endowments.front().processors.push_back(4);
  const auto jobs = number(0, 16);
  for (std::int64_t j = 0; j < jobs; ++j) {
    const auto duration = number(1, 10);
    instance.jobs.push_back({{number(0, 12)},
                             {duration},
                             number(0, 1) == 0 ? 0U : last,
                             static_cast<std::uint32_t>(number(0, 3) == 0 ? number(5, 9) : number(1, 3))});
    instance.requested.push_back({duration + (number(0, 1) == 0 ? 0 : number(0, 6))});
  }
  return instance;
}

RC_GTEST_PROP(Easy, starts_what_the_witness_starts, ()) {
  const EasyInstance instance = any_easy_instance(*rc::gen::element(1U, 31U, 32U, 63U));
  RC_ASSERT(validate(instance).has_value());
  RC_ASSERT(simulate_easy(instance, nullptr)->start == Witness(instance, false).starts());
  Strict strict;
  RC_ASSERT(simulate_easy(instance, &strict)->start == Witness(instance, true).starts());
}

// At no second more is used than there is, and a job never starts before it is there.
RC_GTEST_PROP(Easy, uses_no_more_than_there_is, ()) {
  const EasyInstance instance = any_easy_instance();
  const Instance first = first_instance(instance);
  const auto policy = *rc::gen::inRange(0, 2) == 0 ? make_direct_contr(first, {}) : make_shapley_rate(first, {});
  const auto schedule = simulate_easy(instance, policy.get());
  for (std::int64_t t = 0; t < 300; ++t) {
    std::uint64_t used = 0;
    for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
      const std::int64_t start = schedule->start[j];
      if (start == k_never_started) continue;
      RC_ASSERT(start >= instance.jobs[j].release.value);
      if (start <= t && t < start + instance.jobs[j].duration.value) used += instance.jobs[j].processors;
    }
    RC_ASSERT(used <= first.total_processors());
  }
}

// ---- kinds of processors ----

KindOrder kinds_of(std::vector<std::uint32_t> kinds) {
  return KindOrder(kinds);
}

// Kind 0: four processors, kind 1: two.
EasyInstance two_kinds(const std::vector<Asked>& asked, const std::vector<KindOrder>& kinds) {
  EasyInstance instance = instance_of({6}, asked);
  instance.kinds = {{4}, {2}};
  for (std::size_t i = 0; i < kinds.size(); ++i) instance.jobs[i].kinds = kinds[i];
  return instance;
}

// The second job waits for kind 0 only: it keeps the third back there, and not the fourth, which runs on kind 1.
TEST(EasyOfKinds, a_job_waits_for_processors_of_its_kinds_only) {
  const auto instance = two_kinds({{0, 10, 10, 4}, {1, 10, 10, 3}, {2, 9, 9, 1}, {3, 50, 50, 2}, {4, 5, 5, 1}},
                                  {kinds_of({0}), kinds_of({0}), kinds_of({0}), kinds_of({1}), kinds_of({1})});
  EXPECT_EQ(starts(instance), (Starts{0, 10, 10, 3, 53}));
}

TEST(EasyOfKinds, a_job_starts_in_the_first_of_its_kinds_that_it_fits) {
  // The third job prefers kind 1, which is full; a job without kinds may use any.
  const auto instance = two_kinds({{0, 10, 10, 2}, {0, 10, 10, 2}, {0, 10, 10, 2}, {0, 10, 10, 2}},
                                  {kinds_of({1, 0}), kinds_of({}), kinds_of({1, 0}), kinds_of({0, 1})});
  EXPECT_EQ(starts(instance), (Starts{0, 0, 0, 10}));
}

TEST(EasyOfKinds, what_is_wider_than_its_kinds_never_starts) {
  EXPECT_EQ(starts(two_kinds({{0, 10, 10, 3}, {0, 10, 10, 5}, {1, 10, 10, 3}},
                             {kinds_of({1}), kinds_of({}), kinds_of({1, 0})})),
            (Starts{k_never_started, k_never_started, 1}));
}

// With two processors each, the run of organization 0 takes those of kind 1, which are all organization 1's.
TEST(EasyOfKinds, direct_contr_credits_the_owners_of_the_kind) {
  EasyInstance instance = instance_of({2, 2}, {{0, 10, 10, 2, 0}});
  instance.kinds = {{2, 0}, {0, 2}};
  instance.jobs[0].kinds = kinds_of({1});
  const auto direct = make_direct_contr(first_instance(instance), {});
  ASSERT_TRUE(simulate_easy(instance, nullptr, direct.get()));
  const auto phi = *direct->contributions(10);
  EXPECT_EQ(phi[0].numerator, 0);
  EXPECT_EQ(phi[1].numerator, 110);
}

TEST(EasyOfKinds, refuses_kinds_that_make_no_sense) {
  EasyInstance instance = two_kinds({{0, 10, 10, 1}}, {kinds_of({2})});
  EXPECT_EQ(validate(instance).error().what, "instance: job 0: there is no kind 2 of processors; kinds are 0 to 1");
  instance.jobs[0].kinds = {};
  instance.kinds[0] = {3};
  EXPECT_EQ(validate(instance).error().what,
            "instance: the processors of all kinds do not sum to what the organizations own");
  instance.kinds[0] = {4};
  instance.endowments.push_back({{5}, {6}});
  EXPECT_EQ(validate(instance).error().code, Errc::invalid_argument);
}

TEST(EasyOfKinds, ends_with_what_ends_at_its_end) {
  EasyInstance instance = instance_of({1}, {{0, 10, 10, 1}, {1, 10, 10, 1}});
  instance.until = {10};
  EXPECT_EQ(starts(instance), (Starts{0, k_never_started}));
}

// Jobs of one kind do not feel those of others: each kind is a machine of its own.
RC_GTEST_PROP(EasyOfKinds, kinds_that_no_job_shares_are_machines_apart, ()) {
  EasyInstance instance = any_easy_instance();
  instance.kinds = {{4, 0}, {0, 4}};
  std::vector<EasyInstance> apart(2, instance);
  for (std::uint32_t kind = 0; kind < 2; ++kind) {
    apart[kind].endowments.front().processors = instance.kinds[kind];
    apart[kind].kinds.clear();
    apart[kind].jobs.clear();
    apart[kind].requested.clear();
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> places;
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    const auto kind = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0U, 2U));
    instance.jobs[j].kinds = kinds_of({kind});
    places.emplace_back(kind, apart[kind].jobs.size());
    apart[kind].jobs.push_back(instance.jobs[j]);
    apart[kind].jobs.back().kinds = {};
    apart[kind].requested.push_back(instance.requested[j]);
  }
  RC_ASSERT(validate(instance).has_value());
  const auto together = simulate_easy(instance, nullptr);
  const std::vector<Starts> starts{simulate_easy(apart[0], nullptr)->start, simulate_easy(apart[1], nullptr)->start};
  for (std::size_t j = 0; j < places.size(); ++j)
    RC_ASSERT(together->start[j] == starts[places[j].first][places[j].second]);
}

// Hears how long jobs ran.
class Listener final : public Policy {
 public:
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t, std::size_t) override { return k_any_owner; }
  void completed(std::int64_t, std::size_t, std::int32_t) override { ++completed_; }
  [[nodiscard]] bool asks_run_times() const override { return true; }
  void ran(std::int64_t t, Duration duration) override {
    EXPECT_EQ(static_cast<std::int64_t>(heard_.size()), completed_);  // just before it gets the end
    heard_.emplace_back(t, duration.value);
  }
  [[nodiscard]] std::size_t choose(std::int64_t, Coalition waiting, bool) override {
    return static_cast<std::size_t>(std::countr_zero(waiting));
  }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& heard() const { return heard_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> heard_;
  std::int64_t completed_ = 0;
};

TEST(RunTimes, AreHeardOnceForEachProcessorByBothDrivers) {
  Instance instance{{2, 1}, {{{0}, {5}, 0, 2}, {{0}, {3}, 1}, {{1}, {4}, 1}, {{2}, {90}, 0}}, {50}};
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{3, 3}, {5, 5}, {5, 5}, {9, 4}};
  Listener greedy;
  (void)simulate(instance, greedy);
  EXPECT_EQ(greedy.heard(), expected);

  EasyInstance easy{{{{0}, {2, 1}}}, instance.jobs, {}, {200}};
  for (const Job& job : easy.jobs) easy.requested.push_back(job.duration);
  Listener backfilling;
  ASSERT_TRUE(simulate_easy(easy, &backfilling));
  ASSERT_EQ(backfilling.heard().size(), 5U);
  EXPECT_EQ(std::vector(backfilling.heard().begin(), backfilling.heard().end() - 1), expected);
  EXPECT_EQ(backfilling.heard().back().second, 90);
}

// The calendar against an ordered map.

RC_GTEST_PROP(CompletionCalendar, GivesWhatAnOrderedMapGives, ()) {
  CompletionCalendar calendar;
  std::multimap<std::int64_t, std::uint32_t> witness;
  std::int64_t now = 0;
  std::uint32_t label = 0;
  const auto add_some = [&] {
    const int count = *rc::gen::inRange(0, 4);
    const int alike = *rc::gen::inRange(1, 40);  // more than a chunk holds
    for (int i = 0; i < count; ++i) {
      // Near, about the wheel's turn of 2^14 s, and far.
      const std::int64_t ahead =
          *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1, 100), rc::gen::inRange<std::int64_t>(16'000, 17'000),
                          rc::gen::inRange<std::int64_t>(1, 1'000'000));
      std::vector<std::uint32_t> together;
      for (int copy = 0; copy < alike; ++copy) {
        together.push_back(label);
        witness.emplace(now + ahead, label++);
      }
      if (alike % 2 == 0) {
        calendar.add(now + ahead, together);
      } else {
        for (const std::uint32_t entry : together) calendar.add(now + ahead, entry);
      }
    }
  };
  for (int step = 0; step < 40; ++step) {
    add_some();
    RC_ASSERT(calendar.next() == (witness.empty() ? CompletionCalendar::k_never : witness.begin()->first));
    if (witness.empty()) continue;
    now = witness.begin()->first;
    std::vector<std::uint32_t> expected;
    for (const auto& [end, one] : witness) {
      if (end == now) expected.push_back(one);
    }
    witness.erase(now);
    std::vector<std::uint32_t> found;
    bool added = false;
    calendar.take(now, [&](std::uint32_t entry) {
      found.push_back(entry);
      if (!added) add_some();  // a completion starts jobs
      added = true;
    });
    std::sort(found.begin(), found.end());
    RC_ASSERT(found == expected);
  }
}

}  // namespace
}  // namespace shapley::scheduling
