#include "answers/ranks.hpp"

#include <utility>

#include <fmt/format.h>

#include "ledger/readers/declarations.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "site_rules/attribution.hpp"

namespace shapley::answers {

namespace {

using Rule = std::optional<ledger::RuleMatched>;

Expected<Rule> rule_of_submission(const ledger::SubmissionAsked& asked, const RankBooks& books, const Known& known) {
  if (known.rules) return site_rules::rule_of(protocol::Classifier(*known.rules), asked);
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_behind(books.ledger, books.moment.at));
  return loaded ? site_rules::rule_for(loaded->text, asked) : std::nullopt;
}

Expected<ledger::ExplainReport> explained_submission(const ledger::SubmissionAsked& asked, const RankBooks& books,
                                                     const Known& known) {
  SHAPLEY_TRY_ASSIGN(const Rule rule, rule_of_submission(asked, books, known));
  return ledger::explain_report(books.moment, books.ledger, ledger::hypothetical_job(books.moment, asked, rule),
                                {.rule_in = site_rules::rule_in,
                                 .rule_now = [rule](const ledger::JobIdentity& /*job*/) { return rule; },
                                 .priorities = known.priorities},
                                books.budget);
}

void add_statements(std::vector<ledger::OtherClusterReport>& clusters, const Known& known) {
  for (ledger::OtherClusterReport& cluster : clusters) {
    if (const auto heard = known.statements.find(cluster.cluster); heard != known.statements.end())
      cluster.heard_at = heard->second;
  }
}

// Others' jobs are in the answer as sums for each organization only.
Expected<ledger::ExplainReport> explanation(const ledger::ExplainRequest& asked, const RankBooks& books,
                                            const Known& known) {
  if (asked.submit) return explained_submission(*asked.submit, books, known);
  SHAPLEY_TRY_ASSIGN(const JobName name, ledger::checked_job_name(asked.job));
  auto found = ledger::job_at(books.moment, books.ledger, name, books.budget);
  if (known.check_job) SHAPLEY_TRY(known.check_job(found, asked.job));
  if (!found) return tl::unexpected(std::move(found).error());
  ledger::ExplainSources sources{
      .rule_in = site_rules::rule_in, .priorities = known.priorities, .waits_for = known.waits_for};
  if (known.rules) {
    sources.rule_now = [&known](const ledger::JobIdentity& job) {
      return known.rule ? known.rule : site_rules::rule_of(protocol::Classifier(*known.rules), job);
    };
  }
  return ledger::explain_report(books.moment, books.ledger, *std::move(found), sources, books.budget);
}

Expected<RankBooks> books_of(const ledger::Ledger& ledger, std::optional<Instant> at, const LedgerFile& file) {
  ledger::PastQuestion past{
      .at = {}, .archives = file.archive_directory(), .budget = {}, .next_starts = ledger::k_reported_starts};
  if (at) {
    past.at = *at;
    SHAPLEY_TRY_ASSIGN(ledger::Moment moment, ledger::past_moment(ledger, past));
    return RankBooks{.ledger = ledger, .moment = std::move(moment), .past = std::move(past)};
  }
  SHAPLEY_TRY_ASSIGN(past.at, ledger::last_recorded(ledger));
  // The present does not require a replay of the whole past.
  SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
  ledger::Moment moment = ledger::moment_of(recovered.state, past.at, ledger::ranking_estimator(recovered.state));
  return RankBooks{.ledger = ledger, .moment = std::move(moment), .past = std::move(past)};
}

template <typename Request>
Expected<typename Request::Report> of_file(const Request& asked, const LedgerFile& file) {
  return from_ledger(file.path, [&](const ledger::Ledger& ledger) -> Expected<typename Request::Report> {
    SHAPLEY_TRY_ASSIGN(const RankBooks books, books_of(ledger, asked.at, file));
    return answer(asked, books);
  });
}

}  // namespace

Expected<void> check(const ledger::ExplainRequest& asked) {
  if (!asked.submit) return ledger::checked_job_name(asked.job).map([](const JobName& /*name*/) {});
  if (asked.submit->processors >= 1 && asked.submit->processors <= ledger::k_most_processors_asked) return {};
  return fail(Errc::invalid_argument,
              fmt::format("a job asks for 1 to {} processors", ledger::k_most_processors_asked));
}

Expected<void> check(const ledger::CompareRequest& asked) {
  if (!asked.a.empty() && !asked.b.empty()) return {};
  return fail(Errc::invalid_argument, "a and b are names of organizations or jobs");
}

Expected<ledger::ExplainReport> answer(const ledger::ExplainRequest& asked, const RankBooks& books,
                                       const Known& known) {
  SHAPLEY_TRY(check(asked));
  SHAPLEY_TRY_ASSIGN(ledger::ExplainReport report, explanation(asked, books, known));
  add_statements(report.clusters, known);
  return report;
}

Expected<ledger::CompareReport> answer(const ledger::CompareRequest& asked, const RankBooks& books,
                                       const Known& known) {
  SHAPLEY_TRY(check(asked));
  SHAPLEY_TRY_ASSIGN(ledger::CompareReport report,
                     ledger::compare_report(
                         books.moment, books.ledger,
                         {.a = asked.a, .b = asked.b, .past = books.past, .check_job = known.check_job}, books.budget));
  report.priorities = known.priorities;
  add_statements(report.clusters, known);
  return report;
}

Expected<ledger::ExplainReport> answer(const ledger::ExplainRequest& asked, const LedgerFile& file) {
  return of_file(asked, file);
}

Expected<ledger::CompareReport> answer(const ledger::CompareRequest& asked, const LedgerFile& file) {
  return of_file(asked, file);
}

}  // namespace shapley::answers
