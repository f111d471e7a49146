#include "scheduling/policies/policy.hpp"

#include <utility>

namespace shapley::scheduling {

std::string to_string(const Rational& value) {
  Int128 a = value.numerator < 0 ? -value.numerator : value.numerator;
  Int128 b = value.denominator;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  const Int128 divisor = a == 0 ? 1 : a;
  std::string text = shapley::to_string(value.numerator / divisor);
  if (value.denominator != divisor) text += "/" + shapley::to_string(value.denominator / divisor);
  return text;
}

namespace {

class OnceAPass final : public PolicyOfMany {
 public:
  explicit OnceAPass(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}

  void regards(std::uint32_t job, std::size_t kind) override { policy_->regards(job, kind); }
  void released(std::int64_t t, const Job& job) override { policy_->released(t, job); }
  std::int32_t started(std::int64_t t, std::size_t organization) override { return policy_->started(t, organization); }
  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    policy_->completed(t, organization, owner);
  }
  [[nodiscard]] bool asks_which_ended() const override { return policy_->asks_which_ended(); }
  void ended(std::int64_t t, std::size_t start) override { policy_->ended(t, start); }
  [[nodiscard]] bool asks_run_times() const override { return policy_->asks_run_times(); }
  void ran(std::int64_t t, Duration duration) override { policy_->ran(t, duration); }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool scarce) override {
    if (ordered_at_ != t) order(t, waiting, scarce);
    for (const std::size_t u : order_)
      if ((waiting >> u & 1U) != 0) return u;
    return policy_->choose_among(t, waiting, scarce);
  }

  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) override {
    return policy_->endowed(t, processors);
  }
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    return policy_->contributions(t);
  }
  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) override {
    return policy_->coalition_values(t);
  }

 private:
  void order(std::int64_t t, OrganizationSet waiting, bool scarce) {
    ordered_at_ = t;
    order_.clear();
    for (; waiting != 0; waiting &= ~(OrganizationSet{1} << order_.back()))
      order_.push_back(policy_->choose_among(t, waiting, scarce));
  }

  std::unique_ptr<Policy> policy_;
  std::vector<std::size_t> order_;  // of those who wait
  std::int64_t ordered_at_ = -1;
};

}  // namespace

std::unique_ptr<Policy> make_once_a_pass(std::unique_ptr<Policy> policy) {
  return std::make_unique<OnceAPass>(std::move(policy));
}

}  // namespace shapley::scheduling
