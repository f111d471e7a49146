// The Shapley value of jobs that start whole, on processors of several kinds: exact, and in hindsight.
//
// Exact: every coalition alone runs FCFS with EASY backfill of its members' jobs on its own processors of each kind
// (easy.hpp), with their requested times; v(C) is psi_sp of its schedule. A job that is wider than the coalition's
// processors of each of its kinds never starts there.
//
// In hindsight: v(C) of a virtual schedule that is made from what is known. At each instant at which processors become
// free or jobs are released, C's waiting jobs are gone through in the order of (release, position), and each that fits
// whole into the free processors of one of its kinds starts, in the first such kind. Nothing is reserved. A job whose
// duration is not known holds its processors; when it becomes known the schedule is made again from there
// (hindsight/virtual_schedules.hpp, which the product has, too).
//
// Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "game/utility.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

inline constexpr std::size_t k_exact_organizations = 12;

// v of every coalition by EASY.
class ExactValues {
 public:
  // REQUIRES: validate(instance). Errc::limit for more than k_exact_organizations; other errors: simulate_easy's.
  [[nodiscard]] static Expected<ExactValues> of(const EasyInstance& instance);
  // By bit mask, accrued to t, with what runs in the second that begins at t. REQUIRES: t does not decrease from call
  // to call.
  [[nodiscard]] const std::vector<game::Accrual>& at(std::int64_t t);

 private:
  struct Change {
    std::int64_t at;
    std::int64_t by;  // processors
  };
  struct Schedule {
    std::vector<Change> changes;  // in order of time
    std::size_t next = 0;
  };
  std::vector<Schedule> schedules_;  // by coalition
  std::vector<game::Accrual> done_;
};

// v of every coalition at t.
[[nodiscard]] std::vector<std::int64_t> values_at(std::span<const game::Accrual> coalitions, std::int64_t t);
// phi of every organization from v of every coalition, by bit mask.
[[nodiscard]] std::vector<Rational> shapley_of(std::span<const std::int64_t> values);

// Virtual schedules of all coalitions. Facts come in order of time.
class CoalitionSchedules {
 public:
  CoalitionSchedules() = default;
  CoalitionSchedules(const CoalitionSchedules&) = delete;
  CoalitionSchedules& operator=(const CoalitionSchedules&) = delete;
  virtual ~CoalitionSchedules() = default;

  // `number` identifies the job. Its duration is not used.
  virtual void released(std::uint32_t number, const Job& job) = 0;
  // Its duration became known.
  virtual void ended(std::uint32_t number, Duration ran) = 0;
  // As ExactValues::at, by what is known.
  [[nodiscard]] virtual const std::vector<game::Accrual>& at(std::int64_t t) = 0;
};
// `kinds`: processors by kind and organization. REQUIRES: 1 <= organizations <= k_exact_organizations.
[[nodiscard]] std::unique_ptr<CoalitionSchedules> make_whole_schedules(
    const std::vector<std::vector<std::uint32_t>>& kinds);

// Policies for simulate_easy that serve the greatest phi - psi, as the rule says of braking, horizon and guarantee. The
// gap between what was really done and v(N) is shared equally.
//
// By what virtual schedules say. REQUIRES: made for the same organizations.
[[nodiscard]] std::unique_ptr<Policy> make_hindsight_whole(const Instance& instance,
                                                           std::unique_ptr<CoalitionSchedules> schedules,
                                                           const game::ServingRule& rule = {});
// By the exact values, for which all durations must be known beforehand: the order that the others approach.
[[nodiscard]] std::unique_ptr<Policy> make_exact(const Instance& instance, ExactValues values,
                                                 const game::ServingRule& rule = {});

}  // namespace shapley::scheduling
