// The interface of all scheduling policies: they receive facts and return an order.
//
// A policy learns what happened and is asked which waiting organization a free processor should serve. It never starts
// a job and never reads a queue. All calls come with time in order; at one instant completions come first, then
// releases, then the choice and the starts. Every tie goes to the lowest organization index. Single-threaded.
// A rigid job of q processors is q calls of one instant, at its release, its start and its end (simulate.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/contract.hpp"
#include "base/types.hpp"
#include "game/shapley_value.hpp"
#include "scheduling/instance.hpp"

namespace shapley::scheduling {

using game::Coalition;
// Coalitions are bit masks.
inline constexpr std::size_t k_coalition_organizations = std::numeric_limits<Coalition>::digits;

// The organizations that wait: bit u = organization u. It is wider, because nothing is kept for each of its subsets.
using OrganizationSet = std::uint64_t;
inline constexpr std::size_t k_max_organizations = std::numeric_limits<OrganizationSet>::digits;

// An exact fraction; denominator > 0.
struct Rational {
  Int128 numerator = 0;
  Int128 denominator = 1;
};
// In lowest terms, "19/6" or "4".
[[nodiscard]] std::string to_string(const Rational& value);

// The terms of an organization's key at an instant [game/serving_order.hpp], in parts of a scale. All three are linear,
// so those of several clusters add up (consortium.hpp).
struct KeyFigures {
  Int128 balance = 0;         // phi - psi
  Int128 given_less_got = 0;  // the work behind it
  Int128 rate_less_used = 0;  // from now on
};
struct Standings {
  std::vector<KeyFigures> figures;  // by organization
  Int128 scale = 1;
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // The calls of released, started, completed, ended and ran that follow regard this job of the instance, and
  // processors of this kind. Only simulate_easy says so: there a job may start before an earlier one of its
  // organization.
  virtual void regards(std::uint32_t /*job*/, std::size_t /*kind*/) {}

  // A job entered the queue. Only REF and RAND look at its duration, for their coalitions' own schedules (conventions:
  // they are not strictly non-clairvoyant).
  virtual void released(std::int64_t t, const Job& job) = 0;
  // A job of `organization` started; returns whose processor it takes where the policy assigns one, else k_any_owner.
  virtual std::int32_t started(std::int64_t t, std::size_t organization) = 0;
  // A job of `organization` that started on a processor of `owner` (as returned by started) ended.
  virtual void completed(std::int64_t t, std::size_t organization, std::int32_t owner) = 0;
  // A policy that has to know which job ended returns true and gets ended() instead: `start` is the number of calls of
  // started() before the one for the job's start.
  [[nodiscard]] virtual bool asks_which_ended() const { return false; }
  virtual void ended(std::int64_t /*t*/, std::size_t /*start*/) {}
  // A policy that has to know how long jobs ran returns true and gets ran() just before each end.
  [[nodiscard]] virtual bool asks_run_times() const { return false; }
  virtual void ran(std::int64_t /*t*/, Duration /*duration*/) {}
  // Which of the `waiting` organizations (two or more; those whose first job fits) is served next. Not `scarce`: every
  // waiting job starts at this instant anyway, so the answer matters only to policies whose state depends on the order
  // of starts.
  [[nodiscard]] virtual std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool scarce) {
    SHAPLEY_REQUIRE(waiting >> k_coalition_organizations == 0);
    return choose(t, static_cast<Coalition>(waiting), scarce);
  }
  // The same where there are k_coalition_organizations at most.
  [[nodiscard]] virtual std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) = 0;

  // From t on organizations own this many processors (after the completions of that instant, before its releases).
  // Running jobs go on. False: the policy does not support changes, and nothing changed.
  [[nodiscard]] virtual bool endowed(std::int64_t /*t*/, const std::vector<std::uint32_t>& /*processors*/) {
    return false;
  }

  // phi at t of every organization, where the policy has one.
  [[nodiscard]] virtual std::optional<std::vector<Rational>> contributions(std::int64_t /*t*/) { return std::nullopt; }
  // At t, after everything that happens then is known, starts included; for policies that rank by a key and know its
  // terms.
  [[nodiscard]] virtual std::optional<Standings> standings(std::int64_t /*t*/) { return std::nullopt; }
  // v of every coalition the policy simulates, by bit mask.
  [[nodiscard]] virtual std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t /*t*/) {
    return {};
  }
};

// A policy of up to k_max_organizations. Those that value coalitions know k_coalition_organizations at most.
class PolicyOfMany : public Policy {
 public:
  [[nodiscard]] std::size_t choose_among(std::int64_t t, OrganizationSet waiting, bool scarce) override = 0;
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final {
    return choose_among(t, waiting, scarce);
  }
};

// Another policy's order of the organizations, taken once an instant: the behaviour of a resource manager that sorts
// its queue once a scheduling pass and starts what it can in that order, by ranks that were written before.
//
// At the first choice of an instant all waiting organizations are ordered by their keys and guarantees of that moment;
// until time moves on, the first one in that order with a job to start is served, however much has started meanwhile.
// No other organization begins to wait within an instant (see above), so that order suffices.
//
// REQUIRES: `policy` chooses by the schedule that is made. REF does not: it follows the schedule that it would make.
[[nodiscard]] std::unique_ptr<Policy> make_once_a_pass(std::unique_ptr<Policy> policy);

}  // namespace shapley::scheduling
