#include "daemon/requests/queries.hpp"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "config/kept_estimators.hpp"
#include "config/values.hpp"
#include "daemon/books/hindsight_memory.hpp"
#include "daemon/requests/adjust_request.hpp"
#include "daemon/requests/cluster_request.hpp"
#include "daemon/requests/pair_requests.hpp"
#include "daemon/requests/rank_requests.hpp"
#include "daemon/requests/reports.hpp"
#include "daemon/requests/self_report.hpp"
#include "daemon/requests/upkeep_request.hpp"
#include "daemon/version.hpp"
#include "ledger/chain/signed_head.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/worth_report.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

json error_answer(Errc code, std::string what) {
  return {{"error", {{"code", name_of(code)}, {"what", std::move(what)}}}};
}

json queries_object(const Service::QueryCounts& queries) {
  return {{"waiting", queries.waiting},
          {"reading", queries.reading},
          {"answered", queries.answered},
          {"dropped", queries.dropped}};
}

// The books as they are, or, while they are rebuilt, as they were.
json books_report(Service& service, Instant now, accounting::EstimatorId estimator) {
  if (const HeldFigures* held = service.books().held()) return json::parse(held->status.at(estimator.value));
  const accounting::EstimatorSet able = service.books().able(now);
  return ledger::status_report(service.books().state(), now, estimator, able);
}

// null: no estimator can say, the one that can is behind, or the books are being rebuilt.
json worth_of_cooperation(Service& service, Instant now, const std::map<std::string, std::string>& titles) {
  if (service.books().held() != nullptr) return nullptr;
  accounting::State& state = service.books().state();
  json worth = ledger::worth_report(state, state.worth(now, service.books().able(now)));
  if (!worth.is_null()) ledger::set_titles(worth, titles);
  return worth;
}

json no_start_report(const Service& service, const std::vector<std::string>& only) {
  const HeldFigures* held = service.books().held();
  if (held == nullptr) return ledger::no_start_report(service.books().state(), only);
  json report = json::array();
  for (json& row : json::parse(held->no_start)) {
    const auto name = row["organization"].get<std::string>();
    if (only.empty() || std::ranges::find(only, name) != only.end()) report.push_back(std::move(row));
  }
  return report;
}

// null: the books are complete.
json rebuild_object(const Books& books) {
  const std::optional<Incomplete> incomplete = books.incomplete();
  if (!incomplete) return nullptr;
  return {{"since", incomplete->since.value},
          {"percent", incomplete->percent ? json(*incomplete->percent) : json(nullptr)}};
}

// null: the wall clock is not in doubt.
json clock_object(const TrustedClock* clock) {
  if (clock == nullptr || !clock->doubt()) return nullptr;
  const TrustedClock::Doubt& doubt = *clock->doubt();
  return {{"since", doubt.since.value}, {"ahead_s", doubt.ahead.value}, {"exact", doubt.is_exact}};
}

// null: no observation waits for the wall clock.
json held_object(const Intake& intake) {
  const auto held = intake.held();
  if (!held) return nullptr;
  return {{"since", held->since.value},
          {"messages", held->frames},
          {"observed_from", held->observed_from.value},
          {"observed_to", held->observed_to.value}};
}

json configuration_object(const Service& service) {
  const InForce& in_force = service.in_force();
  const auto& refusal = in_force.refusal();
  return {{"file", service.options().configuration_file.string()},
          {"hash", in_force.hash()},
          {"loaded_at", in_force.loaded_at().value},
          {"refused_at", refusal ? json(refusal->at.value) : json(nullptr)},
          {"refusal", refusal ? json(refusal->why) : json(nullptr)}};
}

// Of all that the ledger has on record. Times when slurmctld itself was down are among them: "unobserved_seconds" are
// those of the other ones.
json gaps_object(const Books& books) {
  const std::vector<accounting::ObservationGap> gaps = books.state().observation_gaps();
  Duration all;
  Duration unobserved;
  for (const accounting::ObservationGap& gap : gaps) {
    all += gap.end - gap.begin;
    if (gap.cause != accounting::GapCause::slurmctld_down) unobserved += gap.end - gap.begin;
  }
  const auto of_last = [&](const auto& member) { return gaps.empty() ? json(nullptr) : json(member(gaps.back())); };
  return {{"count", gaps.size()},
          {"seconds", all.value},
          {"unobserved_seconds", unobserved.value},
          {"last_begin", of_last([](const auto& gap) { return gap.begin.value; })},
          {"last_end", of_last([](const auto& gap) { return gap.end.value; })},
          {"last_cause", of_last([](const auto& gap) { return name_of(gap.cause); })}};
}

// Of all that the ledger has on record, and of the last one.
json losses_object(const Books& books) {
  const std::vector<accounting::StateLost> losses = books.state().state_losses();
  accounting::StateLost all;
  for (const accounting::StateLost& loss : losses) {
    all.closed += loss.closed;
    all.closed_seconds += loss.closed_seconds;
    all.retracted += loss.retracted;
    all.retracted_seconds += loss.retracted_seconds;
  }
  const auto counts = [](const accounting::StateLost& loss) {
    return json{{"closed", loss.closed},
                {"closed_processor_seconds", loss.closed_seconds},
                {"retracted", loss.retracted},
                {"retracted_processor_seconds", loss.retracted_seconds}};
  };
  json object = counts(all);
  object["count"] = losses.size();
  object["last"] = losses.empty() ? json(nullptr) : counts(losses.back());
  if (losses.empty()) return object;
  object["last"]["at"] = losses.back().at.value;
  object["last"]["seen"] = losses.back().seen.value;
  return object;
}

// null: as far as nobody has said.
json privacy_object(const Service& service) {
  const auto& kept = service.privacy();
  if (!kept) return {{"jobs", nullptr}, {"usage", nullptr}, {"told_at", nullptr}};
  return {{"jobs", kept->privacy.jobs}, {"usage", kept->privacy.usage}, {"told_at", kept->told_at.value}};
}

// Of what is measured while the books are complete.
json hindsight_object(const Service& service) {
  const accounting::State& state = service.books().state();
  return {{"bytes", state.bytes_of(config::hindsight_estimator())},
          {"bound_bytes", hindsight_bound(service.site().configuration, cgroup_memory())}};
}

json daemon_object(Service& service, Instant now) {
  const config::Configuration& c = service.site().configuration;
  return {{"version", k_version_text},
          {"pid", ::getpid()},
          {"started_at", service.started_at().value},
          {"now", now.value},
          {"ledger", c.ledger.string()},
          {"socket", c.socket.string()},
          {"configuration", configuration_object(service)},
          {"events", service.books().last_sequence()},
          {"events_since_checkpoint", service.books().events_since_checkpoint()},
          {"replayed_at_start", service.books().replayed_at_start()},
          {"rebuild", rebuild_object(service.books())},
          {"rebuilds", service.books().rebuilds()},
          {"clock", clock_object(service.clock())},
          {"held_observations", held_object(service.intake())},
          {"dropped_observations", service.intake().dropped()},
          {"lost_runs", service.intake().lost_runs()},
          {"hindsight", hindsight_object(service)},
          {"gaps", gaps_object(service.books())},
          {"state_losses", losses_object(service.books())},
          {"cluster", cluster_object(service)},
          {"mode", c.mode == config::Mode::observe ? "observe" : "priorities"},
          {"order", c.order == config::Order::strict ? "strict" : "weighted"},
          {"rank_generation", service.ranks().generation},
          {"ranks_computed_at", service.ranks().computed_at},
          {"stale_after_s", c.stale_after.value},
          {"commits", commits_object(service.books().commit_times())},
          {"storage", storage_object(c.ledger)},
          {"failures", failures_object(service)},
          {"backup", backup_object(service.upkeep())},
          {"audit", audit_object(service.upkeep())},
          {"privacy", privacy_object(service)},
          {"queries", queries_object(service.query_counts())},
          {"controller", controller_object(service)}};
}

json plugin_object(const Service& service, Instant now) {
  const auto& feeder = service.feeder();
  if (!feeder) return {{"connected", false}, {"last_heard_at", 0}};
  const auto last = service.intake().last_observation();
  json object{{"connected", feeder->connected},
              {"program", feeder->hello.program},
              {"cluster", feeder->hello.cluster},
              {"slurm_version", feeder->hello.slurm_version},
              {"interval_ms", feeder->hello.interval_ms},
              {"min_job_age_s", feeder->hello.min_job_age_s},
              {"backlog", feeder->backlog(service.intake().acknowledged(feeder->hello.instance))},
              {"dropped_backlogs", feeder->hello.dropped_backlogs},
              {"last_heard_at", feeder->last_heard.value},
              {"age_s", std::max<std::int64_t>(0, now.value - feeder->last_heard.value)},
              {"sign_of_life_s", feeder->hello.sign_of_life_s}};
  if (last) object["last_observation"] = last->value;
  return object;
}

// Mode observe: beside each organization's rank by its standing the one that would order jobs now, had the ranks been
// in force. That is the list kept for the plugin, which is as old as the last event or tick.
void add_would_be_ranks(json& report, const std::vector<std::string>& order) {
  for (json& row : report["organizations"]) {
    const auto place = std::ranges::find(order, row["name"].get<std::string>());
    row["would_rank"] = place == order.end() ? json(nullptr) : json(place - order.begin() + 1);
  }
}

json status(Service& service, const json& request, Instant now) {
  accounting::EstimatorId estimator = service.site().configuration.contribution;
  if (const auto asked = request.find("contribution"); asked != request.end()) {
    const auto parsed = asked->is_string() ? accounting::parse_estimator(asked->get<std::string>()) : std::nullopt;
    if (!parsed) {
      return error_answer(
          Errc::invalid_argument,
          "contribution is " + config::join(accounting::estimator_names(), " or ") + ", not " + asked->dump());
    }
    estimator = *parsed;
  }
  json report = books_report(service, now, estimator);
  std::map<std::string, std::string> titles;
  for (const config::OrganizationConfig& o : service.site().configuration.organizations) titles[o.name] = o.title;
  ledger::set_titles(report, titles);
  if (const auto asked = request.find("worth"); asked != request.end() && *asked == true)
    report["worth"] = worth_of_cooperation(service, now, titles);
  const bool observes = service.site().configuration.mode == config::Mode::observe;
  report["ranks_act"] = !observes;
  if (observes) add_would_be_ranks(report, service.ranks().organizations);
  report["daemon"] = daemon_object(service, now);
  report["plugin"] = plugin_object(service, now);
  return report;
}

// Job names may hold any bytes; an answer is valid UTF-8 all the same.
std::string text_of(const json& reply) {
  return reply.dump(-1, ' ', false, json::error_handler_t::replace);
}

Answer jobs(const Service& service, const Question& question) {
  const Instant now = question.now;
  auto filter = ledger::parse_jobs_filter(question.request);
  if (!filter) return text_of(error_answer(filter.error().code, filter.error().what));
  filter->viewer = question.visible.jobs();
  if (const auto known = ledger::check_organizations(service.books().state(), filter->organizations); !known) {
    return text_of(error_answer(known.error().code, known.error().what));
  }
  // Of the books as they are now; the thread reads the ledger a moment later.
  json no_start = no_start_report(service, filter->organizations);
  filter->organizations = ledger::booked_names(service.books().state(), filter->organizations);
  return [filter = *std::move(filter), now, no_start = std::move(no_start)](ReadingThread::Connection& connection,
                                                                            ledger::QueryBudget budget) {
    const Expected<ledger::Ledger>& ledger = connection.ledger();
    if (!ledger) return text_of(error_answer(ledger.error().code, ledger.error().what));
    auto report = ledger::jobs_report(*ledger, filter, now, budget);
    if (!report) return text_of(error_answer(report.error().code, report.error().what));
    (*report)["no_start"] = no_start;
    (*report)["private"] = filter.viewer.has_value();
    return text_of(*report);
  };
}

// Whoever may read may have a head: it says no more than the file does, and is the better the more people keep it.
json head(Service& service, Instant now) {
  const auto& key = service.site().signing_key;
  if (!key) {
    return error_answer(Errc::denied,
                        "shapleyd has no key to sign a head with: make one with shapleyctl keygen and name it in the "
                        "configuration (signing_key)");
  }
  const auto signed_head = ledger::sign_head(service.books().ledger(), *key, now);
  if (!signed_head) return error_answer(signed_head.error().code, signed_head.error().what);
  return {{"head", signed_head->text()}, {"public_key", key->public_key().pem()}};
}

json workflows(Service& service, const Question& question) {
  const json& request = question.request;
  const auto asked = request.find("organization");
  if (asked != request.end() && !asked->is_string()) {
    return error_answer(Errc::invalid_argument, "organization is a name, not " + asked->dump());
  }
  const auto sees = [&](std::uint32_t user_id, std::string_view account) {
    return question.visible.sees_job(user_id, account);
  };
  auto report = service.workflows().report(asked == request.end() ? "" : asked->get<std::string>(), sees, question.now);
  if (!report) return error_answer(report.error().code, report.error().what);
  (*report)["private"] = !question.visible.sees_all_jobs();
  return *std::move(report);
}

json queue(Service& service, const Question& question) {
  const Instant now = question.now;
  if (!question.visible.sees_all_jobs()) {
    return error_answer(
        Errc::denied,
        "others' pending jobs are private here (PrivateData): they are for root, slurm_user and Slurm's "
        "operators; shapleyctl jobs lists those that you may see");
  }
  json report = service.queue().report();
  report["at"] = now.value;
  report["plugin_connected"] = service.feeder() && service.feeder()->connected;
  const json standings = books_report(service, now, service.site().configuration.contribution);
  for (const json& row : standings["organizations"])
    report["organizations"].push_back({{"organization", row["name"]}, {"processors", row["owned"]}});
  return report;
}

json ping(Instant now) {
  return {{"pong", k_program}, {"at", now.value}};
}

// The rules that make the books are for all members to read.
json configuration(const Service& service) {
  json answer = configuration_object(service);
  answer["text"] = service.site().text;
  return answer;
}

constexpr Request k_requests[] = {
    {"adjust", Asker::administrator, Lane::memory, "a correction of the books",
     [](Service& service, const Question& question) { return adjust(service, question); }},
    {"adjust_preview", Asker::remote_administrator, Lane::report, "what a correction would change",
     [](Service& service, const Question& question) { return adjust_preview(service, question); }},
    {"adjustments", Asker::anybody, Lane::memory, "all corrections of the books",
     [](Service& service, const Question& question) { return adjustments(service, question); }},
    {"begin", Asker::administrator, Lane::memory,
     "that this one of two controllers may write without what the other one has",
     [](Service& service, const Question& question) { return begin(service, question); }},
    {"compare", Asker::anybody, Lane::ledger, "who of two organizations or jobs goes first and why, and since when",
     [](Service& service, const Question& question) { return compare(service, question); }},
    {"configuration", Asker::anybody, Lane::memory, "the configuration in force, as text",
     [](Service& service, const Question&) -> Answer { return text_of(configuration(service)); }},
    {"explain", Asker::anybody, Lane::ledger, "what the books say about a job that waits",
     [](Service& service, const Question& question) { return explain(service, question); }},
    {"follow", Asker::remote_administrator, Lane::memory,
     "the ledger's events after one, for the other of two controllers",
     [](Service& service, const Question& question) { return follow(service, question.request); }},
    {"forecast", Asker::anybody, Lane::ledger, "when ranks turn if nothing starts or ends",
     [](Service& service, const Question& question) { return forecast(service, question); }},
    {"head", Asker::anybody, Lane::memory, "the ledger's present head, signed",
     [](Service& service, const Question& question) -> Answer { return text_of(head(service, question.now)); }},
    {"history", Asker::anybody, Lane::report, "the books by hour, day, month or shorter intervals",
     [](Service& service, const Question& question) { return history(service, question); }},
    {"jobs", Asker::anybody, Lane::ledger, "jobs that run or could start, or all",
     [](Service& service, const Question& question) { return jobs(service, question); }},
    {"ping", Asker::anybody, Lane::memory, "whether shapleyd answers",
     [](Service& /*service*/, const Question& question) -> Answer { return text_of(ping(question.now)); }},
    {"queue", Asker::anybody, Lane::memory, "the startable pending jobs",
     [](Service& service, const Question& question) -> Answer { return text_of(queue(service, question)); }},
    {"rename_cluster", Asker::administrator, Lane::memory, "that the cluster has another ClusterName",
     [](Service& service, const Question& question) { return rename_cluster(service, question); }},
    {"statement", Asker::anybody, Lane::report, "what everybody got, gave and lent to whom in a time",
     [](Service& service, const Question& question) { return statement(service, question); }},
    {"status", Asker::anybody, Lane::memory, "the books now, the daemon and the plugin",
     [](Service& service, const Question& question) -> Answer {
       return text_of(status(service, question.request, question.now));
     }},
    {"status_at", Asker::anybody, Lane::report, "the books at a past instant",
     [](Service& service, const Question& question) { return status_at(service, question); }},
    {"upkeep", Asker::administrator, Lane::memory, "that a backup or an audit of this ledger was made",
     [](Service& service, const Question& question) { return note_upkeep(service, question); }},
    {"workflows", Asker::anybody, Lane::memory, "the workflows of organizations that order theirs by fairness",
     [](Service& service, const Question& question) -> Answer { return text_of(workflows(service, question)); }},
};

std::string names_of(std::span<const Request> table) {
  std::string names;
  for (const Request& row : table) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

// No request of ours nests deeper. The parser takes any depth, but to write or copy a value takes stack by its depth,
// and a request of thousands of '[' would end the daemon.
constexpr int k_max_depth = 8;

// Discarded: no JSON, or nested too deep.
json parse_request(std::string_view request) {
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > k_max_depth;
    return !too_deep;
  };
  json parsed = json::parse(request, watch, false);
  return too_deep ? json(json::value_t::discarded) : parsed;
}

// Where the daemon runs as a user of its own he, too, can read the ledger.
Visibility visibility_of(const Service& service, Asker asker, std::uint32_t user_id) {
  if (asker != Asker::anybody || user_id == ::geteuid()) return Visibility::everything();
  const auto& kept = service.privacy();
  return Visibility::of(kept ? std::optional(kept->privacy) : std::nullopt, user_id);
}

}  // namespace

std::span<const Request> requests() {
  return k_requests;
}

Expected<const Request*> find_request(std::span<const Request> table, const json& request, Asker asker) {
  if (!request.is_object() || !request.contains("request") || !request["request"].is_string()) {
    return fail(Errc::protocol, "a request is an object with a member \"request\"");
  }
  const auto name = request["request"].get<std::string>();
  const auto row = std::ranges::find(table, name, &Request::name);
  if (row == table.end()) {
    return fail(Errc::not_found, "unknown request '" + name + "'; known are " + names_of(table));
  }
  if (asker >= row->may_ask) return &*row;
  if (asker == Asker::anybody) return fail(Errc::denied, "only root and slurm_user may ask '" + name + "'");
  return fail(Errc::denied,
              "'" + name + "' changes something: root or slurm_user ask it themselves, on shapleyd's own host");
}

Lane lane_of(std::string_view request) {
  const json parsed = parse_request(request);
  const auto row = find_request(requests(), parsed, Asker::administrator);
  return row ? (*row)->lane : Lane::memory;
}

Answer answer(Service& service, std::string_view request, Instant now, Asker asker, std::uint32_t user_id) {
  const json parsed = parse_request(request);
  if (parsed.is_discarded()) {
    return text_of(error_answer(Errc::protocol, "the request is no JSON, or nests too deep"));
  }
  const auto row = find_request(requests(), parsed, asker);
  if (!row) return text_of(error_answer(row.error().code, row.error().what));
  return (*row)->handler(service, {parsed, now, visibility_of(service, asker, user_id), user_id});
}

}  // namespace shapley::daemon
