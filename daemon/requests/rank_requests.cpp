#include "daemon/requests/rank_requests.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/configuration.hpp"
#include "config/identities.hpp"
#include "daemon/requests/error_answer.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/reports/booked_by.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/moment.hpp"
#include "protocol/classifier.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

std::string text_of(const Expected<json>& report) {
  return report ? report->dump(-1, ' ', false, json::error_handler_t::replace) : text_of_error(report.error());
}

Expected<std::string> text_member(const json& request, const char* name) {
  const auto member = request.find(name);
  if (member == request.end() || !member->is_string() || member->get_ref<const std::string&>().empty()) {
    return fail(Errc::invalid_argument, std::string("'") + name + "' must be a name");
  }
  return member->get<std::string>();
}

// nullopt: the present.
Expected<std::optional<Instant>> past_of(const Question& question) {
  const auto at = question.request.find("at");
  if (at == question.request.end()) return std::nullopt;
  if (!at->is_number_integer() || at->get<std::int64_t>() < 0 || at->get<std::int64_t>() > question.now.value) {
    return fail(Errc::invalid_argument, "'at' must be seconds since the epoch, not later than now");
  }
  return Instant{at->get<std::int64_t>()};
}

// What a question is answered from: the present is there already, a past moment is made in the reading thread.
class Source {
 public:
  [[nodiscard]] static Expected<Source> of(Service& service, const Question& question) {
    Source source;
    source.now_ = question.now;
    source.archives_ = ledger::archives_near(service.site().configuration.ledger);
    SHAPLEY_TRY_ASSIGN(source.past_, past_of(question));
    if (source.past_) return source;
    if (service.books().held() != nullptr) {
      return fail(Errc::unavailable,
                  "the books are being rebuilt; shapleyctl status says how far that is, ask again when it is done");
    }
    source.present_ = ledger::moment_of(service.books().state(), question.now,
                                        service.site().configuration.contribution, service.books().able(question.now));
    return source;
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] bool is_past() const { return past_.has_value(); }
  [[nodiscard]] ledger::PastQuestion past_question(ledger::QueryBudget budget) const {
    // An event that is kept and applied costs about as much as two rows of a table.
    if (budget.rows > 0) budget.rows = std::max<std::size_t>(1, budget.rows / 2);
    return {
        .at = past_.value_or(now_), .archives = archives_, .budget = budget, .next_starts = ledger::k_reported_starts};
  }
  [[nodiscard]] Expected<ledger::Moment> moment(const ledger::Ledger& ledger, ledger::QueryBudget budget) const {
    if (present_) return *present_;
    return ledger::past_moment(ledger, past_question(budget));
  }

 private:
  Instant now_;
  std::optional<Instant> past_;
  std::filesystem::path archives_;
  std::optional<ledger::Moment> present_;
};

std::string_view name_of(protocol::WaitReason wait) {
  switch (wait) {
    case protocol::WaitReason::startable:
      return "startable";
    case protocol::WaitReason::held:
      return "held";
    case protocol::WaitReason::dependency:
      return "dependency";
    case protocol::WaitReason::begin_time:
      return "begin time";
    case protocol::WaitReason::array_limit:
      return "array limit";
    case protocol::WaitReason::account_limit:
      return "account limit";
    case protocol::WaitReason::nice:
      return "nice";
    case protocol::WaitReason::other:
      break;
  }
  return "other";
}

// How ranks reach slurmctld, for whoever compares its priorities with them.
json priorities_object(const Service& service, Instant now) {
  const config::Configuration& c = service.site().configuration;
  const auto& feeder = service.feeder();
  return {{"mode", c.mode == config::Mode::observe ? "observe" : "priorities"},
          {"order", c.order == config::Order::strict ? "strict" : "weighted"},
          {"rank_weight", c.rank_weight},
          {"ranks", service.ranks().organizations},
          {"levels", service.workflows().in_use()},
          {"plugin_connected", feeder && feeder->connected},
          {"plugin_age_s", feeder ? json(std::max<std::int64_t>(0, now.value - feeder->last_heard.value)) : json()}};
}

json level_of(const Service& service, std::uint32_t job) {
  const auto& jobs = service.workflows().levels().jobs;
  const auto found = std::ranges::lower_bound(jobs, job, {}, &protocol::JobLevel::job_id);
  return found != jobs.end() && found->job_id == job ? found->level : 0;
}

json rule_object(const protocol::Rule& rule, std::string_view through) {
  return {{"kind", protocol::name_of(rule.kind)},
          {"name", rule.name},
          {"organization", rule.organization},
          {"through", through}};
}

// Which of the rules match a job of the ledger: without the accounts above its own, which the ledger does not keep.
json rule_of(const protocol::Classifier& classifier, const json& job) {
  const auto text = [&](const char* member) { return job.value(member, std::string()); };
  const std::string account = text("account");
  const std::string partition = text("partition");
  const std::string qos = text("qos");
  const protocol::Rule* rule = classifier.rule_of({.account = account,
                                                   .account_ancestors = {},
                                                   .partition = partition,
                                                   .qos = qos,
                                                   .user_id = job.value("user_id", std::uint32_t{0}),
                                                   .group_id = job.value("group_id", std::uint32_t{0})});
  return rule == nullptr ? json(nullptr) : rule_object(*rule, "itself");
}

ledger::RuleFound rule_in(const std::string& configuration, const json& job) {
  const auto parsed = config::parse(configuration);
  if (!parsed) return {};  // an older release accepted it
  std::vector<protocol::Rule> rules;
  ledger::RuleFound found;
  for (config::NumberedRule& rule : config::known_rules(*parsed)) {
    if (rule.kind == RuleKind::account) found.by_account.push_back(rule.organization);
    rules.push_back({std::move(rule.organization), rule.kind, std::move(rule.name), rule.id});
  }
  found.rule = rule_of(protocol::Classifier(std::move(rules)), job);
  return found;
}

// Only those who may see the job learn that it exists.
Expected<void> check_visible(const Expected<json>& job, const Visibility& visible, const std::string& name) {
  if (visible.sees_all_jobs()) return {};
  if (job && visible.sees_job((*job)["user_id"], (*job)["account"].get_ref<const std::string&>())) return {};
  if (!job && job.error().code != Errc::invalid_argument) return tl::unexpected(job.error());
  return tl::unexpected(no_visible_job(name));
}

// Leaves of the starts those that the asker may see; of others no more than how many there were of whom.
Expected<void> hide_starts(json& starts, json& hidden_starts, const ledger::Ledger& ledger, const Visibility& visible,
                           Instant at, ledger::QueryBudget budget) {
  hidden_starts = json::object();
  if (visible.sees_all_jobs() || starts.empty()) return {};
  ledger::JobsFilter filter{.all = true, .viewer = visible.jobs()};
  for (const json& start : starts) filter.jobs.push_back(start["job"]);
  SHAPLEY_TRY_ASSIGN(const json seen, ledger::jobs_report(ledger, filter, at, budget));
  json shown = json::array();
  for (json& start : starts) {
    const auto is_it = [&](const json& job) { return job["job"] == start["job"]; };
    if (std::ranges::any_of(seen["jobs"], is_it)) {
      shown.push_back(std::move(start));
    } else {
      json& hidden = hidden_starts[start["organization"].get_ref<const std::string&>()];
      hidden = hidden.is_null() ? 1 : hidden.get<int>() + 1;
    }
  }
  starts = std::move(shown);
  return {};
}

// Of the past: the runs that began next. Of a job that began: those that began while it waited.
Expected<void> hide_starts(json& report, const ledger::Ledger& ledger, const Visibility& visible, Instant at,
                           ledger::QueryBudget budget) {
  SHAPLEY_TRY(hide_starts(report["next_starts"], report["hidden_starts"], ledger, visible, at, budget));
  if (!report["history"].is_object() || !report["history"]["meanwhile"].is_object()) return {};
  json& meanwhile = report["history"]["meanwhile"];
  return hide_starts(meanwhile["last"], meanwhile["hidden"], ledger, visible, at, budget);
}

Expected<ledger::Side> visible_side(const ledger::Moment& moment, const ledger::Ledger& ledger, const std::string& name,
                                    const Visibility& visible, ledger::QueryBudget budget) {
  auto side = ledger::side_of(moment, ledger, name, budget);
  // A name that is no job's, and no organization's, gives nothing away.
  const bool is_job = ledger::parse_job_name(name).has_value() && (!side || !side->job.is_null());
  if (!is_job) return side;
  const Expected<json> job = side ? Expected<json>(side->job) : tl::unexpected(side.error());
  SHAPLEY_TRY(check_visible(job, visible, name));
  return side;
}

}  // namespace

Answer explain(Service& service, const Question& question) {
  const auto job = text_member(question.request, "job");
  if (!job) return text_of_error(job.error());
  const auto name = ledger::checked_job_name(*job);
  if (!name) return text_of_error(name.error());
  auto source = Source::of(service, question);
  if (!source) return text_of_error(source.error());
  json priorities = nullptr;
  json slurm = nullptr;
  json rule = nullptr;
  if (!source->is_past()) {
    priorities = priorities_object(service, question.now);
    priorities["level"] = level_of(service, name->job);
    if (const Queue::Pending* pending = service.queue().find(name->job)) {
      slurm = name_of(pending->wait);
      if (pending->rule) rule = rule_object(*pending->rule, "itself or an account above");
    }
  }
  return [name = *name, asked = *job, visible = question.visible, source = *std::move(source),
          rules = service.site().rules, rule = std::move(rule), priorities = std::move(priorities),
          slurm = std::move(slurm)](ReadingThread::Connection& connection, ledger::QueryBudget budget) {
    const Expected<ledger::Ledger>& ledger = connection.ledger();
    if (!ledger) return text_of_error(ledger.error());
    const auto moment = source.moment(*ledger, budget);
    if (!moment) return text_of_error(moment.error());
    if (!visible.sees_all_jobs()) {
      const auto shown = check_visible(ledger::job_at(*moment, *ledger, name, budget), visible, asked);
      if (!shown) return text_of_error(shown.error());
    }
    auto report = ledger::explain_report(*moment, *ledger, name, budget);
    if (!report) return text_of_error(report.error());
    if (const auto done = hide_starts(*report, *ledger, visible, source.now(), budget); !done)
      return text_of_error(done.error());
    const json explained = (*report)["job"];
    (*report)["rule"] = rule.is_null() ? rule_of(protocol::Classifier(rules), explained) : rule;
    auto booked =
        ledger::booked_by(*ledger, *moment, explained, (*report)["rule"],
                          [&explained](const std::string& configuration) { return rule_in(configuration, explained); });
    if (!booked) return text_of_error(booked.error());
    (*report)["booked_by"] = *std::move(booked);
    (*report)["priorities"] = priorities;
    (*report)["waits_for"] = slurm;
    return text_of(report);
  };
}

Answer compare(Service& service, const Question& question) {
  const auto a = text_member(question.request, "a");
  if (!a) return text_of_error(a.error());
  const auto b = text_member(question.request, "b");
  if (!b) return text_of_error(b.error());
  auto source = Source::of(service, question);
  if (!source) return text_of_error(source.error());
  json priorities = source->is_past() ? json(nullptr) : priorities_object(service, question.now);
  return [a = *a, b = *b, visible = question.visible, source = *std::move(source), priorities = std::move(priorities)](
             ReadingThread::Connection& connection, ledger::QueryBudget budget) {
    const Expected<ledger::Ledger>& ledger = connection.ledger();
    if (!ledger) return text_of_error(ledger.error());
    const auto moment = source.moment(*ledger, budget);
    if (!moment) return text_of_error(moment.error());
    const auto one = visible_side(*moment, *ledger, a, visible, budget);
    if (!one) return text_of_error(one.error());
    const auto two = visible_side(*moment, *ledger, b, visible, budget);
    if (!two) return text_of_error(two.error());
    // An answer without since when is better than none.
    Expected<std::optional<ledger::PairHistory>> history = std::nullopt;
    if (one->organization != two->organization) {
      history = ledger::pair_history(*ledger, source.past_question(budget), one->organization, two->organization);
    }
    json report = ledger::compare_report(*moment, *one, *two, history ? *history : std::nullopt);
    report["since_unknown"] = history ? json(nullptr) : json(history.error().what);
    report["priorities"] = priorities;
    return text_of(report);
  };
}

Answer forecast(Service& service, const Question& question) {
  auto source = Source::of(service, question);
  if (!source) return text_of_error(source.error());
  return [source = *std::move(source)](ReadingThread::Connection& connection, ledger::QueryBudget budget) {
    const Expected<ledger::Ledger>& ledger = connection.ledger();
    if (!ledger) return text_of_error(ledger.error());
    const auto moment = source.moment(*ledger, budget);
    if (!moment) return text_of_error(moment.error());
    return text_of(ledger::forecast_report(*moment));
  };
}

}  // namespace shapley::daemon
