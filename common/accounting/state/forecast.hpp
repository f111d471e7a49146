// When ranks turn: the order of organizations as a function of time, as long as nothing starts or ends.
//
// Then what an organization holds (u) and is credited (r) each second stays, and so does who is below the guarantee.
// After d seconds [FS13 Algorithm 1, as in game/accrual.hpp; H: the horizon of the rule of ranks],
//
//     (phi - psi)(t + d) = (phi - psi)(t) + d * W + d(d+1)/2 * R      W = (given - got)(t),  R = r - u
//     key(t + d)         = (phi - psi)(t + d) + H * (W + d * R) + c * R
//
// c, by which what runs counts (game/serving_order.hpp), is taken to stay, too: the mean residual run time that it
// follows from changes once a day at most.
//
// So the difference of two keys is a quadratic in d with whole coefficients (after multiplication by 2), and its order
// turns at most twice. Exact integers throughout: no root is taken; a turn is found by halving the stretches in which
// the quadratic is monotone.
//
// By the estimator hindsight r stays only until a virtual coalition starts or ends a job, which it does though nobody
// else does: there a forecast is what follows from the rates of now.
//
// A forecast holds up to the next dated change of the books (State::next_dated_change), and says no more than a year.
// Pure functions, apart from that State moves to t.
#pragma once

#include <cstddef>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

inline constexpr Duration k_longest_forecast{std::int64_t{365} * 24 * 3600};

// One organization's key from t on.
struct Course {
  OrgId organization;
  Utility balance;                 // phi - psi at t
  CpuTime given_less_got;          // W, at t
  MicroProcessors rate_less_used;  // R, from t on
  bool below_guarantee = false;    // goes before all that are not
};

struct Outlook {
  Instant at;
  Instant until;         // exclusive: nothing is said of this instant and later ones
  bool by_date = false;  // `until` is a dated change of the books, not a year ahead
  game::KeyTerms terms;
  std::vector<Course> courses;  // of all that have a rank, in the order that breaks ties
};

// REQUIRES of the functions below: 0 <= after, at + after within a year, indices of `courses`.

// At max(t, state.now()), by the rule in force then.
[[nodiscard]] Outlook outlook(State& state, Instant t, EstimatorId estimator);

[[nodiscard]] Utility key_after(const Outlook& outlook, std::size_t course, Duration after);
// Whether `a` has the better rank then. a != b.
[[nodiscard]] bool goes_first(const Outlook& outlook, std::size_t a, std::size_t b, Duration after);
// Indices of `courses` in the order of service then.
[[nodiscard]] std::vector<std::size_t> order_after(const Outlook& outlook, Duration after);
// The instants in (at, until) from which on the order of the two is the other one; ascending, two at most.
[[nodiscard]] std::vector<Instant> turns(const Outlook& outlook, std::size_t a, std::size_t b);

}  // namespace shapley::accounting
