// Every policy by the name that the command line uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/policies/rand.hpp"

namespace shapley::sim {

struct PolicyOptions {
  std::uint64_t seed = 1;
  std::size_t samples = 15;                             // rand: number of permutations drawn
  std::vector<scheduling::Permutation> permutations{};  // rand: these instead of drawn ones
  std::optional<scheduling::RandAccuracy> accuracy{};   // rand: as many permutations as Theorem 5.6 asks for
  std::string utility = "psi_sp";                       // ref: the utility that is shared fairly
};

[[nodiscard]] std::vector<std::string> policy_names();

// Errc::invalid_argument for an unknown name (lists the known ones), permutations that do not fit the instance, or
// rigid jobs where the policy simulates coalitions (names the alternative); Errc::limit when the instance has more
// organizations than the policy can hold (names the alternative).
[[nodiscard]] Expected<std::unique_ptr<scheduling::Policy>> make_policy(std::string_view name,
                                                                        const scheduling::Instance& instance,
                                                                        const PolicyOptions& options);

// "012,210": one permutation per word, a digit or letter (0-9, a-v) per organization.
[[nodiscard]] Expected<std::vector<scheduling::Permutation>> parse_permutations(std::string_view text);

}  // namespace shapley::sim
