// What only this machine can say of a configuration: the numbers of the users and groups that it names. shapleyd and
// `shapleyctl check-config` ask the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/configuration.hpp"

namespace shapley::config {

struct Identities {
  std::vector<std::uint32_t> rules;  // of every rule, in the configuration's order; 0 for a kind that goes by name
  std::uint32_t slurm_user = 0;
};

// Numeric ids are taken as they are. On failure every name that this machine does not know, in line order.
[[nodiscard]] tl::expected<Identities, std::vector<Fault>> identify(const Configuration& configuration);

// A rule with the number of what it names; 0 for a kind that goes by name.
struct NumberedRule {
  std::string organization;
  RuleKind kind = RuleKind::account;
  std::string name;
  std::uint32_t id = 0;
};

// In the configuration's order. A user or group that this machine does not know, as one of a former configuration may
// be, is left out.
[[nodiscard]] std::vector<NumberedRule> known_rules(const Configuration& configuration);

// The fault of a signing key that cannot be used, and why.
[[nodiscard]] Fault signing_key_fault(const Error& why);

}  // namespace shapley::config
