// Why a job is its organization's, as JSON: by which rule of which configuration, or by which correction of the books.
// docs/reference/shapleyctl.md lists every member.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// What a configuration says of a job, without the accounts above its own, which the ledger does not keep.
struct RuleFound {
  nlohmann::json rule = nullptr;        // the one that matches; null: none does
  std::vector<std::string> by_account;  // organizations that have rules about accounts
};
using RuleIn = std::function<RuleFound(const std::string& configuration)>;

// `job`: as job_at() has it. `rule`: of the configuration in force at the moment, with all that is known of the job.
// Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<nlohmann::json> booked_by(const Ledger& ledger, const Moment& moment, const nlohmann::json& job,
                                                 const nlohmann::json& rule, const RuleIn& rule_in);

}  // namespace shapley::ledger
