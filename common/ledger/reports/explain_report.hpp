// The answer to "Why is my job waiting?" (reports/explain.hpp) from the books at a moment and the ledger's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/job_name.hpp"
#include "ledger/reports/forecast_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"
#include "reports/explain.hpp"

namespace shapley::ledger {

// How many of the runs that began after a past instant are listed, and how many of the last ones that began while the
// job waited; the latter are all counted.
inline constexpr std::size_t k_reported_starts = 10;
inline constexpr std::size_t k_listed_earlier_starts = 10;

// As parse_job_name (base/job_name.hpp); Errc::invalid_argument names the allowed forms.
[[nodiscard]] Expected<JobName> checked_job_name(const std::string& text);

// The rules of a configuration that concern a job, without the accounts above its own.
struct RuleFound {
  std::optional<RuleMatched> rule = {};      // nullopt: none matches
  std::vector<std::string> by_account = {};  // organizations that have rules about accounts
};
using RuleIn = std::function<RuleFound(const std::string& configuration, const JobIdentity& job)>;

// The job by the ledger's tables and the moment. Errc::invalid_argument: there is no such job in the ledger.
[[nodiscard]] Expected<JobAt> job_at(const Moment& moment, const Ledger& ledger, const JobName& name,
                                     QueryBudget budget = {});

// The job as if it began to wait at the moment. `rule`: the one that matches it; nullopt: it is of guests.
[[nodiscard]] JobAt hypothetical_job(const Moment& moment, const SubmissionAsked& asked,
                                     const std::optional<RuleMatched>& rule);

// What is known of a job besides the ledger and the books.
struct ExplainSources {
  RuleIn rule_in;                                                                   // of a configuration's text
  std::function<std::optional<RuleMatched>(const JobIdentity& job)> rule_now = {};  // none: of the ledger's text
  std::optional<Priorities> priorities = {};
  std::optional<std::string> waits_for = {};
};

// `job`: the result of job_at() or hypothetical_job(). What started while it waited is read from the events between the
// one that describes the job and its start; it is left out if that exceeds the budget. Errors: Errc::invalid_argument
// if the books did not know its organization then, Errc::corrupt, Errc::io.
[[nodiscard]] Expected<ExplainReport> explain_report(const Moment& moment, const Ledger& ledger, JobAt job,
                                                     const ExplainSources& sources, QueryBudget budget = {});

}  // namespace shapley::ledger
