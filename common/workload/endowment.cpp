#include "workload/endowment.hpp"

#include <algorithm>
#include <numeric>

#include "base/int128.hpp"

namespace shapley::workload {

namespace {

// lcm(1..40) < 2^53: weights 1/(u+1) are whole numbers up to 40 organizations, so that no rounding decides a tie.
constexpr std::int64_t k_common_multiple = 5'342'931'457'063'200;
constexpr std::size_t k_max_organizations = 40;

}  // namespace

Expected<std::vector<std::uint32_t>> endow(Endowment endowment, std::size_t organizations, std::int64_t total) {
  if (organizations == 0 || organizations > k_max_organizations)
    return fail(Errc::invalid_argument, "organizations: expected 1 to 40");
  if (total < 1 || total > 10'000'000) return fail(Errc::invalid_argument, "processors: expected 1 to 10,000,000");
  std::vector<Int128> weights;
  Int128 sum = 0;
  for (std::size_t u = 0; u < organizations; ++u) {
    weights.push_back(endowment == Endowment::uniform ? 1 : k_common_multiple / static_cast<std::int64_t>(u + 1));
    sum += weights.back();
  }
  std::vector<std::uint32_t> processors;
  std::int64_t left = total;
  for (const Int128 weight : weights) {
    processors.push_back(static_cast<std::uint32_t>(weight * total / sum));
    left -= processors.back();
  }
  std::vector<std::size_t> order(organizations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] * total % sum > weights[b] * total % sum; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++processors[order[i]];
  return processors;
}

}  // namespace shapley::workload
