// The policies `hindsight` and `hindsight_pair`: golden cases to the key, a witness that values every coalition from
// the first second on at every decision, and proof that no duration is looked at before the job ended.
#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "sim/json.hpp"
#include "sim/registry.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::sim {
namespace {

using game::ServingRule;
using hindsight::naive::Wide;
using scheduling::Coalition;
using scheduling::HindsightPolicy;
using scheduling::Instance;
using scheduling::Job;

struct Decision {
  std::int64_t t = 0;
  std::map<std::size_t, Int128> keys;  // of those who wait
  std::vector<std::size_t> order;      // the same, by key
  std::vector<std::size_t> started;    // organizations, in the order of the starts of that instant
};

// Passes everything on, and keeps the first choice of each instant. A job that is released has another duration there.
class Recorder final : public scheduling::Policy {
 public:
  explicit Recorder(HindsightPolicy& policy, std::uint64_t seed = 1) : policy_(policy), rng_(seed) {}

  void released(std::int64_t t, const Job& job) override {
    Job untold = job;
    untold.duration.value = 1 + static_cast<std::int64_t>(rng_.below(50));
    policy_.released(t, untold);
  }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    if (!decisions_.empty() && decisions_.back().t == t) decisions_.back().started.push_back(organization);
    return policy_.started(t, organization);
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    policy_.completed(t, organization, owner);
  }
  [[nodiscard]] bool asks_which_ended() const override { return policy_.asks_which_ended(); }
  void ended(std::int64_t t, std::size_t start) override { policy_.ended(t, start); }
  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) override {
    return policy_.endowed(t, processors);
  }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    if (scarce && (decisions_.empty() || decisions_.back().t != t)) {
      Decision decision{.t = t, .keys = {}, .order = {}, .started = {}};
      for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
        const auto u = static_cast<std::size_t>(std::countr_zero(rest));
        decision.keys[u] = policy_.keys(t)[u];
        decision.order.push_back(u);
      }
      std::stable_sort(decision.order.begin(), decision.order.end(),
                       [&](std::size_t a, std::size_t b) { return decision.keys[a] < decision.keys[b]; });
      decisions_.push_back(decision);
    }
    return policy_.choose(t, waiting, scarce);
  }
  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }

 private:
  HindsightPolicy& policy_;
  Rng rng_;
  std::vector<Decision> decisions_;
};

Json golden_case(const std::string& name) {
  std::ifstream file(std::filesystem::path(SHAPLEY_HINDSIGHT_CASES) / (name + ".json"));
  return Json::parse(file);
}

Instance instance_of(const Json& json) {
  Instance instance{json["machines"].get<std::vector<std::uint32_t>>(), {}, {json["t_end"].get<std::int64_t>()}};
  for (const Json& job : json["jobs"]) {
    instance.jobs.push_back({{job[0].get<std::int64_t>()}, {job[1].get<std::int64_t>()}, job[2].get<std::uint32_t>()});
  }
  return instance;
}

class GoldenCase : public testing::TestWithParam<const char*> {};

TEST_P(GoldenCase, AgreesInStartsUtilitiesAndKeys) {
  const Json json = golden_case(GetParam());
  const Instance instance = instance_of(json);
  const auto policy = scheduling::make_hindsight(instance);
  Recorder recorder(*policy);
  const scheduling::SimulationResult result = scheduling::simulate(instance, recorder);

  const Json& expected = json["expected"];
  EXPECT_EQ(Json(result.psi), expected["psi"]);
  Json starts = Json::array();
  for (const scheduling::Start& start : result.schedule) starts.push_back({start.job, start.start.value});
  EXPECT_EQ(starts, expected["starts"]);

  ASSERT_EQ(recorder.decisions().size(), expected["decisions"].size());
  for (std::size_t i = 0; i < recorder.decisions().size(); ++i) {
    const Decision& found = recorder.decisions()[i];
    const Json& decision = expected["decisions"][i];
    EXPECT_EQ(found.t, decision["t"]);
    Json keys = Json::object();
    for (const auto& [u, key] : found.keys) keys[std::to_string(u)] = static_cast<std::int64_t>(key);
    EXPECT_EQ(keys, decision["key"]) << "at " << found.t;
    EXPECT_EQ(Json(found.order), decision["order"]) << "at " << found.t;
    Json started = Json::array();
    for (const Json& job : decision["started"]) started.push_back(instance.jobs[job.get<std::size_t>()].organization);
    EXPECT_EQ(Json(found.started), started) << "at " << found.t;
  }
}

INSTANTIATE_TEST_SUITE_P(Hindsight, GoldenCase, testing::Values("h1_k2", "h3_k3", "h5_k5"));

// Makes the schedule second by second. At every choice each coalition's schedule is made from the first second on.
class Witness {
 public:
  struct Chosen {
    std::vector<std::int64_t> starts;  // by job; -1: did not start
    std::vector<Wide> scaled_phi;      // at the end, times scale
  };

  // phi * scale is made from v of all coalitions, the grand one included. Parts of the gap divide k_parts times that.
  static constexpr std::int64_t k_parts = 60;
  using Share = std::function<std::vector<Wide>(const std::function<Wide(Coalition)>& value)>;

  // later: owners from then on; what runs goes on.
  Witness(const Instance& instance, const ServingRule& rule, Wide scale, Share share,
          std::vector<scheduling::Endowment> later = {})
      : instance_(instance),
        later_(std::move(later)),
        rule_(rule),
        scale_(k_parts * scale),
        share_(std::move(share)),
        k_(instance.organizations()),
        starts_(instance.jobs.size(), -1) {
    for (std::size_t u = 0; u < k_; ++u) {
      facts_.capacity.push_back({0, u, instance.processors[u]});
      for (const scheduling::Endowment& endowment : later_)
        facts_.capacity.push_back(
            {endowment.at.value, u, owned(u, endowment.at.value) - owned(u, endowment.at.value - 1)});
    }
    for (const Job& job : instance.jobs)
      facts_.requests.push_back(
          {.release = job.release.value, .order = 0, .amount = 1, .organization = job.organization});
  }

  Chosen run() {
    for (std::int64_t t = 0; t < instance_.end.value; ++t) {
      apply_ends(t);
      while (free_at(t) > 0) {
        const std::vector<std::size_t> heads = heads_at(t);
        if (std::all_of(heads.begin(), heads.end(), [&](std::size_t job) { return job == k_none; })) break;
        starts_[heads[choose(t, heads)]] = t;
      }
    }
    apply_ends(instance_.end.value);
    return {starts_, scaled_phi(instance_.end.value, {})};
  }

 private:
  static constexpr std::size_t k_none = ~std::size_t{0};

  [[nodiscard]] std::int64_t owned(std::size_t u, std::int64_t t) const {
    std::int64_t processors = instance_.processors[u];
    for (const scheduling::Endowment& endowment : later_)
      if (endowment.at.value <= t) processors = endowment.processors[u];
    return processors;
  }
  [[nodiscard]] bool runs(std::size_t job, std::int64_t t) const {
    return starts_[job] >= 0 && starts_[job] <= t && t < starts_[job] + instance_.jobs[job].duration.value;
  }
  void apply_ends(std::int64_t t) {
    for (std::size_t j = 0; j < starts_.size(); ++j) {
      if (starts_[j] >= 0 && starts_[j] + instance_.jobs[j].duration.value <= t)
        facts_.requests[j].duration = instance_.jobs[j].duration.value;
    }
  }
  [[nodiscard]] std::int64_t running_of(std::size_t u, std::int64_t t) const {
    std::int64_t running = 0;
    for (std::size_t j = 0; j < starts_.size(); ++j) running += instance_.jobs[j].organization == u && runs(j, t);
    return running;
  }
  [[nodiscard]] std::int64_t free_at(std::int64_t t) const {
    std::int64_t free = 0;
    for (std::size_t u = 0; u < k_; ++u) free += owned(u, t) - running_of(u, t);
    return free;
  }
  // By organization: the job that it would start next.
  [[nodiscard]] std::vector<std::size_t> heads_at(std::int64_t t) const {
    std::vector<std::size_t> heads(k_, k_none);
    for (std::size_t j = 0; j < starts_.size(); ++j) {
      const Job& job = instance_.jobs[j];
      std::size_t& head = heads[job.organization];
      if (starts_[j] >= 0 || job.release.value > t) continue;
      if (head == k_none || job.release < instance_.jobs[head].release) head = j;
    }
    return heads;
  }
  // c of serving_order.hpp by the runs that ended.
  [[nodiscard]] std::int64_t running_factor() const {
    std::int64_t seconds = 0;
    std::int64_t squares = 0;
    for (const auto& request : facts_.requests) {
      seconds += request.duration.value_or(0);
      squares += request.duration.value_or(0) * request.duration.value_or(0);
    }
    const std::int64_t measured = seconds == 0 ? 3600 : std::max<std::int64_t>(1, squares / seconds / 2);
    const std::int64_t m = std::min(measured, rule_.horizon.value);
    return rule_.running.millionths * m * (2 * rule_.horizon.value - m) / 2'000'000;
  }
  // When schedules are seen, and how often what runs in the second that begins at t counts besides.
  struct Ahead {
    std::int64_t horizon = 0;
    std::int64_t running_factor = 0;
  };
  // psi of u, or of all, at t + horizon of what began before t.
  [[nodiscard]] Wide real(std::size_t u, std::int64_t t, const Ahead& ahead) const {
    Wide sum = 0;
    for (std::size_t j = 0; j < starts_.size(); ++j) {
      if (instance_.jobs[j].organization != u) continue;
      for (std::int64_t x = 0; x < t; ++x) sum += runs(j, x) ? t + ahead.horizon - x : 0;
      sum += runs(j, t) ? ahead.running_factor : 0;
    }
    return sum;
  }
  [[nodiscard]] Wide value(Coalition coalition, std::int64_t t, const Ahead& ahead) const {
    const hindsight::naive::Value v = hindsight::naive::value_of(facts_, coalition, t);
    const Wide running = hindsight::naive::value_of(facts_, coalition, t + 1).work - v.work;
    return v.utility + ahead.horizon * v.work + ahead.running_factor * running;
  }
  // It has processors, or a job that was released and has not ended.
  [[nodiscard]] bool is_there(std::size_t u, std::int64_t x) const {
    if (owned(u, x) > 0) return true;
    for (std::size_t j = 0; j < starts_.size(); ++j) {
      const bool has_ended = starts_[j] >= 0 && starts_[j] + instance_.jobs[j].duration.value <= x;
      if (instance_.jobs[j].organization == u && instance_.jobs[j].release.value <= x && !has_ended) return true;
    }
    return false;
  }
  [[nodiscard]] std::vector<Wide> scaled_phi(std::int64_t t, const Ahead& ahead) const {
    std::vector<Wide> phi = share_([&](Coalition c) { return value(c, t, ahead); });
    for (Wide& part : phi) part *= k_parts;
    for (std::int64_t x = 0; x <= t; ++x) {
      const auto virtual_work = [&](std::int64_t until) {
        return hindsight::naive::value_of(facts_, game::grand_coalition(k_), until).work;
      };
      Wide gap = virtual_work(x) - virtual_work(x + 1);
      std::vector<std::size_t> sharing;
      for (std::size_t u = 0; u < k_; ++u) {
        gap += running_of(u, x);
        if (is_there(u, x)) sharing.push_back(u);
      }
      gap *= x < t ? t + ahead.horizon - x : ahead.running_factor;
      for (const std::size_t u : sharing) phi[u] += scale_ / static_cast<std::int64_t>(sharing.size()) * gap;
      if (!sharing.empty()) continue;
      for (Wide& part : phi) part += scale_ / static_cast<std::int64_t>(k_) * gap;
    }
    return phi;
  }
  [[nodiscard]] std::size_t choose(std::int64_t t, const std::vector<std::size_t>& heads) const {
    const Ahead ahead{rule_.horizon.value, running_factor()};
    const std::vector<Wide> phi = scaled_phi(t, ahead);
    std::size_t best = k_none;
    bool best_below = false;
    Wide best_balance = 0;
    for (std::size_t u = 0; u < k_; ++u) {
      if (heads[u] == k_none) continue;
      const Wide balance = phi[u] - scale_ * real(u, t, ahead);
      const bool below = running_of(u, t) * 1'000'000 < std::int64_t{rule_.guarantee.millionths} * owned(u, t);
      if (best == k_none || (below && !best_below) || (below == best_below && balance > best_balance)) {
        best = u;
        best_below = below;
        best_balance = balance;
      }
    }
    return best;
  }

  const Instance& instance_;
  std::vector<scheduling::Endowment> later_;
  ServingRule rule_;
  Wide scale_;
  Share share_;
  std::size_t k_;
  std::vector<std::int64_t> starts_;
  hindsight::naive::Facts facts_;
};

// The printed Shapley value, times k!.
Witness::Share printed_shapley(std::size_t k) {
  return [k](const std::function<Wide(Coalition)>& value) {
    std::vector<Wide> values(std::size_t{1} << k);
    for (Coalition c = 1; c < values.size(); ++c) values[c] = value(c);
    std::vector<Wide> phi(k);
    for (std::size_t u = 0; u < k; ++u) {
      for (Coalition c = 0; c < values.size(); ++c) {
        if ((c >> u & 1U) != 0) continue;
        const auto size = static_cast<std::size_t>(std::popcount(c));
        phi[u] += hindsight::naive::factorial(size) * hindsight::naive::factorial(k - size - 1) *
                  (values[c | 1U << u] - values[c]);
      }
    }
    return phi;
  };
}

// The mean marginal contributions of coalition_policy.hpp, times 2 k (k-1), k >= 4.
Witness::Share printed_pairs(std::size_t k) {
  return [k](const std::function<Wide(Coalition)>& value) {
    const Coalition all = game::grand_coalition(k);
    const auto count = static_cast<std::int64_t>(k);
    std::vector<Wide> phi(k);
    for (std::size_t u = 0; u < k; ++u) {
      const Coalition self = 1U << u;
      Wide ends = value(self) + value(all) - value(all & ~self);
      Wide middle = 0;  // (k-1) (a(1) + a(k-2))
      for (std::size_t w = 0; w < k; ++w) {
        if (w == u) continue;
        const Coalition other = 1U << w;
        middle += value(self | other) - value(other) + value(all & ~other) - value(all & ~other & ~self);
      }
      phi[u] = 2 * (count - 1) * ends + (count - 2) * middle;
    }
    return phi;
  };
}

ServingRule any_rule(Rng& rng) {
  ServingRule rule;
  if (rng.below(2) == 0) rule.horizon.value = static_cast<std::int64_t>(rng.below(3) == 0 ? 1'000'000 : rng.below(12));
  constexpr std::array k_weights{100'000, 400'000, 1'000'000};
  constexpr std::array k_guarantees{300'000, 500'000, 1'000'000};
  if (rng.below(2) == 0) rule.running.millionths = k_weights[rng.below(k_weights.size())];
  if (rng.below(3) == 0) rule.guarantee.millionths = k_guarantees[rng.below(k_guarantees.size())];
  return rule;
}

// Two organizations at least, about as many processors as keep jobs waiting.
Instance contended_instance(Rng& rng, std::size_t organizations) {
  Instance instance;
  for (std::size_t u = 0; u < organizations; ++u)
    instance.processors.push_back(static_cast<std::uint32_t>(rng.below(u == 0 ? 2 : 3)) + (u == 0 ? 1 : 0));
  for (std::uint64_t j = 4 + rng.below(18); j > 0; --j) {
    instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(14))},
                             {1 + static_cast<std::int64_t>(rng.below(9))},
                             static_cast<std::uint32_t>(rng.below(organizations))});
  }
  instance.end = {8 + static_cast<std::int64_t>(rng.below(20))};
  return instance;
}

struct Found {
  std::vector<std::int64_t> starts;
  std::vector<Wide> scaled_phi;
  std::size_t decisions = 0;
};

Found run(const Instance& instance, HindsightPolicy& policy, Wide scale) {
  Recorder recorder(policy, 5);
  Found found{.starts = std::vector<std::int64_t>(instance.jobs.size(), -1), .scaled_phi = {}, .decisions = 0};
  for (const scheduling::Start& start : scheduling::simulate(instance, recorder).schedule)
    found.starts[start.job] = start.start.value;
  const auto shares = policy.contributions(instance.end.value);
  for (const scheduling::Rational& phi : *shares) found.scaled_phi.push_back(phi.numerator * scale / phi.denominator);
  found.decisions = recorder.decisions().size();
  return found;
}

TEST(Hindsight, IsWhatTheWitnessFinds) {
  std::size_t decisions = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Instance instance = contended_instance(rng, 2 + rng.below(3));
    const std::size_t k = instance.organizations();
    const ServingRule rule = any_rule(rng);
    const Wide scale = hindsight::naive::factorial(k);
    const auto policy = scheduling::make_hindsight(instance, rule);
    const Found found = run(instance, *policy, Witness::k_parts * scale);
    const Witness::Chosen expected = Witness(instance, rule, scale, printed_shapley(k)).run();
    ASSERT_EQ(found.starts, expected.starts);
    ASSERT_TRUE(found.scaled_phi == expected.scaled_phi);
    decisions += found.decisions;

    const auto pair = scheduling::make_hindsight_pair(instance, rule);  // exact up to four organizations
    const Found of_pair = run(instance, *pair, Witness::k_parts * scale);
    ASSERT_EQ(of_pair.starts, expected.starts);
    ASSERT_TRUE(of_pair.scaled_phi == expected.scaled_phi);
  }
  EXPECT_GT(decisions, 2'000U);  // otherwise nothing was tried
}

// Members join, leave and exchange processors while jobs wait and run.
TEST(Hindsight, IsWhatTheWitnessFindsWhenOwnersChange) {
  std::size_t decisions = 0;
  std::size_t left = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::size_t k = 2 + rng.below(3);
    Instance instance = contended_instance(rng, k);
    scheduling::EasyInstance easy{
        .endowments = {{{0}, instance.processors}}, .jobs = instance.jobs, .requested = {}, .latest = {10'000}};
    for (const Job& job : easy.jobs) easy.requested.push_back(job.duration);
    for (const std::int64_t at :
         {static_cast<std::int64_t>(1 + rng.below(6)), static_cast<std::int64_t>(7 + rng.below(6))}) {
      easy.endowments.push_back({{at}, std::vector<std::uint32_t>(k)});
      for (std::uint32_t& processors : easy.endowments.back().processors)
        processors = static_cast<std::uint32_t>(rng.below(4));
      easy.endowments.back().processors[rng.below(k)] = 2;
      for (std::size_t u = 0; u < k; ++u)
        left += easy.endowments.back().processors[u] == 0 && easy.endowments.end()[-2].processors[u] > 0 ? 1 : 0;
    }
    const ServingRule rule = any_rule(rng);
    const Wide scale = hindsight::naive::factorial(k);
    const auto policy = scheduling::make_hindsight(scheduling::first_instance(easy), rule);
    Recorder recorder(*policy, 5);
    const auto schedule = scheduling::simulate_easy(easy, &recorder);
    ASSERT_TRUE(schedule);
    for (std::size_t j = 0; j < easy.jobs.size(); ++j)
      instance.end = std::max(instance.end, Instant{schedule->start[j]} + easy.jobs[j].duration);
    const std::vector<scheduling::Endowment> later(easy.endowments.begin() + 1, easy.endowments.end());
    const Witness::Chosen expected = Witness(instance, rule, scale, printed_shapley(k), later).run();
    ASSERT_EQ(schedule->start, expected.starts);
    std::vector<Wide> phi;
    const auto shares = policy->contributions(instance.end.value);
    for (const scheduling::Rational& one : *shares)
      phi.push_back(one.numerator * Witness::k_parts * scale / one.denominator);
    ASSERT_TRUE(phi == expected.scaled_phi);
    decisions += recorder.decisions().size();
  }
  EXPECT_GT(decisions, 600U);
  EXPECT_GT(left, 100U);
}

TEST(HindsightPair, InterpolatesTheMeanMarginsOfFiveAndSix) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Instance instance = contended_instance(rng, 5 + rng.below(2));
    const auto k = static_cast<std::int64_t>(instance.organizations());
    const ServingRule rule = any_rule(rng);
    const auto policy = scheduling::make_hindsight_pair(instance, rule);
    const Found found = run(instance, *policy, Witness::k_parts * 2 * k * (k - 1));
    const Witness::Chosen expected =
        Witness(instance, rule, 2 * k * (k - 1), printed_pairs(instance.organizations())).run();
    ASSERT_EQ(found.starts, expected.starts);
    ASSERT_TRUE(found.scaled_phi == expected.scaled_phi);
  }
}

TEST(Hindsight, RefusesWithTheRemedy) {
  const Instance wide{std::vector<std::uint32_t>(13, 1), {}, {10}};
  const auto all = make_policy("hindsight", wide, {});
  ASSERT_FALSE(all.has_value());
  EXPECT_NE(all.error().what.find("limit of 12; use hindsight_pair"), std::string::npos) << all.error().what;
  EXPECT_TRUE(make_policy("hindsight_pair@7d/0.5", wide, {}).has_value());
}

}  // namespace
}  // namespace shapley::sim
