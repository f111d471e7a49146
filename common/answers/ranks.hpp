// The answers about ranks, why a job waits and which of two goes first, from a ledger and the books at one moment. The
// only code that answers these requests: for shapleyd, which knows more than its ledger, and for shapleyctl on a file.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/past.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"
#include "protocol/classifier.hpp"
#include "reports/compare.hpp"
#include "reports/explain.hpp"
#include "reports/requests.hpp"

namespace shapley::answers {

// What is asked: a ledger, and its books at a moment.
struct RankBooks {
  const ledger::Ledger& ledger;
  ledger::Moment moment;
  ledger::PastQuestion past;        // up to the moment
  ledger::QueryBudget budget = {};  // for each question to the ledger's tables
};

// What the asker may see, and what a running shapleyd knows beside its ledger.
struct Known {
  // Whether the asker may see the job that job_at() returned for that name; empty: every job.
  std::function<Expected<void>(const Expected<ledger::JobAt>& job, const std::string& name)> check_job = {};
  // The rules in force; nullopt: those of the configuration that the ledger has of that time.
  std::optional<std::vector<protocol::Rule>> rules = {};
  std::optional<ledger::RuleMatched> rule = {};  // of the job that is asked about, by its record; nullopt: by `rules`
  std::optional<ledger::Priorities> priorities = {};
  std::optional<std::string> waits_for = {};
  std::map<std::string, Instant> statements = {};  // OtherClusterReport::heard_at by cluster
};

// Errc::invalid_argument: no books can answer this request.
[[nodiscard]] Expected<void> check(const ledger::ExplainRequest& asked);
[[nodiscard]] Expected<void> check(const ledger::CompareRequest& asked);

// The answer of these books; the member `at` of a request is not read. Errors: those of check(), of check_job, of
// ledger::job_at(), ledger::explain_report() and ledger::compare_report().
[[nodiscard]] Expected<ledger::ExplainReport> answer(const ledger::ExplainRequest& asked, const RankBooks& books,
                                                     const Known& known = {});
[[nodiscard]] Expected<ledger::CompareReport> answer(const ledger::CompareRequest& asked, const RankBooks& books,
                                                     const Known& known = {});

// The answer of a ledger's file, at the request's instant or at its last record; errors name the file.
[[nodiscard]] Expected<ledger::ExplainReport> answer(const ledger::ExplainRequest& asked, const LedgerFile& file);
[[nodiscard]] Expected<ledger::CompareReport> answer(const ledger::CompareRequest& asked, const LedgerFile& file);

}  // namespace shapley::answers
