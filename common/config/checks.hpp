// Checks of a configuration as a whole, after it was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "accounting/state/organizations.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"

namespace shapley::config {

// What is valid but probably not intended, in line order, each with its remedy: shapleyd logs it when it loads the
// file, check-config prints it.
[[nodiscard]] std::vector<Fault> doubts(const Configuration& configuration);

// Organizations that the configuration names by a name which the books know as a former one. shapleyd checks it before
// it takes over a file, as do `shapleyd --check-config` and `shapleyctl check-config`. Pure.
//
// In line order, each with the name to write.
[[nodiscard]] std::vector<Fault> former_name_faults(const Configuration& configuration,
                                                    const accounting::FormerNames& former);

// Clusters of the consortium that are this cluster itself, which its books call `cluster`. Use it together with
// former_name_faults.
[[nodiscard]] std::vector<Fault> consortium_faults(const Configuration& configuration, std::string_view cluster);

// Up to how many organizations of a file an estimator is kept: guests and commons are in the books without being named.
[[nodiscard]] std::size_t most_organizations(accounting::EstimatorId estimator);

// Reports the first organization that exceeds the number which the estimator of `contribution` is kept for.
void check_contribution(const Configuration& configuration, FaultList& faults);

// What depends on this machine: the numbers of the users and groups that a configuration names. shapleyd and
// `shapleyctl check-config` look them up alike.
struct Identities {
  std::vector<std::uint32_t> rules;  // of every rule, in the configuration's order; 0 for kinds that have names only
  std::uint32_t slurm_user = 0;
};

// Numeric ids are taken as they are. On failure every name that this machine does not know, in line order.
[[nodiscard]] tl::expected<Identities, std::vector<Fault>> identify(const Configuration& configuration);

// A rule with the number of the user or group that it names; 0 for kinds that have names only.
struct NumberedRule {
  std::string organization;
  RuleKind kind = RuleKind::account;
  std::string name;
  std::uint32_t id = 0;
};

// In the configuration's order. A user or group that this machine does not know, as one of a former configuration may
// be, is left out.
[[nodiscard]] std::vector<NumberedRule> known_rules(const Configuration& configuration);

// The fault of a signing key, or of another cluster's public key, that cannot be used, and why.
[[nodiscard]] Fault signing_key_fault(const Error& why);
[[nodiscard]] Fault public_key_fault(const OtherClusterConfig& cluster, const Error& why);

// What changes from one configuration to another, in sentences for people. Pure.
//
// One line for each change, in this order: keys of the file; clusters of the consortium; organizations that come, go or
// change; rules that come, go or change hands; nodes that change owner at `now` or later. Empty: nothing that matters
// differs.
[[nodiscard]] std::vector<std::string> differences(const Configuration& before, const Configuration& after,
                                                   Instant now);

}  // namespace shapley::config
