// The order of service: keys, of which the greatest is served first, and a guarantee for owners.
//
// The papers serve the greatest phi - psi at t [SR13 Fig. 3, FS13 Algorithm 1]. That is an integral over time of an
// integral over time of (processors given - processors used): served so, organizations that wait for long take turns
// with the whole cluster, in growing swings (docs/concepts.md). shapleyd's own rule brakes (braking.hpp). Both look at
// the same quantity at a later instant, if nothing more starts. Every unit part that began before t is done at t and
// ages by H:
//
//     psi(t + H | frozen at t) = psi(t) + H * W(t),     W(t) = processor seconds done before t  [SR13 Eq. 3]
//     (phi - psi)(t + H | frozen at t) = (phi - psi)(t) + H * (given - got)(t)
//
// What runs now counts, too, for as long as it is expected to go on. Otherwise a rule that is applied again after every
// start would use old figures: a start changes nothing above until its seconds have passed. With m the mean residual
// run time, and a the weight of what runs, there is a third term
//
//     c (rate - used),     c = a m (H - m/2)  if m < H,  else a H^2 / 2
//
// rate: the processors that the organization gives now, used: those that its jobs hold now. With a = 1 the sum of the
// three is phi - psi at t + H if what runs now ends after m seconds and nothing else starts. a = 0, or H = 0, omits the
// term. v of a coalition is a psi of its schedule and is taken at t + H likewise.
//
// H = 0 is the published rule, and H = m with a = 1 is S' of the rule that brakes. Any other horizon is of ledgers from
// before that rule, which declare it, and of the laboratory: their key is the sum, and divided by c it is a lead in
// processors, which q of them that start lower by q.
//
// A guarantee g in [0, 1] is a part of what an organization owns: with something to start and running on fewer than g
// times its own processors it is served before all that are not so. g <= 1 of its own processors: guarantees never sum
// to more than there is. g = 0 is the published rule. A job that is wider than what its organization lacks takes it
// above the guarantee, and no organization below its own can undo that before the job ends.
//
// A site may put the jobs of those who are no organization's last: they are served after all others, whatever the keys
// say, for an outsider at zero is otherwise served before a member who owes.
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

#include "base/contract.hpp"
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

// How much what runs now counts in the key: a of the equation above, 0 .. k_whole_running_weight.
struct RunningWeight {
  std::int32_t millionths = 0;
  friend constexpr auto operator<=>(const RunningWeight&, const RunningWeight&) = default;
};
inline constexpr std::int32_t k_whole_running_weight = 1'000'000;
// How fast a standing may be turned by a rule that brakes (braking.hpp): U as a part of what an organization owns, 1 ..
// k_whole_pace. 0: the rule does not brake, but looks a horizon ahead.
struct Pace {
  std::int32_t millionths = 0;
  friend constexpr auto operator<=>(const Pace&, const Pace&) = default;
};
inline constexpr std::int32_t k_whole_pace = 1'000'000;
// The value of m until one is measured.
inline constexpr Duration k_assumed_residual{3600};

// How organizations are ordered; the default values are the published rule.
struct ServingRule {
  Duration horizon;  // 0 .. k_longest_horizon
  Guarantee guarantee{};
  RunningWeight running{};
  Pace pace{};  // if not 0, neither horizon nor running is used
  friend constexpr bool operator==(const ServingRule&, const ServingRule&) = default;
};

// The guarantee of a site whose configuration names none; such a site's rule brakes (braking.hpp).
// lab/docs/stability.md justifies both. The simulator's default is the published rule, because the papers' numbers are
// made by it.
inline constexpr Guarantee k_default_guarantee{k_whole_guarantee / 2};
// The rule of sites before there was one that brakes. Experiments compare with it.
inline constexpr ServingRule k_horizon_rule{
    {std::int64_t{30} * 24 * 3600}, k_default_guarantee, {k_whole_running_weight / 10}};

// c of the equation above in seconds squared, rounded down; at most k_longest_horizon^2 / 2. REQUIRES: residual > 0.
[[nodiscard]] constexpr std::int64_t running_factor(Duration horizon, RunningWeight weight, Duration residual) {
  SHAPLEY_REQUIRE(residual > Duration{0});
  const Int128 m = residual < horizon ? residual.value : horizon.value;
  return static_cast<std::int64_t>(weight.millionths * m * (2 * Int128{horizon.value} - m) /
                                   (2 * Int128{k_whole_running_weight}));
}

// What the key takes into account besides the present phi - psi.
struct KeyTerms {
  Duration horizon;                 // H
  std::int64_t running_factor = 0;  // c
  bool brakes = false;              // what is seen then is S' and R' of a rule that brakes (braking.hpp)
  friend constexpr bool operator==(const KeyTerms&, const KeyTerms&) = default;
};

// Of a rule that brakes: those of S', m seconds ahead with all that runs.
[[nodiscard]] constexpr KeyTerms key_terms(const ServingRule& rule, Duration residual) {
  if (rule.pace != Pace{}) return {residual, running_factor(residual, {k_whole_running_weight}, residual), true};
  return {rule.horizon, running_factor(rule.horizon, rule.running, residual)};
}

// A utility (psi, phi, v) `horizon` seconds after the instant at which it and `work`, the processor seconds behind it,
// were taken, if nothing runs in between. Also of differences and multiples of utilities, which are linear in both.
template <typename Integer>
[[nodiscard]] constexpr Integer frozen_ahead(Integer utility, Integer work, Duration horizon) {
  return utility + static_cast<Integer>(horizon.value) * work;
}

// The same with what runs now: `running` processors.
template <typename Integer>
[[nodiscard]] constexpr Integer looked_ahead(Integer utility, Integer work, Integer running, const KeyTerms& terms) {
  return frozen_ahead(utility, work, terms.horizon) + static_cast<Integer>(terms.running_factor) * running;
}

// The key in the units of the books: balance = phi - psi, given - got the work behind it, rate - used that of now.
[[nodiscard]] constexpr Utility key(Utility balance, CpuTime given_less_got, ProcessorMillionths rate_less_used,
                                    const KeyTerms& terms) {
  return {looked_ahead<Int128>(balance.value, given_less_got.value, rate_less_used.value, terms)};
}

// By how much one processor that starts lowers a key, within one instant: by c, or, if that is 0, by the first unit of
// the job, as lines 22-23 of the published rule count it [SR13 Fig. 3].
[[nodiscard]] constexpr std::int64_t start_factor(const KeyTerms& terms) {
  return terms.running_factor > 0 ? terms.running_factor : 1;
}

// used < g * owned. Both in one unit, processors or millionths of them.
[[nodiscard]] constexpr bool is_below(std::int64_t used, std::int64_t owned, Guarantee guarantee) {
  return static_cast<Int128>(used) * k_whole_guarantee < static_cast<Int128>(guarantee.millionths) * owned;
}

// One organization at one instant. Key: a Utility, or an integer of the caller's width and scale.
template <typename Key>
struct ServingRow {
  Key key{};
  std::int64_t owned = 0;  // processors that it owns and that are offered now, in the unit of `used`
  std::int64_t used = 0;   // processors that its jobs block now, no matter which organization owns them
  bool has_startable = false;
  Guarantee guarantee{};
  bool last = false;  // served after all that are not

  [[nodiscard]] constexpr bool below_guarantee() const { return has_startable && is_below(used, owned, guarantee); }
};

// Whether a is served before b; of equals neither is. A strict weak order.
template <typename Key>
[[nodiscard]] constexpr bool is_served_before(const ServingRow<Key>& a, const ServingRow<Key>& b) {
  if (a.last != b.last) return b.last;
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

// The weight of what runs, written and read as a guarantee is.
[[nodiscard]] Expected<RunningWeight> parse_running_weight(std::string_view text);
[[nodiscard]] std::string format_running_weight(RunningWeight weight);

// A pace, likewise, but not 0.
[[nodiscard]] Expected<Pace> parse_pace(std::string_view text);
[[nodiscard]] std::string format_pace(Pace pace);

// The members of a rule in a report (base/json.hpp); the published rule has none.
template <typename Visit>
void for_each_json_member(std::string_view, const ServingRule& rule, const Visit& visit) {
  if (rule == ServingRule{}) return;
  const bool brakes = rule.pace != Pace{};
  visit(std::string(brakes ? "braking" : "horizon"), brakes ? format_pace(rule.pace) : format_horizon(rule.horizon));
  visit(std::string("guarantee"), format_guarantee(rule.guarantee));
  if (rule.running != RunningWeight{}) visit(std::string("running_weight"), format_running_weight(rule.running));
}

}  // namespace shapley::game
