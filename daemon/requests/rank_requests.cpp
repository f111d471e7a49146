#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "answers/ranks.hpp"
#include "config/configuration.hpp"
#include "daemon/requests/handlers.hpp"
#include "daemon/requests/visibility.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/moment.hpp"
#include "site_rules/attribution.hpp"

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
                                        service.books().able(now), service.pending_jobs().startable_tasks());
    return source;
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] bool is_past() const { return past_.has_value(); }
  [[nodiscard]] Expected<answers::RankBooks> books(const ledger::Ledger& ledger, ledger::QueryBudget budget) const {
    ledger::PastQuestion past = past_question(budget);
    auto moment = present_ ? *present_ : ledger::past_moment(ledger, past);
    if (!moment) return tl::unexpected(std::move(moment).error());
    return answers::RankBooks{
        .ledger = ledger, .moment = *std::move(moment), .past = std::move(past), .budget = budget};
  }

 private:
  [[nodiscard]] ledger::PastQuestion past_question(ledger::QueryBudget budget) const {
    // Applying an event takes about as much time as reading two rows of a table.
    if (budget.rows > 0) budget.rows = std::max<std::size_t>(1, budget.rows / 2);
    return {
        .at = past_.value_or(now_), .archives = archives_, .budget = budget, .next_starts = ledger::k_reported_starts};
  }

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
  return {.mode = c.mode,
          .order = c.order,
          .rank_weight = c.rank_weight,
          .ranks = service.ranks().organizations,
          .levels = service.workflows().in_use(),
          .plugin_connected = feeder && feeder->connected,
          .plugin_age_s =
              feeder ? std::optional(std::max<std::int64_t>(0, now.value - feeder->last_heard.value)) : std::nullopt,
          .level = std::nullopt};
}

// OtherClusterReport::heard_at by cluster.
std::map<std::string, Instant> statements_of(const Service& service) {
  std::map<std::string, Instant> statements;
  for (const Consortium::Cluster& cluster : service.consortium().clusters()) {
    if (const auto heard = service.consortium().heard_at(cluster))
      statements.emplace(cluster.configuration.name, *heard);
  }
  return statements;
}

std::int64_t level_of(const Service& service, std::uint32_t job) {
  const auto& jobs = service.workflows().levels().jobs;
  const auto found = std::ranges::lower_bound(jobs, job, {}, &protocol::JobLevel::job_id);
  return found != jobs.end() && found->job_id == job ? found->level : 0;
}

Expected<Visible<ledger::ExplainReport>> shown(ledger::ExplainReport report, const answers::RankBooks& books,
                                               const Visibility& visible, Instant now) {
  return visible.show(std::move(report), books.ledger, now, books.budget);
}
Expected<Visible<ledger::CompareReport>> shown(ledger::CompareReport report, const answers::RankBooks& /*books*/,
                                               const Visibility& visible, Instant /*now*/) {
  return visible.show(std::move(report));
}

// Computes the answer in the reading thread.
template <typename Request>
Answer from_ledger(Source source, const Request& asked, answers::Known known, const Visibility& visible) {
  known.check_job = [visible](const Expected<ledger::JobAt>& job, const std::string& name) {
    return visible.check_job(job, name);
  };
  return [source = std::move(source), asked, known = std::move(known), visible](ReadingThread::Connection& connection,
                                                                                ledger::QueryBudget budget) {
    const auto reply = [&]() -> Expected<std::string> {
      const Expected<ledger::Ledger>& ledger = connection.ledger();
      if (!ledger) return tl::unexpected(ledger.error());
      SHAPLEY_TRY_ASSIGN(const answers::RankBooks books, source.books(*ledger, budget));
      SHAPLEY_TRY_ASSIGN(auto report, answers::answer(asked, books, known));
      SHAPLEY_TRY_ASSIGN(const auto visible_report, shown(std::move(report), books, visible, source.now()));
      return reply_of(visible_report);
    }();
    return reply ? *reply : text_of_error(reply.error());
  };
}

}  // namespace

Expected<void> check_rebuilt(Service& service) {
  if (service.books().held() == nullptr) return {};
  return fail(Errc::unavailable,
              "the books are being rebuilt; shapleyctl status says how far that is, ask again when it is done");
}

Expected<Answer> explain(Service& service, const ledger::ExplainRequest& asked, const Context& context) {
  SHAPLEY_TRY(answers::check(asked));
  SHAPLEY_TRY_ASSIGN(Source source, Source::of(service, asked.at, context.now));
  answers::Known known{.rules = service.site().rules};
  if (!source.is_past()) {
    known.priorities = priorities_of(service, context.now);
    known.statements = statements_of(service);
  }
  if (!source.is_past() && !asked.submit) {
    SHAPLEY_TRY_ASSIGN(const JobName name, ledger::checked_job_name(asked.job));
    const std::uint32_t job = service.pending_jobs().number_of(name);
    known.priorities->level = level_of(service, job);
    if (const PendingJobs::Job* pending = service.pending_jobs().find(job)) {
      known.waits_for = name_of(pending->wait);
      if (pending->rule) known.rule = site_rules::rule_matched(*pending->rule, "itself or an account above");
    }
  }
  return from_ledger(std::move(source), asked, std::move(known), context.visible);
}

Expected<Answer> compare(Service& service, const ledger::CompareRequest& asked, const Context& context) {
  SHAPLEY_TRY(answers::check(asked));
  SHAPLEY_TRY_ASSIGN(Source source, Source::of(service, asked.at, context.now));
  answers::Known known;
  if (!source.is_past()) {
    known.priorities = priorities_of(service, context.now);
    known.statements = statements_of(service);
  }
  return from_ledger(std::move(source), asked, std::move(known), context.visible);
}

}  // namespace shapley::daemon
