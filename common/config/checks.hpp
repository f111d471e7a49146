// What is checked of a whole configuration that could be read.
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

// What is no fault but hardly meant, in line order, each with its remedy: shapleyd logs it when it loads the file,
// check-config prints it.
[[nodiscard]] std::vector<Fault> doubts(const Configuration& configuration);

// Whether a configuration names an organization by a name that the books know as a former one. shapleyd asks before it
// takes a file over, `shapleyd --check-config` and `shapleyctl check-config` beforehand. Pure.
//
// In line order, each with the name to write.
[[nodiscard]] std::vector<Fault> former_name_faults(const Configuration& configuration,
                                                    const accounting::FormerNames& former);

// Whether the consortium's other clusters are others than this one, whose books know it by `cluster`. To be asked with
// former_name_faults.
[[nodiscard]] std::vector<Fault> consortium_faults(const Configuration& configuration, std::string_view cluster);

// For how many organizations of a file an estimator is kept: guests and commons are in the books without being named.
[[nodiscard]] std::size_t most_organizations(accounting::EstimatorId estimator);

// Reports the first organization that is too many for the estimator of `contribution`.
void check_contribution(const Configuration& configuration, FaultList& faults);

// What only this machine can say of a configuration: the numbers of the users and groups that it names. shapleyd and
// `shapleyctl check-config` ask the same.
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
