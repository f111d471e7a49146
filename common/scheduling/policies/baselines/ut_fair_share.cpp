#include "scheduling/policies/baselines/ut_fair_share.hpp"

#include "scheduling/policies/baselines/share_ratio.hpp"

namespace shapley::scheduling {

namespace {
struct UtilityGot {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t t) { return accrual.psi_at(t); }
};
}  // namespace

std::unique_ptr<Policy> make_ut_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<UtilityGot>>(instance);
}

}  // namespace shapley::scheduling
