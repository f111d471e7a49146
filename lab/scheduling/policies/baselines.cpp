#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "game/utility.hpp"
#include "scheduling/policies/policies.hpp"

namespace shapley::scheduling {

namespace {

// `Measure` selects the number of an Accrual by which shares are compared.
template <typename Measure>
class ShareRatio final : public PolicyOfMany {
 public:
  explicit ShareRatio(const Instance& instance) : processors_(instance.processors), own_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override { own_[organization].change(t, -1); }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool /*scarce*/) override {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    std::int64_t best_measure = Measure::at(own_[best], t);
    for (OrganizationSet rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const std::int64_t own = Measure::at(own_[u], t);
      const bool less =
          processors_[u] != 0 && (processors_[best] == 0 || static_cast<Int128>(own) * processors_[best] <
                                                                static_cast<Int128>(best_measure) * processors_[u]);
      if (less) {
        best = u;
        best_measure = own;
      }
    }
    return best;
  }
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    processors_ = processors;
    return true;
  }

 private:
  std::vector<std::uint32_t> processors_;
  std::vector<game::Accrual> own_;
};

struct UsedTime {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t t) { return accrual.done_at(t); }
};

struct UtilityGot {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t t) { return accrual.psi_at(t); }
};

struct RunningJobs {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t /*t*/) { return accrual.running; }
};

class RoundRobin final : public PolicyOfMany {
 public:
  explicit RoundRobin(const Instance& instance) : organizations_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t, std::size_t organization) override {
    next_ = (organization + 1) % organizations_;
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose_among(std::int64_t, OrganizationSet waiting, bool) override {
    const OrganizationSet from_next = waiting & (~OrganizationSet{0} << next_);
    return static_cast<std::size_t>(std::countr_zero(from_next != 0 ? from_next : waiting));
  }
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>&) override { return true; }

 private:
  std::size_t organizations_;
  std::size_t next_ = 0;
};

class FirstComeFirstServed final : public PolicyOfMany {
 public:
  explicit FirstComeFirstServed(const Instance& instance)
      : order_(instance.organizations()), head_(instance.organizations(), 0) {}
  void released(std::int64_t, const Job& job) override { order_[job.organization].push_back(released_++); }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    ++head_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose_among(std::int64_t, OrganizationSet waiting, bool) override {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (OrganizationSet rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (order_[u][head_[u]] < order_[best][head_[best]]) best = u;
    }
    return best;
  }

 private:
  std::vector<std::vector<std::uint64_t>> order_;  // by organization: positions in the common queue
  std::vector<std::size_t> head_;                  // by organization: jobs started
  std::uint64_t released_ = 0;
};

// By repeated multiplication: std::pow may differ in the last digit between C libraries.
double decay_of_a_period(const FairTreeOptions& options) {
  double decay = 1.0;
  for (std::int64_t s = 0; s < options.period.value; ++s)
    decay *= 1.0 - 0.693 / static_cast<double>(options.half_life.value);
  return decay;
}

class FairTree final : public PolicyOfMany {
 public:
  FairTree(const Instance& instance, const FairTreeOptions& options)
      : processors_(instance.processors),
        own_(instance.organizations()),
        counted_(instance.organizations()),
        usage_(instance.organizations()),
        order_(instance.organizations()),
        head_(instance.organizations(), 0),
        ties_by_submission_(options.ties_by_submission),
        period_(options.period.value),
        decay_(decay_of_a_period(options)),
        period_end_(period_) {}

  void released(std::int64_t, const Job& job) override { order_[job.organization].push_back(released_++); }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    advance(t);
    own_[organization].change(t, 1);
    ++head_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override {
    advance(t);
    own_[organization].change(t, -1);
  }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool /*scarce*/) override {
    advance(t);
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (OrganizationSet rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (is_before(u, best) || (ties_by_submission_ && !is_before(best, u) && first_job(u) < first_job(best)))
        best = u;
    }
    return best;
  }
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    processors_ = processors;
    return true;
  }

 private:
  // usage[u] / m[u] < usage[other] / m[other], with m = 0 as infinite.
  [[nodiscard]] bool is_before(std::size_t u, std::size_t other) const {
    return processors_[u] != 0 &&
           (processors_[other] == 0 || usage_[u] * processors_[other] < usage_[other] * processors_[u]);
  }
  // The position of its first waiting job in the common queue.
  [[nodiscard]] std::uint64_t first_job(std::size_t u) const { return order_[u][head_[u]]; }

  void advance(std::int64_t t) {
    for (; period_end_ <= t; period_end_ += period_) {
      for (std::size_t u = 0; u < usage_.size(); ++u) {
        const std::int64_t done = own_[u].done_at(period_end_);
        usage_[u] = (usage_[u] + static_cast<double>(done - counted_[u])) * decay_;
        counted_[u] = done;
      }
    }
  }

  std::vector<std::uint32_t> processors_;
  std::vector<game::Accrual> own_;
  std::vector<std::int64_t> counted_;  // processor seconds already in usage_
  std::vector<double> usage_;
  std::vector<std::vector<std::uint64_t>> order_;  // by organization: positions in the common queue
  std::vector<std::size_t> head_;                  // by organization: jobs started
  std::uint64_t released_ = 0;
  bool ties_by_submission_;
  std::int64_t period_;
  double decay_;
  std::int64_t period_end_;
};

class Karma final : public PolicyOfMany {
 public:
  explicit Karma(const Instance& instance)
      : share_(instance.processors.begin(), instance.processors.end()),
        running_(share_.size()),
        waiting_(share_.size()),
        credits_(share_.size()),
        poorest_first_(share_.size()) {
    std::iota(poorest_first_.begin(), poorest_first_.end(), std::size_t{0});
  }

  void released(std::int64_t t, const Job& job) override {
    advance(t);
    ++waiting_[job.organization];
  }
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    advance(t);
    --waiting_[organization];
    ++running_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override {
    advance(t);
    --running_[organization];
  }

  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool /*scarce*/) override {
    advance(t);
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (OrganizationSet rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const bool entitled = is_entitled(u);
      const bool best_entitled = is_entitled(best);
      if (entitled != best_entitled ? entitled : credits_[u] > credits_[best]) best = u;
    }
    return best;
  }
  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) override {
    advance(t);
    share_.assign(processors.begin(), processors.end());
    return true;
  }

 private:
  // Whether it is below its guarantee, so that one more processor costs no credit.
  [[nodiscard]] bool is_entitled(std::size_t u) const { return 2 * running_[u] < share_[u]; }

  void advance(std::int64_t t) {
    const std::int64_t d = t - time_;
    if (d == 0) return;
    time_ = t;
    std::int64_t borrowed = 0;
    for (std::size_t u = 0; u < share_.size(); ++u) borrowed += std::max<std::int64_t>(0, 2 * running_[u] - share_[u]);
    std::stable_sort(poorest_first_.begin(), poorest_first_.end(), [this](std::size_t a, std::size_t b) {
      return credits_[a] != credits_[b] ? credits_[a] < credits_[b] : a < b;
    });
    for (const std::size_t u : poorest_first_) {
      const std::int64_t donated = std::max<std::int64_t>(0, share_[u] - 2 * (running_[u] + waiting_[u]));
      const std::int64_t lent = std::min(donated, borrowed);
      const std::int64_t over = std::max<std::int64_t>(0, 2 * running_[u] - share_[u]);
      borrowed -= lent;
      credits_[u] += d * (share_[u] + lent - over);
    }
  }

  std::vector<std::int64_t> share_;
  std::vector<std::int64_t> running_;
  std::vector<std::int64_t> waiting_;
  std::vector<std::int64_t> credits_;  // in halves of a processor second
  std::vector<std::size_t> poorest_first_;
  std::int64_t time_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<UsedTime>>(instance);
}

std::unique_ptr<Policy> make_ut_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<UtilityGot>>(instance);
}

std::unique_ptr<Policy> make_curr_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<RunningJobs>>(instance);
}

std::unique_ptr<Policy> make_round_robin(const Instance& instance) {
  return std::make_unique<RoundRobin>(instance);
}

std::unique_ptr<Policy> make_fcfs(const Instance& instance) {
  return std::make_unique<FirstComeFirstServed>(instance);
}

std::unique_ptr<Policy> make_fair_tree(const Instance& instance, const FairTreeOptions& options) {
  return std::make_unique<FairTree>(instance, options);
}

std::unique_ptr<Policy> make_karma(const Instance& instance) {
  return std::make_unique<Karma>(instance);
}

}  // namespace shapley::scheduling
