#include "scheduling/whole_jobs.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/contract.hpp"
#include "game/shapley_value.hpp"
#include "hindsight/lattice_keys.hpp"
#include "hindsight/virtual_schedules.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

using hindsight::Int256;

std::vector<std::uint32_t> owned_by(const std::vector<std::uint32_t>& processors, Coalition c) {
  std::vector<std::uint32_t> owned = processors;
  for (std::size_t u = 0; u < owned.size(); ++u)
    if ((c >> u & 1U) == 0) owned[u] = 0;
  return owned;
}

// What coalition c has when it is alone.
EasyInstance alone(const EasyInstance& all, Coalition c) {
  EasyInstance instance{.endowments = all.endowments,
                        .jobs = {},
                        .requested = {},
                        .latest = all.latest,
                        .kinds = all.kinds,
                        .until = all.until};
  for (Endowment& endowment : instance.endowments) endowment.processors = owned_by(endowment.processors, c);
  for (auto& kind : instance.kinds) kind = owned_by(kind, c);
  for (std::size_t i = 0; i < all.jobs.size(); ++i) {
    if ((c >> all.jobs[i].organization & 1U) == 0) continue;
    instance.jobs.push_back(all.jobs[i]);
    instance.requested.push_back(all.requested[i]);
  }
  return instance;
}

// In hindsight, by the schedules that shapleyd has, too.
class WholeSchedules final : public CoalitionSchedules {
 public:
  explicit WholeSchedules(const std::vector<std::vector<std::uint32_t>>& kinds)
      : kinds_(kinds.size()),
        schedules_(kinds.front().size(), all_coalitions(kinds.front().size())),
        at_(std::size_t{1} << kinds.front().size()) {
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      for (std::size_t u = 0; u < kinds[kind].size(); ++u)
        schedules_.change_capacity(u, 0, kinds[kind][u], static_cast<hindsight::Kind>(kind));
    }
  }
  void released(std::uint32_t number, const Job& job) override {
    hindsight::Form form{.kinds = {}, .width = job.processors};
    job.kinds.for_each(kinds_, [&](std::uint32_t kind) { form.kinds.push_back(static_cast<hindsight::Kind>(kind)); });
    requests_[number] = schedules_.add(job.organization, job.release.value, job.processors, requests_.size(), form);
  }
  void ended(std::uint32_t number, Duration ran) override { schedules_.ended(requests_.at(number), ran.value); }
  [[nodiscard]] const std::vector<game::Accrual>& at(std::int64_t t) override {
    (void)schedules_.advance(t + 1);
    for (std::size_t c = 1; c < at_.size(); ++c)
      at_[c] = {schedules_.utility(c - 1, t), schedules_.work(c - 1, t), schedules_.running(c - 1), t};
    return at_;
  }

 private:
  static std::vector<Coalition> all_coalitions(std::size_t organizations) {
    SHAPLEY_REQUIRE(0 < organizations && organizations <= k_exact_organizations);
    std::vector<Coalition> all((std::size_t{1} << organizations) - 1);
    std::iota(all.begin(), all.end(), Coalition{1});
    return all;
  }

  std::size_t kinds_;
  hindsight::VirtualSchedules<std::int64_t> schedules_;  // by coalition, from 1 on
  std::map<std::uint32_t, hindsight::Request> requests_;
  std::vector<game::Accrual> at_;
};

// Serves the greatest phi - psi, as the rule says.
class ByValues : public Policy {
 public:
  ByValues(const Instance& instance, const game::ServingRule& rule)
      : terms_(rule, instance.residual),
        guaranteed_(instance.processors, rule.guarantee),
        brakes_(instance.processors, rule.pace),
        own_(instance.organizations()),
        phi_(instance.organizations()),
        given_(instance.organizations()),
        scale_(game::factorial(instance.organizations())) {}
  void regards(std::uint32_t job, std::size_t) final { regarded_ = job; }
  std::int32_t started(std::int64_t t, std::size_t organization) final {
    own_[organization].change(t, 1);
    begun_.emplace_back(organization, t);
    if (terms_.weigh_running()) seen_at_ = -1;
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) final {}
  [[nodiscard]] bool asks_which_ended() const final { return true; }
  void ended(std::int64_t t, std::size_t start) final {
    const auto& [organization, began] = begun_[start];
    own_[organization].change(t, -1);
    if (terms_.weigh_running()) terms_.ran({t - began});
    learn(regarded_, {t - began});
  }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final {
    if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
    const Coalition first = guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; });
    const game::KeyTerms& terms = terms_.now();
    if (seen_at_ != t) see(t, terms);
    seen_at_ = t;
    const auto key = [&](std::size_t u) { return phi_[u] - scale_ * ahead_of(own_[u], t, terms); };
    if (!brakes_.any()) return greatest(first, key);
    return greatest(first, [&](std::size_t u) {
      return brakes_.key<Int256>(u, key(u), given_[u] - scale_ * work_ahead_of(own_[u], t, terms), scale_);
    });
  }
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) final {
    see(t, {});
    seen_at_ = -1;
    std::vector<Rational> phi;
    for (const Int128& each : phi_) phi.push_back({each, scale_});
    return phi;
  }
  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) final {
    const std::vector<std::int64_t> values = values_at(coalitions_at(t), t);
    std::vector<std::pair<Coalition, std::int64_t>> by_mask;
    for (Coalition c = 1; c < values.size(); ++c) by_mask.emplace_back(c, values[c]);
    return by_mask;
  }

 protected:
  [[nodiscard]] std::uint32_t regarded() const { return regarded_; }
  virtual void learn(std::uint32_t job, Duration ran) = 0;
  [[nodiscard]] virtual const std::vector<game::Accrual>& coalitions_at(std::int64_t t) = 0;

 private:
  static std::int64_t ahead_of(const game::Accrual& of, std::int64_t t, const game::KeyTerms& terms) {
    return game::looked_ahead(of.psi_at(t), of.done_at(t), of.running, terms);
  }
  static std::int64_t work_ahead_of(const game::Accrual& of, std::int64_t t, const game::KeyTerms& terms) {
    return game::frozen_ahead(of.done_at(t), of.running, terms.horizon);
  }
  // phi with the terms of the key, and the work behind it. With what was really done as v(N): the gap is shared
  // equally.
  void see(std::int64_t t, const game::KeyTerms& terms) {
    const std::vector<game::Accrual>& coalitions = coalitions_at(t);
    share_out(coalitions, phi_, [&](const game::Accrual& of) { return ahead_of(of, t, terms); });
    if (brakes_.any())
      share_out(coalitions, given_, [&](const game::Accrual& of) { return work_ahead_of(of, t, terms); });
  }
  template <typename Measure>
  void share_out(const std::vector<game::Accrual>& coalitions, std::vector<Int128>& shares,
                 const Measure& measure) const {
    std::vector<std::int64_t> values(coalitions.size());
    std::ranges::transform(coalitions, values.begin(), measure);
    values.back() = 0;
    for (const game::Accrual& own : own_) values.back() += measure(own);
    game::scaled_shapley_values_of_grand(values, shares);
  }

  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  std::vector<game::Accrual> own_;
  std::vector<std::pair<std::size_t, std::int64_t>> begun_;  // organization and start, of every processor started on
  std::vector<Int128> phi_;                                  // in scale_-ths, as given_
  std::vector<Int128> given_;
  Int128 scale_;
  std::uint32_t regarded_ = 0;
  std::int64_t seen_at_ = -1;
};

class HindsightWhole final : public ByValues {
 public:
  HindsightWhole(const Instance& instance, std::unique_ptr<CoalitionSchedules> schedules, const game::ServingRule& rule)
      : ByValues(instance, rule), schedules_(std::move(schedules)) {}
  // Called for each of its processors.
  void released(std::int64_t, const Job& job) override {
    if (known_.insert(regarded()).second) schedules_->released(regarded(), job);
  }

 private:
  void learn(std::uint32_t job, Duration ran) override {
    if (known_.erase(job) == 1) schedules_->ended(job, ran);
  }
  [[nodiscard]] const std::vector<game::Accrual>& coalitions_at(std::int64_t t) override { return schedules_->at(t); }

  std::unique_ptr<CoalitionSchedules> schedules_;
  std::set<std::uint32_t> known_;  // jobs that were released, and have not ended
};

class Exact final : public ByValues {
 public:
  Exact(const Instance& instance, ExactValues values, const game::ServingRule& rule)
      : ByValues(instance, rule), values_(std::move(values)) {}
  void released(std::int64_t, const Job&) override {}

 private:
  void learn(std::uint32_t, Duration) override {}
  [[nodiscard]] const std::vector<game::Accrual>& coalitions_at(std::int64_t t) override { return values_.at(t); }

  ExactValues values_;
};

}  // namespace

Expected<ExactValues> ExactValues::of(const EasyInstance& instance) {
  const std::size_t k = instance.endowments.front().processors.size();
  if (k > k_exact_organizations) {
    return fail(Errc::limit, "the exact value: " + std::to_string(k) + " organizations exceed its limit of " +
                                 std::to_string(k_exact_organizations) + "; merge small organizations");
  }
  ExactValues exact;
  exact.done_.resize(std::size_t{1} << k);
  exact.schedules_.resize(exact.done_.size());
  for (Coalition c = 1; c < exact.done_.size(); ++c) {
    const EasyInstance of_coalition = alone(instance, c);
    SHAPLEY_TRY_ASSIGN(const EasySchedule schedule, simulate_easy(of_coalition, nullptr));
    std::vector<Change>& changes = exact.schedules_[c].changes;
    for (std::size_t i = 0; i < of_coalition.jobs.size(); ++i) {
      const Job& job = of_coalition.jobs[i];
      if (schedule.start[i] == k_never_started) continue;
      changes.push_back({schedule.start[i], job.processors});
      changes.push_back({schedule.start[i] + job.duration.value, -std::int64_t{job.processors}});
    }
    std::ranges::stable_sort(changes, {}, &Change::at);
  }
  return exact;
}

const std::vector<game::Accrual>& ExactValues::at(std::int64_t t) {
  for (std::size_t c = 1; c < done_.size(); ++c) {
    Schedule& schedule = schedules_[c];
    for (; schedule.next < schedule.changes.size() && schedule.changes[schedule.next].at <= t; ++schedule.next)
      done_[c].change(schedule.changes[schedule.next].at, schedule.changes[schedule.next].by);
  }
  return done_;
}

std::vector<std::int64_t> values_at(std::span<const game::Accrual> coalitions, std::int64_t t) {
  std::vector<std::int64_t> values;
  for (const game::Accrual& of : coalitions) values.push_back(of.psi_at(t));
  return values;
}

std::vector<Rational> shapley_of(std::span<const std::int64_t> values) {
  const auto k = static_cast<std::size_t>(std::countr_zero(values.size()));
  std::vector<Int128> scaled(k);
  game::scaled_shapley_values_of_grand(values, scaled);
  std::vector<Rational> phi;
  for (const Int128& each : scaled) phi.push_back({each, game::factorial(k)});
  return phi;
}

std::unique_ptr<CoalitionSchedules> make_whole_schedules(const std::vector<std::vector<std::uint32_t>>& kinds) {
  return std::make_unique<WholeSchedules>(kinds);
}

std::unique_ptr<Policy> make_hindsight_whole(const Instance& instance, std::unique_ptr<CoalitionSchedules> schedules,
                                             const game::ServingRule& rule) {
  return std::make_unique<HindsightWhole>(instance, std::move(schedules), rule);
}

std::unique_ptr<Policy> make_exact(const Instance& instance, ExactValues values, const game::ServingRule& rule) {
  return std::make_unique<Exact>(instance, std::move(values), rule);
}

}  // namespace shapley::scheduling
