#include "ctl/rank_answers.hpp"

#include <utility>
#include <vector>

#include <unistd.h>

#include "config/configuration.hpp"
#include "config/identities.hpp"
#include "ctl/offline.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/reports/booked_by.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/moment.hpp"
#include "protocol/classifier.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

// What a source has opened.
struct OfflineBooks {
  const ledger::Ledger& ledger;
  ledger::Moment moment;
  ledger::PastQuestion past;
};

ledger::RuleFound rule_in(const std::string& configuration, const json& job) {
  const auto parsed = config::parse(configuration);
  if (!parsed) return {};  // an older release accepted it
  std::vector<protocol::Rule> rules;
  ledger::RuleFound found;
  for (config::NumberedRule& rule : config::known_rules(*parsed)) {
    if (rule.kind == RuleKind::account) found.by_account.push_back(rule.organization);
    rules.push_back({std::move(rule.organization), rule.kind, std::move(rule.name), rule.id});
  }
  const protocol::Classifier classifier(rules);
  const std::string account = job["account"];
  const std::string partition = job["partition"];
  const std::string qos = job["qos"];
  const protocol::Rule* rule = classifier.rule_of({.account = account,
                                                   .account_ancestors = {},
                                                   .partition = partition,
                                                   .qos = qos,
                                                   .user_id = job["user_id"].get<std::uint32_t>(),
                                                   .group_id = job["group_id"].get<std::uint32_t>()});
  if (rule != nullptr) {
    found.rule = {{"kind", protocol::name_of(rule->kind)},
                  {"name", rule->name},
                  {"organization", rule->organization},
                  {"through", "itself"}};
  }
  return found;
}

Expected<json> explain_offline(const OfflineBooks& books, const json& request) {
  SHAPLEY_TRY_ASSIGN(const ledger::JobName name, ledger::checked_job_name(request["job"]));
  SHAPLEY_TRY_ASSIGN(json report, ledger::explain_report(books.moment, books.ledger, name));
  const json job = report["job"];
  const ledger::RuleIn of_job = [&job](const std::string& configuration) { return rule_in(configuration, job); };
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_behind(books.ledger, books.moment.at));
  report["rule"] = loaded ? of_job(loaded->text).rule : json(nullptr);
  SHAPLEY_TRY_ASSIGN(report["booked_by"], ledger::booked_by(books.ledger, books.moment, job, report["rule"], of_job));
  report["priorities"] = nullptr;
  report["waits_for"] = nullptr;
  return report;
}

Expected<json> compare_offline(const OfflineBooks& books, const json& request) {
  SHAPLEY_TRY_ASSIGN(const ledger::Side a, ledger::side_of(books.moment, books.ledger, request["a"]));
  SHAPLEY_TRY_ASSIGN(const ledger::Side b, ledger::side_of(books.moment, books.ledger, request["b"]));
  std::optional<ledger::PairHistory> history;
  if (a.organization != b.organization) {
    SHAPLEY_TRY_ASSIGN(history, ledger::pair_history(books.ledger, books.past, a.organization, b.organization));
  }
  json report = ledger::compare_report(books.moment, a, b, history);
  report["since_unknown"] = nullptr;
  report["priorities"] = nullptr;
  return report;
}

Expected<OfflineBooks> books_of(const ledger::Ledger& ledger, const RankSource& source, std::optional<Instant> at) {
  ledger::PastQuestion past{.at = {},
                            .archives = archives_of(source.ledger, source.archives),
                            .budget = {},
                            .next_starts = ledger::k_reported_starts};
  if (at) {
    past.at = *at;
    SHAPLEY_TRY_ASSIGN(ledger::Moment moment, ledger::past_moment(ledger, past));
    return OfflineBooks{ledger, std::move(moment), std::move(past)};
  }
  SHAPLEY_TRY_ASSIGN(past.at, ledger::last_recorded(ledger));
  // The present needs no replay of the whole past.
  SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
  ledger::Moment moment = ledger::moment_of(recovered.state, past.at, ledger::ranking_estimator(recovered.state));
  return OfflineBooks{ledger, std::move(moment), std::move(past)};
}

Expected<json> answer_offline(const ledger::Ledger& ledger, const json& request, const RankSource& source,
                              std::optional<Instant> at) {
  SHAPLEY_TRY_ASSIGN(const OfflineBooks books, books_of(ledger, source, at));
  if (request["request"] == "explain") return explain_offline(books, request);
  if (request["request"] == "compare") return compare_offline(books, request);
  return ledger::forecast_report(books.moment);
}

}  // namespace

Expected<json> offline_rank_answer(const json& request, const RankSource& source, std::optional<Instant> at) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(source.ledger));
  auto answer = answer_offline(opened.ledger(), request, source, at);
  if (!answer) return with_context(source.ledger, std::move(answer).error());
  return answer;
}

Expected<json> rank_answer(json request, const RankSource& source, const Endpoint& endpoint) {
  std::optional<Instant> at;
  if (!source.at.empty()) {
    SHAPLEY_TRY_ASSIGN(at, parse_past_time(source.at, "--at", source.ledger));
  }
  if (!source.ledger.empty()) return offline_rank_answer(request, source, at);
  if (at && !endpoint.is_remote()) {
    SHAPLEY_TRY_ASSIGN(const std::filesystem::path ledger, daemon_ledger(endpoint));
    if (::access(ledger.c_str(), R_OK) == 0) {
      return offline_rank_answer(request, {ledger.native(), source.at, source.archives}, at);
    }
  }
  if (at) request["at"] = at->value;
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask(request);
}

}  // namespace shapley::ctl
