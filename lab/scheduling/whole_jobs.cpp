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
#include "hindsight/virtual_schedules.hpp"

namespace shapley::scheduling {

namespace {

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
        values_(std::size_t{1} << kinds.front().size()) {
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
  [[nodiscard]] const std::vector<std::int64_t>& values(std::int64_t t) override {
    (void)schedules_.advance(t);
    for (std::size_t c = 1; c < values_.size(); ++c) values_[c] = schedules_.utility(c - 1, t);
    return values_;
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
  std::vector<std::int64_t> values_;
};

// Serves the greatest phi - psi.
class ByValues : public Policy {
 public:
  explicit ByValues(std::size_t organizations)
      : own_(organizations), phi_(organizations), scale_(game::factorial(organizations)) {}
  void regards(std::uint32_t job, std::size_t) final { regarded_ = job; }
  std::int32_t started(std::int64_t t, std::size_t organization) final {
    own_[organization].change(t, 1);
    begun_.emplace_back(organization, t);
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) final {}
  [[nodiscard]] bool asks_which_ended() const final { return true; }
  void ended(std::int64_t t, std::size_t start) final {
    const auto& [organization, began] = begun_[start];
    own_[organization].change(t, -1);
    learn(regarded_, {t - began});
  }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    if (!scarce) return best;
    see(t);
    const auto key = [&](std::size_t u) { return phi_[u] - scale_ * own_[u].psi_at(t); };
    for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (key(u) > key(best)) best = u;
    }
    return best;
  }
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) final {
    seen_at_ = -1;
    see(t);
    std::vector<Rational> phi;
    for (const Int128& each : phi_) phi.push_back({each, scale_});
    return phi;
  }
  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) final {
    const std::vector<std::int64_t>& values = values_at(t);
    std::vector<std::pair<Coalition, std::int64_t>> by_mask;
    for (Coalition c = 1; c < values.size(); ++c) by_mask.emplace_back(c, values[c]);
    return by_mask;
  }

 protected:
  [[nodiscard]] std::uint32_t regarded() const { return regarded_; }
  virtual void learn(std::uint32_t job, Duration ran) = 0;
  [[nodiscard]] virtual const std::vector<std::int64_t>& values_at(std::int64_t t) = 0;

 private:
  // With what was really done as v(N): the gap changes no order.
  void see(std::int64_t t) {
    if (seen_at_ == t) return;
    std::vector<std::int64_t> values = values_at(t);
    values.back() = 0;
    for (const game::Accrual& own : own_) values.back() += own.psi_at(t);
    game::scaled_shapley_values_of_grand(values, phi_);
    seen_at_ = t;
  }

  std::vector<game::Accrual> own_;
  std::vector<std::pair<std::size_t, std::int64_t>> begun_;  // organization and start, of every processor started on
  std::vector<Int128> phi_;                                  // in scale_-ths
  Int128 scale_;
  std::uint32_t regarded_ = 0;
  std::int64_t seen_at_ = -1;
};

class HindsightWhole final : public ByValues {
 public:
  HindsightWhole(std::size_t organizations, std::unique_ptr<CoalitionSchedules> schedules)
      : ByValues(organizations), schedules_(std::move(schedules)) {}
  // Called for each of its processors.
  void released(std::int64_t, const Job& job) override {
    if (known_.insert(regarded()).second) schedules_->released(regarded(), job);
  }

 private:
  void learn(std::uint32_t job, Duration ran) override {
    if (known_.erase(job) == 1) schedules_->ended(job, ran);
  }
  [[nodiscard]] const std::vector<std::int64_t>& values_at(std::int64_t t) override { return schedules_->values(t); }

  std::unique_ptr<CoalitionSchedules> schedules_;
  std::set<std::uint32_t> known_;  // jobs that were released, and have not ended
};

class Exact final : public ByValues {
 public:
  Exact(std::size_t organizations, ExactValues values) : ByValues(organizations), values_(std::move(values)) {}
  void released(std::int64_t, const Job&) override {}

 private:
  void learn(std::uint32_t, Duration) override {}
  [[nodiscard]] const std::vector<std::int64_t>& values_at(std::int64_t t) override { return values_.at(t); }

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
  exact.values_.resize(std::size_t{1} << k);
  exact.schedules_.resize(exact.values_.size());
  for (Coalition c = 1; c < exact.values_.size(); ++c) {
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

const std::vector<std::int64_t>& ExactValues::at(std::int64_t t) {
  for (std::size_t c = 1; c < values_.size(); ++c) {
    Schedule& schedule = schedules_[c];
    for (; schedule.next < schedule.changes.size() && schedule.changes[schedule.next].at < t; ++schedule.next)
      schedule.done.change(schedule.changes[schedule.next].at, schedule.changes[schedule.next].by);
    values_[c] = schedule.done.psi_at(t);
  }
  return values_;
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

std::unique_ptr<Policy> make_hindsight_whole(const Instance& instance, std::unique_ptr<CoalitionSchedules> schedules) {
  return std::make_unique<HindsightWhole>(instance.organizations(), std::move(schedules));
}

std::unique_ptr<Policy> make_exact(const Instance& instance, ExactValues values) {
  return std::make_unique<Exact>(instance.organizations(), std::move(values));
}

}  // namespace shapley::scheduling
