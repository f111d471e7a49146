#include "scheduling/consortium.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/contract.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

void add(KeyFigures& to, const KeyFigures& figures) {
  to.balance += figures.balance;
  to.given_less_got += figures.given_less_got;
  to.rate_less_used += figures.rate_less_used;
}

// The last statement of one cluster.
struct Statement {
  std::int64_t at = 0;
  std::vector<KeyFigures> figures;
};

// Ranks on one cluster.
class RanksOfCluster final : public PolicyOfMany {
 public:
  // owned: by organization, on all clusters whose figures count.
  RanksOfCluster(const ConsortiumCluster& cluster, const ConsortiumRule& rule, std::span<const Statement> others,
                 std::span<const std::uint32_t> owned)
      : policy_(*cluster.policy),
        stale_after_(rule.stale_after),
        others_(others),
        terms_(rule.serving, cluster.instance->residual),
        guaranteed_(cluster.instance->processors, rule.serving.guarantee),
        brakes_(owned, rule.serving.pace),
        used_(cluster.instance->organizations()) {}

  void released(std::int64_t t, const Job& job) override { policy_.released(t, job); }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    ++used_[organization];
    started_.push_back(organization);
    return policy_.started(t, organization);
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    --used_[organization];
    policy_.completed(t, organization, owner);
  }
  [[nodiscard]] bool asks_which_ended() const override { return policy_.asks_which_ended(); }
  void ended(std::int64_t t, std::size_t start) override {
    --used_[started_[start]];
    policy_.ended(t, start);
  }
  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running() || policy_.asks_run_times(); }
  void ran(std::int64_t t, Duration duration) override {
    terms_.ran(duration);
    if (policy_.asks_run_times()) policy_.ran(t, duration);
  }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool /*scarce*/) override {
    std::vector<KeyFigures> sum = elsewhere(t);
    const Standings own = *policy_.standings(t);
    for (std::size_t u = 0; u < sum.size(); ++u) add(sum[u], own.figures[u]);
    const game::KeyTerms& terms = terms_.now();
    const OrganizationSet first = guaranteed_.first_of(waiting, [this](std::size_t u) { return used_[u]; });
    if (brakes_.any())
      return greatest(first, [&](std::size_t u) { return brakes_.key<Int256>(u, sum[u], terms, own.scale); });
    return greatest(first, [&](std::size_t u) {
      return game::looked_ahead(sum[u].balance, sum[u].given_less_got, sum[u].rate_less_used, terms);
    });
  }

 private:
  // The sum over all other clusters, by organization.
  [[nodiscard]] std::vector<KeyFigures> elsewhere(std::int64_t t) const {
    std::vector<KeyFigures> sum(used_.size());
    for (const Statement& statement : others_) {
      const Duration age{t - statement.at};
      for (std::size_t u = 0; u < statement.figures.size(); ++u) {
        KeyFigures figures = extrapolated(statement.figures[u], std::min(age, stale_after_));
        if (age >= stale_after_) figures.rate_less_used = 0;
        add(sum[u], figures);
      }
    }
    return sum;
  }

  Policy& policy_;
  Duration stale_after_;
  std::span<const Statement> others_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::vector<std::int64_t> used_;    // by organization: processors that its jobs run on
  std::vector<std::size_t> started_;  // by start: the organization of the job
};

}  // namespace

KeyFigures extrapolated(const KeyFigures& figures, Duration h) {
  const Int128 seconds = h.value;
  return {figures.balance + seconds * figures.given_less_got + seconds * (seconds + 1) / 2 * figures.rate_less_used,
          figures.given_less_got + seconds * figures.rate_less_used, figures.rate_less_used};
}

ConsortiumResult simulate_consortium(std::span<const ConsortiumCluster> clusters, const ConsortiumRule& rule,
                                     std::span<const Instant> samples) {
  SHAPLEY_REQUIRE(rule.every.value >= 1);
  std::vector<std::vector<Statement>> known(clusters.size());  // by the cluster that knows them
  std::vector<std::unique_ptr<Policy>> ranks;
  std::vector<std::uint32_t> owned(clusters.empty() ? 0 : clusters.front().instance->organizations());
  for (const ConsortiumCluster& cluster : clusters)
    for (std::size_t u = 0; u < owned.size(); ++u) owned[u] += cluster.instance->processors[u];
  std::vector<Machine> machines;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    SHAPLEY_REQUIRE(!clusters[c].instance->has_rigid_jobs() &&
                    clusters[c].instance->organizations() == clusters.front().instance->organizations());
    for (std::size_t other = 0; rule.by_sum && other < clusters.size(); ++other)
      if (other != c) known[c].emplace_back();
    ranks.push_back(std::make_unique<RanksOfCluster>(clusters[c], rule, known[c],
                                                     rule.by_sum ? owned : clusters[c].instance->processors));
    machines.push_back({clusters[c].instance, ranks[c].get()});
  }

  ConsortiumResult result;
  std::int64_t exchanged = -1;
  const auto exchange = [&](std::int64_t at) {
    if (!rule.by_sum || at <= exchanged) return;
    exchanged = at;
    for (std::size_t from = 0; from < clusters.size(); ++from) {
      const std::vector<KeyFigures> figures = clusters[from].policy->standings(at)->figures;
      for (std::size_t to = 0; to < clusters.size(); ++to) {
        if (to == from) continue;
        Statement& statement = known[to][from - (from > to ? 1 : 0)];
        statement.at = at;
        statement.figures = figures;
      }
    }
  };
  // Nothing happens between two events, so what is stated there can be taken when the next event comes. Policies are
  // called in the order of time, for samples and exchanges, too.
  const auto before = [&](std::int64_t t) {
    const std::int64_t last = t < 1 ? -1 : (t - 1) / rule.every.value * rule.every.value;
    for (; result.standings.size() < samples.size() && samples[result.standings.size()].value < t;) {
      const std::int64_t at = samples[result.standings.size()].value;
      if (last <= at) exchange(last);
      std::vector<Standings>& sampled = result.standings.emplace_back();
      for (const ConsortiumCluster& cluster : clusters) sampled.push_back(*cluster.policy->standings(at));
    }
    exchange(last);
  };
  result.clusters = simulate_together(machines, before);
  return result;
}

}  // namespace shapley::scheduling
