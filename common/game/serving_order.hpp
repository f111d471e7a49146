// Who is served next: a horizon, which damps the rule of the papers, and a guarantee for owners.
//
// The papers serve the greatest phi - psi at t [SR13 Fig. 3, FS13 Algorithm 1]. That is an integral over time of an
// integral over time of (processors given - processors used): served so, organizations that wait for long take turns
// with the whole cluster, in growing swings (docs/concepts.md). Hence the same quantity at a later instant, if nothing
// more runs. Every unit part that began before t is done at t and ages by H:
//
//     psi(t + H | frozen at t) = psi(t) + H * W(t),     W(t) = processor seconds done before t  [SR13 Eq. 3]
//     key(t) = (phi - psi)(t + H | frozen at t) = (phi - psi)(t) + H * (given - got)(t)
//
// H = 0 is the published rule. v of a coalition is a psi of its schedule and is looked at likewise.
//
// A guarantee g in [0, 1] is a part of what an organization owns: with something to start and running on fewer than g
// times its own processors it is served before all that are not so. g <= 1 of one's own: guarantees never sum to more
// than there is. g = 0 is the published rule. A job that is wider than what its organization lacks takes it above
// the guarantee, and nobody who is below can undo that before the job ends.
//
// Exact integers throughout; pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::game {

// A part of what an organization owns, 0 .. k_whole_guarantee.
struct Guarantee {
  std::int32_t millionths = 0;
  friend constexpr auto operator<=>(const Guarantee&, const Guarantee&) = default;
};
inline constexpr std::int32_t k_whole_guarantee = 1'000'000;
inline constexpr Duration k_longest_horizon{std::int64_t{365} * 24 * 3600};

// How organizations are ordered; as it stands, the published rule.
struct ServingRule {
  Duration horizon;  // 0 .. k_longest_horizon
  Guarantee guarantee;
  friend constexpr bool operator==(const ServingRule&, const ServingRule&) = default;
};

// What a site gets that says nothing else; docs/experiments/stability.md justifies it. The simulator's default is the
// published rule, for the papers' numbers are made by it.
inline constexpr ServingRule k_default_rule{{std::int64_t{7} * 24 * 3600}, {k_whole_guarantee / 2}};

// A utility (psi, phi, v) `horizon` seconds after the instant at which it and `work`, the processor seconds behind it,
// were taken, if nothing runs in between. Also of differences and multiples of utilities, which are linear in both.
template <typename Integer>
[[nodiscard]] constexpr Integer frozen_ahead(Integer utility, Integer work, Duration horizon) {
  return utility + static_cast<Integer>(horizon.value) * work;
}

// The same in the units of the books: balance = phi - psi, given - got the work behind it.
[[nodiscard]] constexpr Utility key(Utility balance, CpuTime given_less_got, Duration horizon) {
  return {frozen_ahead(balance.value, given_less_got.value, horizon)};
}

// used < g * owned. Both in one unit, processors or millionths of them.
[[nodiscard]] constexpr bool is_below(std::int64_t used, std::int64_t owned, Guarantee guarantee) {
  return static_cast<Int128>(used) * k_whole_guarantee < static_cast<Int128>(guarantee.millionths) * owned;
}

// One organization at one instant. Key: a Utility, or an integer of the caller's width and scale.
template <typename Key>
struct ServingRow {
  Key key{};
  std::int64_t owned = 0;  // weighted processors that it owns and that are offered now, in the unit of `used`
  std::int64_t used = 0;   // weighted processors that its jobs hold now, whoever owns them
  bool has_startable = false;
  Guarantee guarantee{};

  [[nodiscard]] constexpr bool below_guarantee() const { return has_startable && is_below(used, owned, guarantee); }
};

// Whether a is served before b; of equals neither is. A strict weak order.
template <typename Key>
[[nodiscard]] constexpr bool is_served_before(const ServingRow<Key>& a, const ServingRow<Key>& b) {
  const bool a_below = a.below_guarantee();
  return a_below == b.below_guarantee() ? b.key < a.key : a_below;
}

// Indices of `rows` in the order of service; ties keep the order of `rows`.
template <typename Key>
[[nodiscard]] std::vector<std::size_t> serving_order(std::span<const ServingRow<Key>> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return is_served_before(rows[a], rows[b]); });
  return order;
}

// "0", plain seconds ("300"), or a number with s, m, h or d ("90s", "30m", "6h", "7d"); 0 to 365 days.
// Errc::invalid_argument says what is allowed; callers add the option or key.
[[nodiscard]] Expected<Duration> parse_horizon(std::string_view text);
// In the largest unit that divides it: "0", "90s", "30m", "6h", "7d".
[[nodiscard]] std::string format_horizon(Duration horizon);

// A decimal from 0 to 1 with at most six digits after the point: "0", "0.5", ".5", "1". Errors as above.
[[nodiscard]] Expected<Guarantee> parse_guarantee(std::string_view text);
// "0", "0.5", "0.333333", "1".
[[nodiscard]] std::string format_guarantee(Guarantee guarantee);

}  // namespace shapley::game
