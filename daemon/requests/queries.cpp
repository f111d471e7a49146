#include "daemon/requests/queries.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "accounting/estimators/estimator.hpp"
#include "accounting/state/ranking.hpp"
#include "base/json.hpp"
#include "config/values.hpp"
#include "daemon/books/held_figures.hpp"
#include "daemon/requests/handlers.hpp"
#include "daemon/requests/reports.hpp"
#include "daemon/requests/visibility.hpp"
#include "daemon/version.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "reports/requests.hpp"

namespace shapley::daemon {

namespace {

using ledger::NoMembers;
using nlohmann::json;

// The present books or, while they are rebuilt, the earlier ones.
ledger::StatusReport books_report(Service& service, Instant now, accounting::EstimatorId estimator) {
  if (const HeldFigures* held = service.books().held()) return held->status.at(estimator.value);
  const accounting::EstimatorSet able = service.books().able(now);
  return ledger::status_report(service.books().state(), now, estimator, able, service.pending_jobs().startable_tasks());
}

// nullopt: no estimator can compute it, the one that can is behind, or the books are being rebuilt.
std::optional<ledger::WorthReport> worth_of_cooperation(Service& service, Instant now) {
  if (service.books().held() != nullptr) return std::nullopt;
  accounting::State& state = service.books().state();
  return ledger::worth_report(state, state.advance(now).worth(service.books().able(now)));
}

Expected<accounting::Outlook> outlook(Service& service, Instant now, accounting::EstimatorId wanted) {
  SHAPLEY_TRY(check_rebuilt(service));
  Books& books = service.books();
  return accounting::outlook(books.state().advance(now), accounting::acting(wanted, books.able(now)));
}

std::vector<ledger::NoStart> no_start_report(const Service& service, const std::vector<std::string>& only) {
  const HeldFigures* held = service.books().held();
  if (held == nullptr) return ledger::no_start_report(service.books().state(), only);
  std::vector<ledger::NoStart> report = held->no_start;
  std::erase_if(report, [&](const ledger::NoStart& row) {
    return !only.empty() && std::ranges::find(only, row.organization) == only.end();
  });
  return report;
}

// Mode observe: beside each organization's rank by its standing the one that would order jobs now, had the ranks been
// in force. That is the list kept for the plugin, which is as old as the last event or tick.
void add_would_be_ranks(ledger::StatusReport& report, const std::vector<std::string>& order) {
  for (ledger::OrganizationRow& row : report.organizations) {
    const auto place = std::ranges::find(order, row.is.name);
    row.would_rank.emplace();
    if (place != order.end()) *row.would_rank = static_cast<std::size_t>(place - order.begin()) + 1;
  }
}

Expected<Answer> status(Service& service, const ledger::StatusRequest& asked, const Context& context) {
  SHAPLEY_TRY(check_contribution(asked.contribution));
  const accounting::EstimatorId estimator =
      accounting::parse_estimator(asked.contribution).value_or(service.site().configuration.contribution);
  ledger::StatusReport report = books_report(service, context.now, estimator);
  if (asked.worth) report.worth.emplace(worth_of_cooperation(service, context.now));
  std::map<std::string, std::string> titles;
  for (const config::OrganizationConfig& o : service.site().configuration.organizations) titles[o.name] = o.title;
  ledger::set_titles(report, titles);
  const bool observes = service.site().configuration.mode == config::Mode::observe;
  report.ranks_act = !observes;
  if (observes) add_would_be_ranks(report, service.ranks().organizations);
  for (ledger::OtherClusterReport& other : report.clusters) {
    const Consortium::Cluster* cluster = std::as_const(service).consortium().find(other.cluster);
    if (cluster == nullptr) continue;
    if (const auto heard = service.consortium().heard_at(*cluster)) other.heard_at = *heard;
    other.fault = cluster->fault;
    other.is_refused = cluster->is_refused;
    other.refused = cluster->refused;
    other.ahead = cluster->ahead;
    other.jump = cluster->jump;
  }
  report.daemon = daemon_report(service, context.now);
  report.plugin = plugin_report(service, context.now);
  if (!asked.forecast) return reply_of(context.visible.show(std::move(report)));
  // Every pair of organizations: not in the serving thread.
  SHAPLEY_TRY_ASSIGN(auto ahead, outlook(service, context.now, estimator));
  return [report = std::move(report), ahead = std::move(ahead), visible = context.visible](
             ReadingThread::Connection& /*connection*/, ledger::QueryBudget /*budget*/) {
    ledger::StatusReport with_forecast = report;
    with_forecast.forecast = ledger::forecast_report(ahead);
    return reply_of(visible.show(std::move(with_forecast)));
  };
}

Expected<Answer> jobs(Service& service, const ledger::JobsFilter& asked, const Context& context) {
  SHAPLEY_TRY(ledger::check_organizations(service.books().state(), asked.organizations));
  // From the present books; the thread reads the ledger a moment later.
  auto no_start = no_start_report(service, asked.organizations);
  SHAPLEY_TRY_ASSIGN(ledger::JobsFilter filter, ledger::with_users_of(service.books().state().user_names(), asked));
  filter.organizations = ledger::booked_names(service.books().state(), asked.organizations);
  return [filter = std::move(filter), now = context.now, visible = context.visible, no_start = std::move(no_start),
          books = ledger::JobsContext::of(service.books().state())](ReadingThread::Connection& connection,
                                                                    ledger::QueryBudget budget) {
    const Expected<ledger::Ledger>& ledger = connection.ledger();
    if (!ledger) return text_of_error(ledger.error());
    auto report = ledger::jobs_report(*ledger, filter, now, budget, visible.jobs());
    if (!report) return text_of_error(report.error());
    report->no_start = no_start;
    ledger::complete(*report, books);
    return reply_of(visible.show(*std::move(report)));
  };
}

// Any reader may have a signed head: it reveals no more than the file does, and the more copies exist, the harder the
// ledger is to forge.
Expected<Answer> head(Service& service, const NoMembers& /*asked*/, const Context& context) {
  const auto& key = service.site().signing_key;
  if (!key) {
    return fail(Errc::denied,
                "shapleyd has no key to sign a head with: make one with shapleyctl keygen and name it in the "
                "configuration (signing_key)");
  }
  SHAPLEY_TRY_ASSIGN(const auto signed_head, ledger::sign_head(service.books().ledger(), *key, context.now));
  return shapley::text_of(json{{"head", signed_head.text()}, {"public_key", key->public_key().pem()}});
}

Expected<Answer> workflows(Service& service, const ledger::WorkflowsRequest& asked, const Context& context) {
  const auto sees = [&](std::uint32_t user_id, std::string_view account) {
    return context.visible.sees_job(user_id, account);
  };
  SHAPLEY_TRY_ASSIGN(auto report, service.workflows().report(asked.organization, sees, context.now));
  return reply_of(context.visible.show(std::move(report)));
}

Expected<Answer> queue(Service& service, const NoMembers& /*asked*/, const Context& context) {
  if (!context.visible.sees_all_jobs()) {
    return fail(Errc::denied,
                "others' pending jobs are private here (PrivateData): they are for root, slurm_user and Slurm's "
                "operators; shapleyctl jobs lists those that you may see");
  }
  ledger::QueueReport report = service.pending_jobs().report();
  report.at = context.now;
  report.plugin_connected = service.feeder() && service.feeder()->connected;
  return reply_of(context.visible.show(std::move(report)));
}

Expected<Answer> adjustments(Service& service, const NoMembers& /*asked*/, const Context& context) {
  return reply_of(context.visible.show(ledger::adjustments_report(service.books().state())));
}

Expected<Answer> ping(Service& /*service*/, const NoMembers& /*asked*/, const Context& context) {
  return shapley::text_of(json{{"pong", k_program}, {"at", context.now.value}});
}

// All members may read the rules by which the books are made.
Expected<Answer> configuration(Service& service, const NoMembers& /*asked*/, const Context& /*context*/) {
  json answer = json_of(configuration_report(service));
  answer.update({{"text", service.site().text}});
  return shapley::text_of(answer);
}

// What the other clusters of the consortium ask for. It shows no more than `status`, and is signed. What a ledger that
// follows has is of an earlier event than what the other controller stated: elsewhere it would look like a copy that
// was restored.
Expected<Answer> standing(Service& service, const NoMembers& /*asked*/, const Context& context) {
  if (!service.is_active())
    return fail(Errc::unavailable, "the other one of the two controllers states: this one follows its ledger");
  SHAPLEY_TRY_ASSIGN(
      const auto statement,
      service.consortium().statement(service.cluster().name(), service.site().signing_key.get(), context.now));
  return statement.text();
}

template <typename Members>
Expected<Handler> handler_of(Expected<Answer> (*handle)(Service&, const Members&, const Context&),
                             const json& request) {
  SHAPLEY_TRY_ASSIGN(Members members, request_from<Members>(request));
  return [handle, members = std::move(members)](Service& service, const Context& context) {
    return handle(service, members, context);
  };
}

template <auto handle>
constexpr Request row(std::string_view name, Asker may_ask, Lane lane, std::string_view subject,
                      std::string_view costly_member = {}) {
  return {name, may_ask, lane, subject, [](const json& request) { return handler_of(handle, request); }, costly_member};
}

constexpr Request k_requests[] = {
    row<accept_line>("accept_line", Asker::administrator, Lane::memory,
                     "that the ledger of another cluster of the consortium was begun again or restored"),
    row<adjust>("adjust", Asker::administrator, Lane::memory, "a correction of the books"),
    row<adjust_preview>("adjust_preview", Asker::remote_administrator, Lane::report, "what a correction would change"),
    row<adjustments>("adjustments", Asker::anybody, Lane::memory, "all corrections of the books"),
    row<begin>("begin", Asker::administrator, Lane::memory,
               "that this one of two controllers may write without what the other one has"),
    row<compare>("compare", Asker::anybody, Lane::ledger,
                 "who of two organizations or jobs goes first and why, and since when"),
    row<configuration>("configuration", Asker::anybody, Lane::memory, "the configuration in force, as text"),
    row<explain>("explain", Asker::anybody, Lane::ledger, "what the books say about a job that waits"),
    row<follow>("follow", Asker::remote_administrator, Lane::memory,
                "the ledger's events after one, for the other of two controllers"),
    row<head>("head", Asker::anybody, Lane::memory, "the ledger's present head, signed"),
    row<history>("history", Asker::anybody, Lane::report, "the books by hour, day, month or shorter intervals"),
    row<jobs>("jobs", Asker::anybody, Lane::ledger, "jobs that run or could start, or all"),
    row<ping>("ping", Asker::anybody, Lane::memory, "whether shapleyd answers"),
    row<queue>("queue", Asker::anybody, Lane::memory, "the startable pending jobs"),
    row<rename_cluster>("rename_cluster", Asker::administrator, Lane::memory,
                        "that the cluster has another ClusterName"),
    row<standing>("standing", Asker::anybody, Lane::memory,
                  "what organizations are owed here, signed, for other clusters of the consortium"),
    row<statement>("statement", Asker::anybody, Lane::report,
                   "what organizations got, gave and lent to each other in a time"),
    row<status>("status", Asker::anybody, Lane::memory, "the books now, the daemon and the plugin", "forecast"),
    row<status_at>("status_at", Asker::anybody, Lane::report, "the books at a past instant"),
    row<note_upkeep>("upkeep", Asker::administrator, Lane::memory,
                     "that a backup, an audit or a month's papers of this ledger were made"),
    row<workflows>("workflows", Asker::anybody, Lane::memory,
                   "the workflows of organizations that order theirs by fairness"),
};

std::string names_of(std::span<const Request> table) {
  std::string names;
  for (const Request& row : table) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

// A member whose name is empty is no costly one: it would move the request of any row to another lane.
bool is_costly(const Request& row, const json& request) {
  if (row.costly_member.empty()) return false;
  const auto costly = request.find(row.costly_member);
  return costly != request.end() && costly->is_boolean() && costly->get<bool>();
}

// If the daemon runs as a user of its own, that user can read the ledger, too.
Visibility visibility_of(const Service& service, Asker asker, std::uint32_t user_id) {
  if (asker != Asker::anybody || user_id == ::geteuid()) return Visibility::everything();
  const auto& kept = service.privacy();
  return Visibility::of(kept ? std::optional(kept->privacy) : std::nullopt, user_id);
}

}  // namespace

std::span<const Request> requests() {
  return k_requests;
}

Expected<const Request*> find_request(std::span<const Request> table, const json& request) {
  const auto named = request.is_object() ? request.find("request") : request.end();
  if (!request.is_object() || named == request.end() || !named->is_string())
    return fail(Errc::protocol, "a request is an object with a member \"request\"");
  const auto name = named->get<std::string>();
  const auto row = std::ranges::find(table, name, &Request::name);
  if (row == table.end()) {
    return fail(Errc::not_found, fmt::format("unknown request '{}'; known are {}", name, names_of(table)));
  }
  return &*row;
}

Expected<void> check_asker(const Request& row, Asker asker) {
  if (asker >= row.may_ask) return {};
  const std::string name(row.name);
  if (asker == Asker::anybody) return fail(Errc::denied, fmt::format("only root and slurm_user may ask '{}'", name));
  return fail(
      Errc::denied,
      fmt::format("'{}' changes something: root or slurm_user ask it themselves, on shapleyd's own host", name));
}

ParsedRequest parse_request(std::string_view text) {
  const json request = parse_json(text);
  if (request.is_discarded()) return {nullptr, fail(Errc::protocol, "the request is no JSON, or nests too deep")};
  const auto row = find_request(requests(), request);
  if (!row) return {nullptr, tl::unexpected(row.error())};
  return {*row, (*row)->parse(request), is_costly(**row, request) ? Lane::ledger : (*row)->lane};
}

Answer answer(Service& service, const ParsedRequest& request, Instant now, Asker asker, std::uint32_t user_id) {
  const auto answered = [&]() -> Expected<Answer> {
    if (request.row != nullptr) SHAPLEY_TRY(check_asker(*request.row, asker));
    if (!request.handler) return tl::unexpected(request.handler.error());
    return (*request.handler)(service, {now, visibility_of(service, asker, user_id), user_id});
  }();
  return answered ? *answered : Answer(text_of_error(answered.error()));
}

std::string text_of_error(const Error& error) {
  return shapley::text_of(error_reply(error));
}

}  // namespace shapley::daemon
