#include "game/braking.hpp"

#include <cmath>

namespace shapley::game {

double settling_seconds(const FallingKey& key) {
  const double sign = key_after(key, 0) < 0 ? -1 : 1;
  const double turn = static_cast<double>(key.doubled_turn) / 2;
  const double seconds = sign * static_cast<double>(key.work) / turn;
  const double distance = sign * static_cast<double>(key.balance) / turn;
  return std::max(0.0, seconds + 2 * std::sqrt(std::max(0.0, seconds * seconds / 2 + distance)));
}

}  // namespace shapley::game
