#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "config/configuration.hpp"
#include "daemon/requests/handlers.hpp"
#include "daemon/requests/visibility.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/moment.hpp"
#include "sacct/attribution.hpp"

namespace shapley::daemon {

namespace {

// The source of an answer: the present books exist already, those of a past moment are computed in the reading thread.
class Source {
 public:
  [[nodiscard]] static Expected<Source> of(Service& service, std::optional<Instant> at, Instant now) {
    Source source;
    if (at && *at > now) return fail(Errc::invalid_argument, "at lies in the future");
    source.now_ = now;
    source.past_ = at;
    source.archives_ = ledger::archives_near(service.site().configuration.ledger);
    if (source.past_) return source;
    SHAPLEY_TRY(check_rebuilt(service));
    source.present_ = ledger::moment_of(service.books().state(), now, service.site().configuration.contribution,
                                        service.books().able(now));
    return source;
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] bool is_past() const { return past_.has_value(); }
  [[nodiscard]] ledger::PastQuestion past_question(ledger::QueryBudget budget) const {
    // Applying an event takes about as much time as reading two rows of a table.
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

ledger::Priorities priorities_of(const Service& service, Instant now) {
  const config::Configuration& c = service.site().configuration;
  const auto& feeder = service.feeder();
  return {.mode = c.mode == config::Mode::observe ? "observe" : "priorities",
          .order = c.order == config::Order::strict ? "strict" : "weighted",
          .rank_weight = c.rank_weight,
          .ranks = service.ranks().organizations,
          .levels = service.workflows().in_use(),
          .plugin_connected = feeder && feeder->connected,
          .plugin_age_s =
              feeder ? std::optional(std::max<std::int64_t>(0, now.value - feeder->last_heard.value)) : std::nullopt,
          .level = std::nullopt};
}

std::int64_t level_of(const Service& service, std::uint32_t job) {
  const auto& jobs = service.workflows().levels().jobs;
  const auto found = std::ranges::lower_bound(jobs, job, {}, &protocol::JobLevel::job_id);
  return found != jobs.end() && found->job_id == job ? found->level : 0;
}

// Computes an answer in the reading thread; `make` returns an Expected<Visible<...>>.
template <typename Make>
Answer from_ledger(Source source, Make make) {
  return [source = std::move(source), make = std::move(make)](ReadingThread::Connection& connection,
                                                              ledger::QueryBudget budget) {
    const auto answer = [&]() -> Expected<std::string> {
      const Expected<ledger::Ledger>& ledger = connection.ledger();
      if (!ledger) return tl::unexpected(ledger.error());
      SHAPLEY_TRY_ASSIGN(const ledger::Moment moment, source.moment(*ledger, budget));
      SHAPLEY_TRY_ASSIGN(const auto visible, make(source, moment, *ledger, budget));
      return reply_of(visible);
    }();
    return answer ? *answer : text_of_error(answer.error());
  };
}

}  // namespace

Expected<void> check_rebuilt(Service& service) {
  if (service.books().held() == nullptr) return {};
  return fail(Errc::unavailable,
              "the books are being rebuilt; shapleyctl status says how far that is, ask again when it is done");
}

namespace {

// A job that could be submitted. Others' jobs are in the answer as sums for each organization only, as in `status`.
Expected<Answer> explain_submission(Service& service, const ledger::ExplainRequest& asked, const Context& context) {
  if (asked.submit->processors < 1 || asked.submit->processors > ledger::k_most_processors_asked)
    return fail(Errc::invalid_argument,
                fmt::format("a job asks for 1 to {} processors", ledger::k_most_processors_asked));
  SHAPLEY_TRY_ASSIGN(Source source, Source::of(service, asked.at, context.now));
  const auto rule = sacct::rule_of(protocol::Classifier(service.site().rules), *asked.submit);
  ledger::ExplainSources known{.rule_in = sacct::rule_in};
  known.rule_now = [rule](const ledger::JobIdentity& /*of*/) { return rule; };
  if (!source.is_past()) known.priorities = priorities_of(service, context.now);
  const auto make = [submit = *asked.submit, rule, visible = context.visible, known = std::move(known)](
                        const Source& from, const ledger::Moment& moment, const ledger::Ledger& ledger,
                        ledger::QueryBudget budget) -> Expected<Visible<ledger::ExplainReport>> {
    SHAPLEY_TRY_ASSIGN(auto report, ledger::explain_report(
                                        moment, ledger, ledger::hypothetical_job(moment, submit, rule), known, budget));
    return visible.show(std::move(report), ledger, from.now(), budget);
  };
  return from_ledger(std::move(source), make);
}

}  // namespace

Expected<Answer> explain(Service& service, const ledger::ExplainRequest& asked, const Context& context) {
  if (asked.submit) return explain_submission(service, asked, context);
  SHAPLEY_TRY_ASSIGN(const ledger::JobName name, ledger::checked_job_name(asked.job));
  SHAPLEY_TRY_ASSIGN(Source source, Source::of(service, asked.at, context.now));
  ledger::ExplainSources known{.rule_in = sacct::rule_in};
  known.rule_now = [rules = service.site().rules](const ledger::JobIdentity& of) {
    return sacct::rule_of(protocol::Classifier(rules), of);
  };
  if (!source.is_past()) {
    known.priorities = priorities_of(service, context.now);
    known.priorities->level = level_of(service, name.job);
    if (const PendingJobs::Job* pending = service.pending_jobs().find(name.job)) {
      known.waits_for = name_of(pending->wait);
      if (pending->rule) {
        known.rule_now = [rule = sacct::rule_matched(*pending->rule, "itself or an account above")](
                             const ledger::JobIdentity& /*of*/) { return std::optional(rule); };
      }
    }
  }
  const auto make = [name, job = asked.job, visible = context.visible, known = std::move(known)](
                        const Source& from, const ledger::Moment& moment, const ledger::Ledger& ledger,
                        ledger::QueryBudget budget) -> Expected<Visible<ledger::ExplainReport>> {
    auto found = ledger::job_at(moment, ledger, name, budget);
    SHAPLEY_TRY(visible.check_job(found, job));
    if (!found) return tl::unexpected(std::move(found).error());
    SHAPLEY_TRY_ASSIGN(auto report, ledger::explain_report(moment, ledger, *std::move(found), known, budget));
    return visible.show(std::move(report), ledger, from.now(), budget);
  };
  return from_ledger(std::move(source), make);
}

Expected<Answer> compare(Service& service, const ledger::CompareRequest& asked, const Context& context) {
  for (const std::string* side : {&asked.a, &asked.b})
    if (side->empty()) return fail(Errc::invalid_argument, "a and b are names of organizations or jobs");
  SHAPLEY_TRY_ASSIGN(Source source, Source::of(service, asked.at, context.now));
  std::optional<ledger::Priorities> priorities;
  if (!source.is_past()) priorities = priorities_of(service, context.now);
  const auto make = [a = asked.a, b = asked.b, visible = context.visible, priorities = std::move(priorities)](
                        const Source& from, const ledger::Moment& moment, const ledger::Ledger& ledger,
                        ledger::QueryBudget budget) -> Expected<Visible<ledger::CompareReport>> {
    const auto check = [&](const Expected<ledger::JobAt>& job, const std::string& name) {
      return visible.check_job(job, name);
    };
    SHAPLEY_TRY_ASSIGN(
        auto report,
        ledger::compare_report(moment, ledger, {.a = a, .b = b, .past = from.past_question(budget), .check_job = check},
                               budget));
    report.priorities = priorities;
    return visible.show(std::move(report));
  };
  return from_ledger(std::move(source), make);
}

}  // namespace shapley::daemon
