#include "scheduling/policies/baselines/fcfs.hpp"

#include <bit>
#include <vector>

namespace shapley::scheduling {

namespace {

class FirstComeFirstServed final : public Policy {
 public:
  explicit FirstComeFirstServed(const Instance& instance)
      : order_(instance.organizations()), head_(instance.organizations(), 0) {}
  void released(std::int64_t, const Job& job) override { order_[job.organization].push_back(released_++); }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    ++head_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose(std::int64_t, Coalition waiting, bool) override {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
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

}  // namespace

std::unique_ptr<Policy> make_fcfs(const Instance& instance) {
  return std::make_unique<FirstComeFirstServed>(instance);
}

}  // namespace shapley::scheduling
