#include "scheduling/whole_jobs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/contract.hpp"
#include "game/shapley_value.hpp"

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

// A virtual schedule of one coalition.
class WholeSchedule {
 public:
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

  struct Fact {
    Job job;
    std::int64_t ran = k_never;  // how long it ran; k_never: it is not known
  };

  WholeSchedule(const std::vector<std::vector<std::uint32_t>>& kinds, Coalition members)
      : members_(members), kinds_(kinds.size()) {
    for (std::size_t kind = 0; kind < kinds_; ++kind) {
      for (std::size_t u = 0; u < kinds[kind].size(); ++u)
        if ((members >> u & 1U) != 0) capacity_[kind] += kinds[kind][u];
    }
    state_.free = capacity_;
    earlier_.push_back(state_);
  }

  // `learned`: the facts that became known since the last call.
  [[nodiscard]] std::int64_t value(std::int64_t t, const std::vector<Fact>& facts,
                                   const std::set<std::uint32_t>& learned) {
    std::int64_t again_from = k_never;
    for (const Run& run : state_.running) {
      if (run.end == k_never && learned.contains(run.fact))
        again_from = std::min(again_from, run.start + facts[run.fact].ran);
    }
    if (again_from < state_.time) {
      while (earlier_.back().time > again_from) earlier_.pop_back();
      state_ = earlier_.back();
    }
    for (Run& run : state_.running) {
      if (run.end == k_never && facts[run.fact].ran != k_never) run.end = run.start + facts[run.fact].ran;
    }
    advance(t, facts);
    return state_.done.psi_at(t);
  }

 private:
  using Processors = std::array<std::int64_t, k_most_kinds>;  // by kind
  struct Run {
    std::int64_t start;
    std::int64_t end;
    std::uint32_t fact;
    std::uint32_t kind;
  };
  struct State {
    std::int64_t time = 0;  // what happens before it is done
    Processors free{};
    std::vector<Run> running;
    std::vector<std::uint32_t> waiting;  // facts, in order
    std::size_t released = 0;            // of all facts
    game::Accrual done;
  };

  void advance(std::int64_t t, const std::vector<Fact>& facts) {
    constexpr std::size_t k_kept_each = 16;  // instants
    while (true) {
      std::int64_t next = state_.released < facts.size() ? facts[state_.released].job.release.value : k_never;
      for (const Run& run : state_.running) next = std::min(next, run.end);
      if (next >= t) break;
      state_.time = next;
      if (++instants_ % k_kept_each == 0) earlier_.push_back(state_);
      happen(facts);
    }
    state_.time = t;
  }

  void happen(const std::vector<Fact>& facts) {
    const std::int64_t t = state_.time;
    std::erase_if(state_.running, [&](const Run& run) {
      if (run.end != t) return false;
      const std::int64_t processors = facts[run.fact].job.processors;
      state_.free[run.kind] += processors;
      state_.done.change(t, -processors);
      return true;
    });
    for (; state_.released < facts.size() && facts[state_.released].job.release.value == t; ++state_.released) {
      const Job& job = facts[state_.released].job;
      const bool fits = first_kind(job, capacity_).has_value();
      if ((members_ >> job.organization & 1U) != 0 && fits)
        state_.waiting.push_back(static_cast<std::uint32_t>(state_.released));
    }
    if (std::ranges::all_of(state_.free, [](std::int64_t free) { return free == 0; })) return;
    std::erase_if(state_.waiting, [&](std::uint32_t fact) {
      const Job& job = facts[fact].job;
      const auto kind = first_kind(job, state_.free);
      if (!kind) return false;
      state_.free[*kind] -= job.processors;
      state_.done.change(t, job.processors);
      const std::int64_t ran = facts[fact].ran;
      state_.running.push_back({t, ran == k_never ? k_never : t + ran, fact, *kind});
      return true;
    });
  }

  // The first of the job's kinds of which there are enough processors.
  [[nodiscard]] std::optional<std::uint32_t> first_kind(const Job& job, const Processors& processors) const {
    std::optional<std::uint32_t> first;
    job.kinds.for_each(kinds_, [&](std::uint32_t kind) {
      if (!first && job.processors <= processors[kind]) first = kind;
    });
    return first;
  }

  Coalition members_;
  std::size_t kinds_;
  Processors capacity_{};
  State state_;
  std::vector<State> earlier_;  // of some instants, in order of time, the beginning included
  std::size_t instants_ = 0;
};

class WholeSchedules final : public CoalitionSchedules {
 public:
  explicit WholeSchedules(const std::vector<std::vector<std::uint32_t>>& kinds)
      : values_(std::size_t{1} << kinds.front().size()) {
    SHAPLEY_REQUIRE(!kinds.front().empty() && kinds.front().size() <= k_exact_organizations);
    for (Coalition c = 1; c < values_.size(); ++c) schedules_.emplace_back(kinds, c);
  }
  void released(std::uint32_t number, const Job& job) override {
    place_[number] = static_cast<std::uint32_t>(facts_.size());
    facts_.push_back({job});
  }
  void ended(std::uint32_t number, Duration ran) override {
    const std::uint32_t place = place_.at(number);
    facts_[place].ran = ran.value;
    learned_.insert(place);
  }
  [[nodiscard]] const std::vector<std::int64_t>& values(std::int64_t t) override {
    for (std::size_t c = 1; c < values_.size(); ++c) values_[c] = schedules_[c - 1].value(t, facts_, learned_);
    learned_.clear();
    return values_;
  }

 private:
  std::vector<WholeSchedule> schedules_;  // by coalition, from 1 on
  std::vector<WholeSchedule::Fact> facts_;
  std::map<std::uint32_t, std::uint32_t> place_;  // of a job in facts_
  std::set<std::uint32_t> learned_;
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
