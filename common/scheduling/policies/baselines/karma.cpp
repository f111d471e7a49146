#include "scheduling/policies/baselines/karma.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace shapley::scheduling {

namespace {

class Karma final : public Policy {
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

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    advance(t);
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
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
  // Below its guarantee, so that one more processor costs no credit.
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

std::unique_ptr<Policy> make_karma(const Instance& instance) {
  return std::make_unique<Karma>(instance);
}

}  // namespace shapley::scheduling
