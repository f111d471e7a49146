#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/contract.hpp"
#include "base/rng.hpp"
#include "game/utility.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

class DirectContr final : public PolicyOfMany {
 public:
  DirectContr(const Instance& instance, DirectContrOptions options)
      : options_(std::move(options)),
        rng_(options_.seed),
        terms_(options_.rule, instance.residual),
        guaranteed_(instance.processors, options_.rule.guarantee),
        brakes_(instance.processors, options_.rule.pace),
        got_(instance.organizations()),
        gave_(instance.organizations()),
        free_(free_of(instance)) {}

  void regards(std::uint32_t, std::size_t kind) override { kind_ = kind; }
  void released(std::int64_t, const Job&) override {}

  std::int32_t started(std::int64_t t, std::size_t organization) override {
    const std::size_t owner = options_.taken.empty() ? free_owner() : owner_taken(t);
    --free_[kind_].of_owner[owner];
    --free_[kind_].total;
    got_[organization].change(t, 1);
    gave_[owner].change(t, 1);
    return static_cast<std::int32_t>(kind_ * gave_.size() + owner);
  }

  void completed(std::int64_t t, std::size_t organization, std::int32_t taken) override {
    Free& free = free_[static_cast<std::size_t>(taken) / gave_.size()];
    const std::size_t owner = static_cast<std::size_t>(taken) % gave_.size();
    if (++free.of_owner[owner] > 0) ++free.total;
    got_[organization].change(t, -1);
    gave_[owner].change(t, -1);
  }

  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running(); }
  void ran(std::int64_t, Duration duration) override { terms_.ran(duration); }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool /*scarce*/) override {
    const game::KeyTerms& terms = terms_.now();
    const OrganizationSet first = guaranteed_.first_of(waiting, [this](std::size_t u) { return got_[u].running; });
    if (brakes_.any())
      return greatest(first, [&](std::size_t u) { return brakes_.key<Int128>(u, figures(u, t), terms, 1); });
    return greatest(first, [&](std::size_t u) { return key(u, t, terms); });
  }

  // A run that began before a processor changed owners counts for the former owner to its end.
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    if (free_.size() > 1) return false;
    Free& free = free_.front();
    free.total = 0;
    for (std::size_t u = 0; u < free.of_owner.size(); ++u) {
      free.of_owner[u] = static_cast<std::int64_t>(processors[u]) - gave_[u].running;
      free.total += static_cast<std::uint64_t>(std::max<std::int64_t>(free.of_owner[u], 0));
    }
    guaranteed_ = Guaranteed(processors, options_.rule.guarantee);
    brakes_ = Brakes(processors, options_.rule.pace);
    return true;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    std::vector<Rational> phi;
    for (const game::Accrual& gave : gave_) phi.push_back({gave.psi_at(t), 1});
    return phi;
  }
  [[nodiscard]] std::optional<Standings> standings(std::int64_t t) override {
    Standings standings;
    for (std::size_t u = 0; u < got_.size(); ++u) standings.figures.push_back(figures(u, t));
    return standings;
  }

 private:
  // The free processors of a kind.
  struct Free {
    std::vector<std::int64_t> of_owner;  // negative: more of its processors are used than it owns by now
    std::uint64_t total = 0;             // of the positive ones
  };
  static std::vector<Free> free_of(const Instance& instance) {
    std::vector<Free> free;
    const auto add = [&free](const std::vector<std::uint32_t>& owned) {
      free.push_back({{owned.begin(), owned.end()}, std::accumulate(owned.begin(), owned.end(), std::uint64_t{0})});
    };
    for (const auto& kind : instance.kinds) add(kind);
    if (free.empty()) add(instance.processors);
    return free;
  }

  [[nodiscard]] std::int64_t key(std::size_t u, std::int64_t t, const game::KeyTerms& terms) const {
    return game::looked_ahead(gave_[u].psi_at(t) - got_[u].psi_at(t), gave_[u].done_at(t) - got_[u].done_at(t),
                              gave_[u].running - got_[u].running, terms);
  }
  [[nodiscard]] KeyFigures figures(std::size_t u, std::int64_t t) const {
    return {gave_[u].psi_at(t) - got_[u].psi_at(t), gave_[u].done_at(t) - got_[u].done_at(t),
            gave_[u].running - got_[u].running};
  }

  // The owner of the lowest-numbered free processor, or of one drawn among all free ones.
  [[nodiscard]] std::size_t free_owner() {
    const std::vector<std::int64_t>& free = free_[kind_].of_owner;
    auto draw = static_cast<std::int64_t>(options_.identity ? 0 : rng_.below(free_[kind_].total));
    std::size_t owner = 0;
    while (draw >= std::max<std::int64_t>(free[owner], 0)) draw -= std::max<std::int64_t>(free[owner++], 0);
    return owner;
  }

  // The owner of the next processor that was taken at t, and is free; else the one with the fewest free processors.
  [[nodiscard]] std::size_t owner_taken(std::int64_t t) {
    const std::vector<std::int64_t>& free = free_[kind_].of_owner;
    if (const auto now = options_.taken.find(t); now != options_.taken.end()) {
      std::vector<std::uint32_t>& owners = now->second;
      const auto next = std::ranges::find_if(owners, [&](std::uint32_t owner) { return free[owner] > 0; });
      if (next != owners.end()) {
        const std::size_t owner = *next;
        owners.erase(next);
        return owner;
      }
    }
    std::size_t fewest = free.size();
    for (std::size_t u = 0; u < free.size(); ++u) {
      if (free[u] > 0 && (fewest == free.size() || free[u] < free[fewest])) fewest = u;
    }
    return fewest;
  }

  DirectContrOptions options_;
  Rng rng_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::vector<game::Accrual> got_;
  std::vector<game::Accrual> gave_;
  std::vector<Free> free_;  // by kind
  std::size_t kind_ = 0;    // of the processors that the calls regard
};

// Contribution with a rate that changes from interval to interval, in scale-ths of a processor. Same recurrence as
// Accrual.
template <typename Integer>
struct RateAccrual {
  Integer psi = 0;
  Integer done = 0;
  void advance(std::int64_t d, Integer rate) {
    psi += d * done + static_cast<Integer>(d) * (d + 1) / 2 * rate;
    done += d * rate;
  }
};

// Integer holds scale * psi: 128 bits where the scale is k!, 64 where it is 2 (instance.hpp's validate).
template <typename Integer>
class ShapleyRate final : public PolicyOfMany {
 public:
  ShapleyRate(const Instance& instance, ShapleyRateOptions options)
      : options_(options),
        rng_(options.seed),
        terms_(options.rule, instance.residual),
        guaranteed_(instance.processors, options.rule.guarantee),
        brakes_(instance.processors, options.rule.pace),
        processors_(instance.processors.begin(), instance.processors.end()),
        total_(static_cast<std::int64_t>(instance.total_processors())),
        demand_(processors_.size()),
        own_(processors_.size()),
        gave_(processors_.size()),
        rate_(processors_.size()),
        order_(processors_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (options_.method == RateMethod::exact) {
      scale_ = static_cast<Integer>(game::factorial(processors_.size()));
      exact_.resize(processors_.size());
      values_.resize(std::size_t{1} << processors_.size());
      demands_.resize(values_.size());
      machines_.resize(values_.size());
      count_machines();
    } else {
      scale_ = 2;
    }
  }

  void released(std::int64_t t, const Job& job) override { change_demand(t, job.organization, 1); }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override {
    change_demand(t, organization, -1);
    own_[organization].change(t, -1);
  }

  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running(); }
  void ran(std::int64_t, Duration duration) override { terms_.ran(duration); }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool scarce) override {
    if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
    advance(t);
    // What is given now follows from the demands of this instant, which starts do not change.
    if (terms_.weigh_running()) know_rates();
    const game::KeyTerms& terms = terms_.now();
    const OrganizationSet first = guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; });
    if (brakes_.any())
      return greatest(first, [&](std::size_t u) { return brakes_.key<Int256>(u, figures(u, t), terms, scale_); });
    return greatest(first, [&](std::size_t u) { return key(u, t, terms); });
  }

  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) override {
    advance(t);
    processors_.assign(processors.begin(), processors.end());
    total_ = std::accumulate(processors_.begin(), processors_.end(), std::int64_t{0});
    guaranteed_ = Guaranteed(processors, options_.rule.guarantee);
    brakes_ = Brakes(processors, options_.rule.pace);
    count_machines();
    stale_ = true;
    return true;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    advance(t);
    std::vector<Rational> phi;
    for (const RateAccrual<Integer>& gave : gave_) phi.push_back({gave.psi, scale_});
    return phi;
  }
  [[nodiscard]] std::optional<Standings> standings(std::int64_t t) override {
    advance(t);
    know_rates();
    Standings standings{{}, scale_};
    for (std::size_t u = 0; u < own_.size(); ++u) standings.figures.push_back(figures(u, t));
    return standings;
  }

 private:
  // REQUIRES: advanced to t, rates known.
  [[nodiscard]] KeyFigures figures(std::size_t u, std::int64_t t) const {
    return {gave_[u].psi - scale_ * own_[u].psi_at(t), gave_[u].done - scale_ * own_[u].done_at(t),
            rate_[u] - scale_ * own_[u].running};
  }
  // The key from the books at t, the time up to which gave_ has been advanced.
  [[nodiscard]] Integer key(std::size_t u, std::int64_t t, const game::KeyTerms& terms) const {
    return game::looked_ahead<Integer>(gave_[u].psi - scale_ * own_[u].psi_at(t),
                                       gave_[u].done - scale_ * own_[u].done_at(t), rate_[u] - scale_ * own_[u].running,
                                       terms);
  }

  // Computes what every coalition owns together, for the exact method.
  void count_machines() {
    for (Coalition coalition = 1; coalition < machines_.size(); ++coalition) {
      const auto u = static_cast<std::size_t>(std::countr_zero(coalition));
      machines_[coalition] = machines_[coalition & (coalition - 1)] + processors_[u];
    }
  }

  // Several demands change at one instant; rates are computed once, when time moves on.
  void change_demand(std::int64_t t, std::size_t organization, std::int64_t by) {
    advance(t);
    demand_[organization] += by;
    demand_total_ += by;
    stale_ = true;
  }

  void advance(std::int64_t t) {
    if (t == time_) return;
    know_rates();
    for (std::size_t u = 0; u < gave_.size(); ++u) gave_[u].advance(t - time_, rate_[u]);
    time_ = t;
    if (options_.method == RateMethod::sampled) stale_ = true;  // a permutation for every interval
  }

  // Computes the rates of the interval that begins at time_.
  void know_rates() {
    if (stale_) compute_rates();
    stale_ = false;
  }

  void compute_rates() {
    switch (options_.method) {
      case RateMethod::exact:
        return exact_rates();
      case RateMethod::sampled:
        return sampled_rates();
      case RateMethod::leave_one_out:
        return leave_one_out_rates();
    }
  }

  void exact_rates() {
    // The demand of every coalition from that of the coalition without its lowest member.
    for (Coalition c = 1; c < values_.size(); ++c) {
      const auto u = static_cast<std::size_t>(std::countr_zero(c));
      demands_[c] = demands_[c & (c - 1)] + demand_[u];
      values_[c] = std::min(demands_[c], machines_[c]);
    }
    game::scaled_shapley_values_of_grand(values_, exact_);
    for (std::size_t u = 0; u < rate_.size(); ++u) rate_[u] = static_cast<Integer>(exact_[u]);
  }

  void sampled_rates() {
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[rng_.below_32(static_cast<std::uint32_t>(i))]);
    // The reverse's prefix before u is what the permutation has after u.
    std::int64_t demand_before = 0;
    std::int64_t machines_before = 0;
    for (const std::size_t u : order_) {
      const std::int64_t demand_after = demand_total_ - demand_before - demand_[u];
      const std::int64_t machines_after = total_ - machines_before - processors_[u];
      const auto value = [](std::int64_t demand, std::int64_t machines) { return std::min(demand, machines); };
      rate_[u] =
          value(demand_before + demand_[u], machines_before + processors_[u]) - value(demand_before, machines_before) +
          value(demand_after + demand_[u], machines_after + processors_[u]) - value(demand_after, machines_after);
      demand_before += demand_[u];
      machines_before += processors_[u];
    }
  }

  void leave_one_out_rates() {
    for (std::size_t u = 0; u < rate_.size(); ++u) {
      rate_[u] = std::min(demand_[u], processors_[u]) + std::min(demand_total_, total_) -
                 std::min(demand_total_ - demand_[u], total_ - processors_[u]);
    }
  }

  ShapleyRateOptions options_;
  Rng rng_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::vector<std::int64_t> processors_;
  std::int64_t total_;
  std::vector<std::int64_t> demand_;
  std::int64_t demand_total_ = 0;
  std::vector<game::Accrual> own_;
  std::vector<RateAccrual<Integer>> gave_;
  std::vector<Integer> rate_;  // in scale_-ths of a processor
  Integer scale_ = 1;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> values_, demands_, machines_;
  std::vector<Int128> exact_;
  std::int64_t time_ = 0;
  bool stale_ = true;
};

}  // namespace

std::unique_ptr<Policy> make_direct_contr(const Instance& instance, DirectContrOptions options) {
  return std::make_unique<DirectContr>(instance, std::move(options));
}

std::unique_ptr<Policy> make_shapley_rate(const Instance& instance, ShapleyRateOptions options) {
  SHAPLEY_REQUIRE(options.method != RateMethod::exact || instance.organizations() <= game::k_max_lattice_organizations);
  if (options.method == RateMethod::exact) return std::make_unique<ShapleyRate<Int128>>(instance, options);
  return std::make_unique<ShapleyRate<std::int64_t>>(instance, options);
}

}  // namespace shapley::scheduling
