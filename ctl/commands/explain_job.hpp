// The first sentences of `shapleyctl explain`: whose the job is and why, how it is, and, once it has started, what went
// before. Pure, but for names of users.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace shapley::ctl {

// `report`: as ledger::explain_report has it, with the members that shapleyctl adds.
[[nodiscard]] std::string job_lines(const nlohmann::json& report);

// Rows of organization, jobs and processors: "astro 12 jobs with 35 processors, bio 1 job with 2 and chem 1 job with
// 1".
[[nodiscard]] std::string demands_text(const nlohmann::json& rows);

}  // namespace shapley::ctl
