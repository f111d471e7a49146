#include "scheduling/policies/direct_contr.hpp"

#include "base/rng.hpp"
#include "game/accrual.hpp"
#include "scheduling/guaranteed.hpp"

namespace shapley::scheduling {

namespace {

class DirectContr final : public Policy {
 public:
  DirectContr(const Instance& instance, DirectContrOptions options)
      : options_(options),
        rng_(options.seed),
        guaranteed_(instance.processors, options.rule.guarantee),
        got_(instance.organizations()),
        gave_(instance.organizations()),
        free_(instance.processors.begin(), instance.processors.end()),
        free_total_(instance.total_processors()) {}

  void released(std::int64_t, const Job&) override {}

  std::int32_t started(std::int64_t t, std::size_t organization) override {
    const std::size_t owner = free_owner();
    --free_[owner];
    --free_total_;
    guaranteed_.change(organization, 1);
    got_[organization].change(t, 1);
    gave_[owner].change(t, 1);
    return static_cast<std::int32_t>(owner);
  }

  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    ++free_[static_cast<std::size_t>(owner)];
    ++free_total_;
    guaranteed_.change(organization, -1);
    got_[organization].change(t, -1);
    gave_[static_cast<std::size_t>(owner)].change(t, -1);
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    return greatest(guaranteed_.first_of(waiting), [&](std::size_t u) { return key(u, t); });
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    std::vector<Rational> phi;
    for (const game::Accrual& gave : gave_) phi.push_back({gave.psi_at(t), 1});
    return phi;
  }

 private:
  [[nodiscard]] std::int64_t key(std::size_t u, std::int64_t t) const {
    return game::frozen_ahead(gave_[u].psi_at(t) - got_[u].psi_at(t), gave_[u].done_at(t) - got_[u].done_at(t),
                              options_.rule.horizon);
  }

  // The owner of the lowest-numbered free processor, or of one drawn among all free ones.
  [[nodiscard]] std::size_t free_owner() {
    std::uint64_t draw = options_.identity ? 0 : rng_.below(free_total_);
    std::size_t owner = 0;
    while (draw >= free_[owner]) draw -= free_[owner++];
    return owner;
  }

  DirectContrOptions options_;
  Rng rng_;
  Guaranteed guaranteed_;
  std::vector<game::Accrual> got_;
  std::vector<game::Accrual> gave_;
  std::vector<std::uint64_t> free_;  // by owner
  std::uint64_t free_total_;
};

}  // namespace

std::unique_ptr<Policy> make_direct_contr(const Instance& instance, DirectContrOptions options) {
  return std::make_unique<DirectContr>(instance, options);
}

}  // namespace shapley::scheduling
