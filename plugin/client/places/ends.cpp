#include "plugin/client/places/ends.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shapley::client {

namespace {

constexpr double k_turnovers_remembered = 4;
constexpr double k_prior_part = 1.0 / 64;

}  // namespace

std::vector<std::int64_t> expected_ends(std::span<const Ending> organizations, std::int64_t freed) {
  std::vector<std::size_t> fastest_first(organizations.size());
  std::iota(fastest_first.begin(), fastest_first.end(), 0);
  std::sort(fastest_first.begin(), fastest_first.end(),
            [&](std::size_t a, std::size_t b) { return organizations[a].rate > organizations[b].rate; });
  double left = static_cast<double>(freed);
  double speed = 0;  // of those that have not ended as a whole
  for (const Ending& u : organizations) speed += static_cast<double>(u.running) * u.rate;

  std::vector<std::int64_t> ended(organizations.size());
  auto next = fastest_first.begin();
  for (; next != fastest_first.end(); ++next) {
    const Ending& u = organizations[*next];
    if (left * u.rate < speed) break;
    ended[*next] = u.running;
    left -= static_cast<double>(u.running);
    speed -= static_cast<double>(u.running) * u.rate;
  }
  const double time = speed > 0 ? std::max(0.0, left) / speed : 0;
  for (; next != fastest_first.end(); ++next) {
    const Ending& u = organizations[*next];
    ended[*next] = static_cast<std::int64_t>(static_cast<double>(u.running) * std::min(1.0, u.rate * time));
  }
  return ended;
}

void EndRates::note(std::span<const std::int64_t> ran, std::span<const std::int64_t> ended) {
  const auto all_ran = static_cast<double>(std::accumulate(ran.begin(), ran.end(), std::int64_t{0}));
  const auto all_ended = static_cast<double>(std::accumulate(ended.begin(), ended.end(), std::int64_t{0}));
  counts_.resize(ran.size());
  if (all_ran <= 0) return;
  prior_ = all_ran * k_prior_part;
  if (all_ended <= 0) return;
  const double part = all_ended / all_ran;
  const double kept = std::exp(-part / k_turnovers_remembered);
  for (std::size_t u = 0; u < counts_.size(); ++u) {
    counts_[u].ended = counts_[u].ended * kept + static_cast<double>(ended[u]);
    counts_[u].proportional = counts_[u].proportional * kept + static_cast<double>(ran[u]) * part;
  }
}

double EndRates::of(std::size_t organization) const {
  if (organization >= counts_.size()) return 1;
  const Counts& counts = counts_[organization];
  return (counts.ended + prior_) / (counts.proportional + prior_);
}

}  // namespace shapley::client
