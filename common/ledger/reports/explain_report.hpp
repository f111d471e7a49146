// "Why is my job waiting?", as far as the books tell, as JSON: whose job it is, its organization's standing and rank,
// who is served before it, and when that turns. docs/reference/shapleyctl.md lists every member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// So many of the runs that began after a past instant are listed.
inline constexpr std::size_t k_reported_starts = 10;

// A job as people name it.
struct JobName {
  std::uint32_t job = 0;              // its number, or its array's
  std::optional<std::uint32_t> task;  // of the array
  std::uint32_t het_job = 0;          // the heterogeneous job that it is a part of, if it was named as one
};

// "4711", "4711_3" or "4711+1", which is the number 4712. nullopt: it is none of them.
[[nodiscard]] std::optional<JobName> parse_job_name(std::string_view text);

// Errc::invalid_argument says what is allowed instead of `text`.
[[nodiscard]] Expected<JobName> checked_job_name(const std::string& text);

// What the ledger's tables and the moment know of the job: its description ("job", "submit", "organization", ...),
// "state" at the moment ("running", "waiting" for its turn, "blocked" for another reason, "suspended", "ended",
// "not submitted"), "since" and "processors". Errc::invalid_argument: no such job is in the ledger.
[[nodiscard]] Expected<nlohmann::json> job_at(const Moment& moment, const Ledger& ledger, const JobName& name,
                                              QueryBudget budget = {});

// Errors: those of job_at().
[[nodiscard]] Expected<nlohmann::json> explain_report(const Moment& moment, const Ledger& ledger, const JobName& name,
                                                      QueryBudget budget = {});

}  // namespace shapley::ledger
