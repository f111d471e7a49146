// Ranks: who is served next, by the rule in force (events/event.hpp, RankingDeclared; game/serving_order.hpp).
//
// rank() is a pure function of rows, and knows no books: State::rank_rows gives those of its own books. Work and
// standings are linear, so those of one organization in the books of several clusters add up (KeyFigures::operator+=);
// guarantee, own processors and demand are of one cluster and are not summed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/description.hpp"
#include "base/types.hpp"
#include "game/braking.hpp"
#include "game/serving_order.hpp"

namespace shapley::accounting {

// More than any cluster has.
inline constexpr std::int64_t k_longest_lead = std::int64_t{1} << 40U;

[[nodiscard]] KeyFigures figures_of(const Standing& standing, EstimatorId estimator);
// The figures from which ranks are computed: one organization on one cluster, at one instant.
struct RankRow {
  std::string organization;
  KeyFigures figures;
  ProcessorMillionths owned;    // offered now, by ownership and capacity, in processors whatever they are worth
  ProcessorMillionths pooled;   // the same on all clusters of the consortium, in processors of this one
  ProcessorMillionths used;     // its jobs block now, in processors whatever they are charged
  ProcessorMillionths waiting;  // its eligible pending jobs ask for now
  std::int64_t guarantee = 0;   // parts per million of `owned`
  bool last = false;            // guests, if the rule puts them after all organizations

  // Whether it has startable jobs and runs on less than its guarantee: it is served before all that are not so.
  [[nodiscard]] bool below_guarantee() const;
  friend bool operator==(const RankRow&, const RankRow&) = default;
};

constexpr auto description_of(std::type_identity<RankRow>) {
  return describe(member("organization", &RankRow::organization), flattened(&RankRow::figures),
                  member("owned", &RankRow::owned), member("pooled", &RankRow::pooled), member("used", &RankRow::used),
                  member("waiting", &RankRow::waiting), member("guarantee", &RankRow::guarantee),
                  member("last", &RankRow::last));
}

// The key by which organizations are ranked, and how it falls with what the organization starts. By a rule that brakes
// U is a part of what it owns on all clusters, as its guarantee allows.
[[nodiscard]] game::FallingKey falling_key(const RankRow& row, const game::KeyTerms& terms);

// The rank of one organization; the first is served first.
struct Rank {
  std::string organization;
  Utility key;                   // ranks are ordered by it
  game::Guarantee guarantee;     // of the processors that it owns
  bool below_guarantee = false;  // as RankRow::below_guarantee
  bool last = false;             // as RankRow::last: it is served after all that are not
  // The number of processors that it may start more than the organization with the least key before the rule serves
  // both alike, rounded down; bounded by k_longest_lead. -k_longest_lead: it is served last, whatever the others start.
  // Its order is that of the keys, but not by a rule that brakes: there a processor lowers each key by another amount.
  std::int64_t lead = 0;
  // Whole processors that it lacks to its guarantee, rounded up; negative: it blocks more. In CPUs of nodes, whereas
  // `lead` is in the unit of psi.
  std::int64_t lacking = 0;
  // By how many processors `lacking` rises when all of its nodes that are away are back; >= 0.
  std::int64_t returning = 0;
  game::FallingKey falling = {};
  friend bool operator==(const Rank&, const Rank&) = default;
};

// The rule of ledgers that declare none: the published one, by direct_contr.
[[nodiscard]] RankingDeclared published_rule();

[[nodiscard]] game::KeyTerms key_terms(const RankingDeclared& rule, Duration residual);
[[nodiscard]] game::Guarantee guarantee_of(const RankingDeclared& rule, std::string_view organization);

// `rows`: all organizations that have a rank, in the order that breaks ties. `besides`: how many processors each owns
// besides, on nodes that are away (State::ranking); empty: no node is away.
// REQUIRES: as many as there are rows, or none.
[[nodiscard]] std::vector<Rank> rank(std::span<const RankRow> rows, const game::KeyTerms& terms,
                                     std::span<const ProcessorMillionths> besides = {});

// The times at which the order of organizations changes, as long as nothing starts or ends.
//
// Then the processors that an organization holds (u) and is credited with (r) per second stay, and so does which are
// below the guarantee.
// After d seconds [FS13 Algorithm 1, as in game/utility.hpp; H: the horizon of the rule of ranks],
//
//     (phi - psi)(t + d) = (phi - psi)(t) + d * W + d(d+1)/2 * R      W = (given - got)(t),  R = r - u
//     key(t + d)         = (phi - psi)(t + d) + H * (W + d * R) + c * R
//
// c, the factor of what runs (game/serving_order.hpp), is taken to stay as well: the mean residual run time from which
// it is computed changes once a day at most. By a rule that brakes S' and R' move likewise, and the key has a square of
// R' besides, whose sign changes with that of R'.
//
// So the difference of two keys is a quadratic in d between the instants at which an R' changes its sign, of which
// there is at most one of each, and its order turns at most twice in each of these parts. Exact integers throughout: no
// root is taken; a turn is found by halving the stretches in which the quadratic is monotone. Keys of a rule that
// brakes are rounded to a millionth of a processor second squared: where two keep within that for several seconds, the
// turn is one of these.
//
// By the estimator hindsight r stays only until a virtual coalition starts or ends a job, which happens without any
// real start or end: a forecast is then what follows from the present rates.
//
// A forecast holds up to the next dated change of the books (State::next_dated_change), or until a statement of another
// cluster is stale (state/consortium.hpp), and for a year at most. The functions are pure.

inline constexpr Duration k_longest_forecast{std::int64_t{365} * 24 * 3600};

struct Outlook {
  Instant at;
  Instant until;         // exclusive: the forecast does not hold at this instant or later
  bool by_date = false;  // `until` is a dated change of the books, and not a year ahead or a stale statement
  game::KeyTerms terms;
  std::vector<RankRow> rows;  // of all organizations that have a rank, in the order that breaks ties; at `at`
};

// REQUIRES of the functions below: 0 <= after, at + after within a year, indices of `rows`.

// At state.now(), by the rule in force then.
[[nodiscard]] Outlook outlook(const State& state, EstimatorId estimator);

[[nodiscard]] Utility key_after(const Outlook& outlook, std::size_t row, Duration after);
// Whether `a` has the better rank then. a != b.
[[nodiscard]] bool goes_first(const Outlook& outlook, std::size_t a, std::size_t b, Duration after);
// Indices of `rows` in the order of service then.
[[nodiscard]] std::vector<std::size_t> order_after(const Outlook& outlook, Duration after);
// The instants in (at, until) at which the order of the two changes; ascending, two at most, or, by a rule that brakes,
// six.
[[nodiscard]] std::vector<Instant> turns(const Outlook& outlook, std::size_t a, std::size_t b);

}  // namespace shapley::accounting
