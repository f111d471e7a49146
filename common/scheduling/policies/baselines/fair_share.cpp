#include "scheduling/policies/baselines/fair_share.hpp"

#include "scheduling/policies/baselines/share_ratio.hpp"

namespace shapley::scheduling {

namespace {
struct UsedTime {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t t) { return accrual.done_at(t); }
};
}  // namespace

std::unique_ptr<Policy> make_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<UsedTime>>(instance);
}

}  // namespace shapley::scheduling
