#include "scheduling/policies/baselines/round_robin.hpp"

#include <bit>

namespace shapley::scheduling {

namespace {

class RoundRobin final : public Policy {
 public:
  explicit RoundRobin(const Instance& instance) : organizations_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t, std::size_t organization) override {
    next_ = (organization + 1) % organizations_;
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose(std::int64_t, Coalition waiting, bool) override {
    const Coalition from_next = waiting & (~Coalition{0} << next_);
    return static_cast<std::size_t>(std::countr_zero(from_next != 0 ? from_next : waiting));
  }
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>&) override { return true; }

 private:
  std::size_t organizations_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_round_robin(const Instance& instance) {
  return std::make_unique<RoundRobin>(instance);
}

}  // namespace shapley::scheduling
