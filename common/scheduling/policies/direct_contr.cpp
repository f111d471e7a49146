#include "scheduling/policies/direct_contr.hpp"

#include <algorithm>

#include "base/rng.hpp"
#include "game/accrual.hpp"
#include "scheduling/guaranteed.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

class DirectContr final : public Policy {
 public:
  DirectContr(const Instance& instance, DirectContrOptions options)
      : options_(options),
        rng_(options.seed),
        terms_(options.rule),
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
    got_[organization].change(t, 1);
    gave_[owner].change(t, 1);
    return static_cast<std::int32_t>(owner);
  }

  void completed(std::int64_t t, std::size_t organization, std::int32_t owner) override {
    if (++free_[static_cast<std::size_t>(owner)] > 0) ++free_total_;
    got_[organization].change(t, -1);
    gave_[static_cast<std::size_t>(owner)].change(t, -1);
  }

  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running(); }
  void ran(std::int64_t, Duration duration) override { terms_.ran(duration); }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    const game::KeyTerms& terms = terms_.now();
    return greatest(guaranteed_.first_of(waiting, [this](std::size_t u) { return got_[u].running; }),
                    [&](std::size_t u) { return key(u, t, terms); });
  }

  // A run that began before a processor changed hands counts for its owner of then to its end.
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    free_total_ = 0;
    for (std::size_t u = 0; u < free_.size(); ++u) {
      free_[u] = static_cast<std::int64_t>(processors[u]) - gave_[u].running;
      free_total_ += static_cast<std::uint64_t>(std::max<std::int64_t>(free_[u], 0));
    }
    guaranteed_ = Guaranteed(processors, options_.rule.guarantee);
    return true;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    std::vector<Rational> phi;
    for (const game::Accrual& gave : gave_) phi.push_back({gave.psi_at(t), 1});
    return phi;
  }

 private:
  [[nodiscard]] std::int64_t key(std::size_t u, std::int64_t t, const game::KeyTerms& terms) const {
    return game::looked_ahead(gave_[u].psi_at(t) - got_[u].psi_at(t), gave_[u].done_at(t) - got_[u].done_at(t),
                              gave_[u].running - got_[u].running, terms);
  }

  // The owner of the lowest-numbered free processor, or of one drawn among all free ones.
  [[nodiscard]] std::size_t free_owner() {
    auto draw = static_cast<std::int64_t>(options_.identity ? 0 : rng_.below(free_total_));
    std::size_t owner = 0;
    while (draw >= std::max<std::int64_t>(free_[owner], 0)) draw -= std::max<std::int64_t>(free_[owner++], 0);
    return owner;
  }

  DirectContrOptions options_;
  Rng rng_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  std::vector<game::Accrual> got_;
  std::vector<game::Accrual> gave_;
  std::vector<std::int64_t> free_;  // by owner; negative: it gives more than it owns by now
  std::uint64_t free_total_;        // of the positive ones
};

}  // namespace

std::unique_ptr<Policy> make_direct_contr(const Instance& instance, DirectContrOptions options) {
  return std::make_unique<DirectContr>(instance, options);
}

}  // namespace shapley::scheduling
