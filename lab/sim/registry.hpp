// Every policy by its name on the command line, and the rule that a name may have: direct_contr@7d/0.5/0.1 is
// direct_contr with a horizon of 7 days, a guarantee of a half and a weight of .1 of what runs;
// direct_contr@braking/0.5 brakes in time (game/braking.hpp); direct_contr@7d/once orders organizations once an instant
// (scheduling/policies/policy.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::sim {

struct PolicyOptions {
  std::uint64_t seed = 1;
  std::size_t samples = 15;                             // rand: number of permutations drawn
  std::vector<scheduling::Permutation> permutations{};  // rand: these instead of drawn ones
  std::optional<scheduling::RandAccuracy> accuracy{};   // rand: as many permutations as Theorem 5.6 asks for
  std::string utility = "psi_sp";                       // ref: the utility that is shared fairly
  scheduling::FairTreeOptions fair_tree{};              // fair_tree: when usage changes, and how it is forgotten
  scheduling::TakenProcessors taken{};                  // direct_contr: whose processors jobs took, where it is known
  game::ServingRule rule{};                             // for ranks by phi - psi, if the name has no rule
  bool once_a_pass = false;                             // likewise, except for ref, which cannot
  // Rigid jobs start as processors are free, not in the order of each organization: policies that simulate coalitions
  // are refused.
  bool backfill = false;
};

[[nodiscard]] std::vector<std::string> policy_names();
// For --help: a line for each limit of organizations, with the policies that have it.
[[nodiscard]] std::string policy_list();

struct NamedPolicy {
  std::string name;
  game::ServingRule rule;
  bool once = false;  // its name ends with "/once"
};
// "NAME", "NAME@HORIZON", "NAME@HORIZON/GUARANTEE" or "NAME@HORIZON/GUARANTEE/WEIGHT", and each with "/once" at its
// end; "braking" instead of a horizon, then PACE instead of WEIGHT. A name without a rule has the rule `otherwise`; if
// a name has one, a missing guarantee or weight is 0, a missing pace pace_under().
// Errc::invalid_argument when the rule cannot be read.
[[nodiscard]] Expected<NamedPolicy> parse_policy(std::string_view text, const game::ServingRule& otherwise);
// The shortest text from which parse_policy reads this rule if `otherwise` is the published one: "direct_contr",
// "ref@7d", "ref@0/0.5", "ref@30d/0.5/0.1", "direct_contr@30d/once".
[[nodiscard]] std::string policy_text(std::string_view name, const game::ServingRule& rule, bool once = false);

// `policy`: in the form of parse_policy. Errc::invalid_argument for an unknown name (lists the known ones), a rule that
// cannot be read or that the policy does not have, permutations that do not fit the instance, or rigid jobs if the
// policy simulates coalitions (names the alternative); Errc::limit when the instance has more organizations than the
// policy supports (names the alternative), or the horizon is too long for its length.
[[nodiscard]] Expected<std::unique_ptr<scheduling::Policy>> make_policy(std::string_view policy,
                                                                        const scheduling::Instance& instance,
                                                                        const PolicyOptions& options);

// "012,210": one permutation per word, a digit or letter (0-9, a-v) per organization.
[[nodiscard]] Expected<std::vector<scheduling::Permutation>> parse_permutations(std::string_view text);

}  // namespace shapley::sim
