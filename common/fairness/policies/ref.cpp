#include "fairness/policies/ref.hpp"

#include <bit>
#include <numeric>

#include "fairness/coalition_schedules.hpp"

namespace shapley::fairness {

namespace {

// Every coalition has its own schedule here, the grand one included; the driver's schedule repeats the grand
// coalition's, so what it reports of starts and ends adds nothing.
class Ref final : public Policy {
 public:
  explicit Ref(const Instance& instance)
      : schedules_(instance.processors, all_coalitions(instance.organizations())),
        values_(std::size_t{1} << instance.organizations()),
        potentials_(values_.size()),
        organizations_(instance.organizations()) {}

  void released(std::int64_t, const Job& job) override { schedules_.release(job, chooser()); }
  std::int32_t started(std::int64_t, std::size_t) override { return k_any_owner; }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
    schedules_.run_before(t, chooser());
    return choose_in(grand(), waiting, t);
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    schedules_.run_before(t, chooser());
    evaluate(t);
    std::vector<Rational> phi;
    for (std::size_t u = 0; u < organizations_; ++u) {
      phi.push_back({scaled_shapley(potentials_, grand(), u), factorial(organizations_)});
    }
    return phi;
  }

  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) override {
    schedules_.run_before(t, chooser());
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (std::size_t slot = 0; slot < schedules_.size(); ++slot) {
      values.emplace_back(schedules_.coalition(slot), schedules_.value_at(slot, t));
    }
    return values;
  }

 private:
  [[nodiscard]] Coalition grand() const { return static_cast<Coalition>(values_.size() - 1); }
  [[nodiscard]] CoalitionSchedules::Choose chooser() {
    return [this](std::size_t slot, Coalition waiting, std::int64_t t) {
      return choose_in(schedules_.coalition(slot), waiting, t);
    };
  }
  void evaluate(std::int64_t t) {
    if (evaluated_at_ == t) return;
    evaluated_at_ = t;
    for (std::size_t slot = 0; slot < schedules_.size(); ++slot)
      values_[schedules_.coalition(slot)] = schedules_.value_at(slot, t);
    scaled_potentials(values_, potentials_);
  }

  [[nodiscard]] std::size_t choose_in(Coalition coalition, Coalition waiting, std::int64_t t) {
    evaluate(t);
    // Q(C\u) = (|C|-1)! P(C\u), so psi is scaled alike.
    const auto scale = static_cast<Int128>(factorial(static_cast<std::size_t>(std::popcount(coalition)) - 1));
    const std::size_t slot = coalition - 1;
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    Int128 best_sum = 0;
    for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const Int128 sum = scaled_potential_without(potentials_, coalition, u) + scale * schedules_.psi_at(slot, u, t);
      if (rest == waiting || sum < best_sum) {
        best = u;
        best_sum = sum;
      }
    }
    return best;
  }

  CoalitionSchedules schedules_;
  std::vector<std::int64_t> values_;
  std::vector<Int128> potentials_;
  std::size_t organizations_;
  std::int64_t evaluated_at_ = -1;
};

}  // namespace

std::unique_ptr<Policy> make_ref(const Instance& instance) {
  return std::make_unique<Ref>(instance);
}

}  // namespace shapley::fairness
