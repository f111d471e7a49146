#include "scheduling/policies/baselines/curr_fair_share.hpp"

#include "scheduling/policies/baselines/share_ratio.hpp"

namespace shapley::scheduling {

namespace {
struct RunningJobs {
  static std::int64_t at(const game::Accrual& accrual, std::int64_t /*t*/) { return accrual.running; }
};
}  // namespace

std::unique_ptr<Policy> make_curr_fair_share(const Instance& instance) {
  return std::make_unique<ShareRatio<RunningJobs>>(instance);
}

}  // namespace shapley::scheduling
