// The table of all contribution estimators.
//
// State, standings, checkpoints, the ledger's rows, audit, reports, `status` and the configuration go through it and
// know no estimator by name. A new estimator is a pair of files (estimator.hpp has the interface) and a row in
// table.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

struct EstimatorRow {
  std::string_view name;     // in the configuration, the ledger and on the command line; never changes
  std::string_view member;   // its part of the names of members and columns: phi_direct, given_direct
  std::string_view meaning;  // one line: what an organization gave, by it
  std::unique_ptr<Estimator> (*make)();
  // The name of the estimator that makes ranks while this one is behind (State::catch_up). Empty: it never is.
  std::string_view stand_in = {};
  // In books with more organizations, guests and commons included, it is off (Estimator::is_off).
  std::size_t most_organizations = std::numeric_limits<std::size_t>::max();

  // Traits: what other code asks of an estimator instead of its name.
  //
  // What an organization gave is the work on its own processors. An audit computes that itself, and reports divide it
  // by owner.
  bool by_owner = false;
  // It keeps what coalitions would have got alone: it computes the worth of cooperation, its memory is bounded
  // (HindsightBounded), and its rates may change although no real job starts or ends.
  bool of_coalitions = false;
  // The configuration has a key of its name, by which it is turned `off` (config/keys.hpp).
  bool has_key = false;
};

// Never empty, at most k_max_estimators rows, in the order in which people see them.
[[nodiscard]] std::span<const EstimatorRow> estimators();

// What earlier releases had. Ledgers name it in configurations, rules of ranks, statements, checkpoints and figures of
// days; these are read as what an unknown estimator said, and audits name what they do not check of them.
struct FormerEstimator {
  std::string_view name;
  std::string_view why;  // why there is none any more
};
[[nodiscard]] std::span<const FormerEstimator> former_estimators();
[[nodiscard]] bool is_former_estimator(std::string_view name);

// Standings hold up to this many credits without allocating memory.
inline constexpr std::size_t k_max_estimators = 6;

// Index of a row of the table. The first row ranks unless the configuration says otherwise.
using EstimatorId = Id<struct EstimatorTag, std::uint32_t>;
inline constexpr EstimatorId k_default_estimator{0};

// All estimators, in the table's order.
[[nodiscard]] std::span<const EstimatorId> estimator_ids();

[[nodiscard]] std::string_view name_of(EstimatorId estimator);
[[nodiscard]] std::optional<EstimatorId> parse_estimator(std::string_view name);
[[nodiscard]] std::vector<std::string_view> estimator_names();

// A set of estimators.
class EstimatorSet {
 public:
  constexpr EstimatorSet() = default;
  constexpr EstimatorSet(std::initializer_list<EstimatorId> estimators) {
    for (const EstimatorId estimator : estimators) insert(estimator);
  }
  [[nodiscard]] static EstimatorSet all() { return EstimatorSet{}.others(); }

  constexpr void insert(EstimatorId estimator) { bits_ |= 1U << estimator.value; }
  constexpr void erase(EstimatorId estimator) { bits_ &= ~(1U << estimator.value); }
  [[nodiscard]] constexpr bool contains(EstimatorId estimator) const { return (bits_ >> estimator.value & 1U) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  // All estimators that are not in the set.
  [[nodiscard]] EstimatorSet others() const {
    EstimatorSet others;
    for (const EstimatorId estimator : estimator_ids()) {
      if (!contains(estimator)) others.insert(estimator);
    }
    return others;
  }
  friend constexpr bool operator==(const EstimatorSet&, const EstimatorSet&) = default;

 private:
  std::uint32_t bits_ = 0;
};

// All estimators whose row has this trait: estimators_with(&EstimatorRow::by_owner).
[[nodiscard]] EstimatorSet estimators_with(bool EstimatorRow::*trait);

// The estimator that ranks where `wanted` should: itself if it is in `able`, else its stand-in.
[[nodiscard]] EstimatorId acting(EstimatorId wanted, const EstimatorSet& able);

// The name of a figure by this estimator: "phi" -> "phi_direct".
[[nodiscard]] std::string figure_name(std::string_view figure, EstimatorId estimator);

// By estimator; unused elements are zero.
using Credits = std::array<Credit, k_max_estimators>;

}  // namespace shapley::accounting
