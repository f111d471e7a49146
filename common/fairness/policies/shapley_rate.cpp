#include "fairness/policies/shapley_rate.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/rng.hpp"
#include "fairness/accrual.hpp"

namespace shapley::fairness {

namespace {

// Contribution with a rate that changes from interval to interval, in scale-ths of a processor. Same recurrence as
// Accrual, in 128 bits because the exact scale is k!.
struct RateAccrual {
  Int128 psi = 0;
  Int128 done = 0;
  void advance(std::int64_t d, Int128 rate) {
    psi += d * done + static_cast<Int128>(d) * (d + 1) / 2 * rate;
    done += d * rate;
  }
};

class ShapleyRate final : public Policy {
 public:
  ShapleyRate(const Instance& instance, ShapleyRateOptions options)
      : options_(options),
        rng_(options.seed),
        processors_(instance.processors.begin(), instance.processors.end()),
        total_(static_cast<std::int64_t>(instance.total_processors())),
        demand_(processors_.size()),
        own_(processors_.size()),
        gave_(processors_.size()),
        rate_(processors_.size()),
        order_(processors_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (options_.method == RateMethod::exact) {
      scale_ = factorial(processors_.size());
      values_.resize(std::size_t{1} << processors_.size());
      potentials_.resize(values_.size());
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

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    if (!scarce) return best;
    advance(t);
    Int128 best_standing = standing(best, t);
    for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const Int128 own = standing(u, t);
      if (own > best_standing) {
        best = u;
        best_standing = own;
      }
    }
    return best;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    advance(t);
    std::vector<Rational> phi;
    for (const RateAccrual& gave : gave_) phi.push_back({gave.psi, scale_});
    return phi;
  }

 private:
  [[nodiscard]] Int128 standing(std::size_t u, std::int64_t t) const {
    return gave_[u].psi - scale_ * own_[u].psi_at(t);
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
    if (stale_ || options_.method == RateMethod::sampled) compute_rates();
    stale_ = false;
    for (std::size_t u = 0; u < gave_.size(); ++u) gave_[u].advance(t - time_, rate_[u]);
    time_ = t;
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
    // Demands and processors of every coalition, each from the coalition without its lowest member.
    demands_.assign(values_.size(), 0);
    machines_.assign(values_.size(), 0);
    for (Coalition c = 1; c < values_.size(); ++c) {
      const auto u = static_cast<std::size_t>(std::countr_zero(c));
      demands_[c] = demands_[c & (c - 1)] + demand_[u];
      machines_[c] = machines_[c & (c - 1)] + processors_[u];
      values_[c] = std::min(demands_[c], machines_[c]);
    }
    scaled_potentials(values_, potentials_);
    const auto grand = static_cast<Coalition>(values_.size() - 1);
    for (std::size_t u = 0; u < rate_.size(); ++u) rate_[u] = scaled_shapley(potentials_, grand, u);
  }

  void sampled_rates() {
    rng_.shuffle(std::span(order_));
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
  std::vector<std::int64_t> processors_;
  std::int64_t total_;
  std::vector<std::int64_t> demand_;
  std::int64_t demand_total_ = 0;
  std::vector<Accrual> own_;
  std::vector<RateAccrual> gave_;
  std::vector<Int128> rate_;  // in scale_-ths of a processor
  Int128 scale_ = 1;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> values_, demands_, machines_;
  std::vector<Int128> potentials_;
  std::int64_t time_ = 0;
  bool stale_ = true;
};

}  // namespace

std::unique_ptr<Policy> make_shapley_rate(const Instance& instance, ShapleyRateOptions options) {
  return std::make_unique<ShapleyRate>(instance, options);
}

}  // namespace shapley::fairness
