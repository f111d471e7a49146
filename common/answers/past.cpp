#include "answers/past.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "config/configuration.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/statement.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::answers {

namespace {

// If an older release accepted a text that this one refuses, the defaults are used.
Expected<config::Configuration> configuration_of(const ledger::Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_at(ledger, at));
  if (!loaded) return config::Configuration{};
  auto parsed = config::parse_recorded(loaded->text);
  return parsed ? std::move(parsed->configuration) : config::Configuration{};
}

std::map<std::string, std::string> titles_of(const config::Configuration& configuration) {
  std::map<std::string, std::string> titles;
  for (const config::OrganizationConfig& o : configuration.organizations) {
    if (!o.title.empty()) titles[o.name] = o.title;
  }
  return titles;
}

accounting::EstimatorId wanted_by(const std::string& contribution, const config::Configuration& configuration) {
  return accounting::parse_estimator(contribution).value_or(configuration.contribution);
}

ledger::StatusReport status_of(accounting::State& state, Instant at, const ledger::StatusRequest& asked,
                               const config::Configuration& configuration) {
  const accounting::EstimatorId contribution = wanted_by(asked.contribution, configuration);
  ledger::StatusReport report = ledger::status_report(state, at, contribution);
  if (asked.worth) report.worth.emplace(ledger::worth_report(state, state.advance(at).worth()));
  if (asked.forecast) {
    const accounting::EstimatorId acting = accounting::acting(contribution, state.kept());
    report.forecast = ledger::forecast_report(accounting::outlook(state.advance(at), acting));
  }
  ledger::set_titles(report, titles_of(configuration));
  return report;
}

Expected<ledger::StatusReport> present_status(const ledger::Ledger& ledger, const ledger::StatusRequest& asked) {
  SHAPLEY_TRY_ASSIGN(const Instant at, ledger::last_recorded(ledger));
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, at));
  // The present does not require a replay of the whole past.
  SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
  return status_of(recovered.state, at, asked, configuration);
}

Expected<ledger::StatusReport> past_status(const ledger::Ledger& ledger, const LedgerFile& file,
                                           const ledger::StatusAtRequest& asked) {
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, asked.at));
  // An estimator that the user names is computed, although it takes time.
  accounting::EstimatorSet by = config::kept_estimators(configuration);
  by.insert(wanted_by(asked.of.contribution, configuration));
  SHAPLEY_TRY_ASSIGN(
      auto books,
      ledger::PastBooks::read(
          ledger, {.ledger = file.path, .archives = file.archives, .since = asked.at, .until = asked.at, .by = by}));
  SHAPLEY_TRY(books.advance_to(asked.at));
  SHAPLEY_TRY_ASSIGN(const Instant recorded, ledger::last_recorded(ledger));
  const Instant last = std::max(recorded, file.known_until.value_or(recorded));
  // What was settled at the instant itself is of the time that begins there, unless nothing later is known.
  const auto rows = asked.at < last ? books.rows() : std::vector<accounting::Standing>{};
  accounting::State state = std::move(books).take_state();
  ledger::StatusReport report = status_of(state, asked.at, asked.of, configuration);
  if (rows.empty()) return report;
  for (ledger::OrganizationRow& row : report.organizations) {
    const accounting::Standing& then = rows[state.find_organization(row.is.name).value().value];
    ledger::set_work(row, then, accounting::parse_estimator(report.ranked_by).value());
  }
  return report;
}

struct UsualLength {
  ledger::Interval by;
  Duration length;
};
constexpr std::array k_usual_lengths{
    UsualLength{ledger::Interval::ten_seconds, {600}},       UsualLength{ledger::Interval::minute, {3600}},
    UsualLength{ledger::Interval::ten_minutes, {6 * 3600}},  UsualLength{ledger::Interval::hour, {k_day_s}},
    UsualLength{ledger::Interval::six_hours, {7 * k_day_s}}, UsualLength{ledger::Interval::day, {31 * k_day_s}},
    UsualLength{ledger::Interval::month, {365 * k_day_s}}};

// The first begin of an interval in the usual length before `until`, so that the first row is of a whole interval.
Instant usual_begin(ledger::Interval by, Instant until) {
  for (const UsualLength& usual : k_usual_lengths) {
    if (usual.by != by) continue;
    const Instant begin = until - usual.length;
    const std::vector<Instant> begins = ledger::begins_between(by, begin - Duration{1}, until);
    return begins.empty() ? begin : begins.front();
  }
  return until;
}

// The report that `make` computes from the ledger's books between the instants of the question.
template <typename Report>
using MakeReport = std::function<Expected<Report>(ledger::PastBooks&, const ledger::IntervalAsked&)>;

// The estimators that an interval's report shows: those of the configuration and the requested one.
using Needed = accounting::EstimatorSet (*)(const config::Configuration& configuration,
                                            accounting::EstimatorId contribution);

accounting::EstimatorSet needed_for_stretches(const config::Configuration& /*configuration*/,
                                              accounting::EstimatorId contribution) {
  return ledger::needed_for_stretches(contribution);
}

// The worth of cooperation is computed by those kept estimators that can compute it.
accounting::EstimatorSet needed_with_worth(const config::Configuration& configuration,
                                           accounting::EstimatorId contribution) {
  accounting::EstimatorSet needed = config::kept_estimators(configuration);
  const accounting::EstimatorSet stretches = ledger::needed_for_stretches(contribution);
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    if (stretches.contains(estimator)) needed.insert(estimator);
  }
  return needed;
}

struct IntervalKind {
  std::function<Instant(Instant until)> usual;  // begin
  Needed needed;
  bool as_of_now = false;  // closed periods as known today (ledger::IntervalAsked::as_of)
};

template <typename Report>
Expected<Report> interval_report(const ledger::Ledger& ledger, const LedgerFile& file,
                                 const ledger::IntervalRequest& asked, const IntervalKind& kind,
                                 const MakeReport<Report>& make) {
  SHAPLEY_TRY_ASSIGN(const Instant recorded, ledger::last_recorded(ledger));
  const Instant last = std::max(recorded, file.known_until.value_or(recorded));
  // Who names an end of an imported time knows what was exported; else it ends where the export does.
  Instant end = last;
  if (!asked.until && !file.known_until) {
    SHAPLEY_TRY_ASSIGN(end, ledger::last_known(ledger));
  }
  const Instant until = std::min(asked.until.value_or(end), last);
  const Instant since = asked.since.value_or(kind.usual(until));
  if (since >= until) {
    return fail(
        Errc::invalid_argument,
        fmt::format("there is nothing to report of the time from {} to {}: the ledger recorded something last at {}",
                    format_instant(since), format_instant(asked.until.value_or(end)), format_instant(end)));
  }
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, until));
  const accounting::EstimatorId contribution = wanted_by(asked.contribution, configuration);
  SHAPLEY_TRY_ASSIGN(auto books, ledger::PastBooks::read(ledger, {.ledger = file.path,
                                                                  .archives = file.archives,
                                                                  .since = since,
                                                                  .until = kind.as_of_now ? last : until,
                                                                  .by = kind.needed(configuration, contribution)}));
  if (books.begin() >= until) return ledger::before_the_books(until, books.begin());
  SHAPLEY_TRY_ASSIGN(Report report, make(books, {.since = since,
                                                 .until = until,
                                                 .with_until = !asked.until || *asked.until > last,
                                                 .estimator = contribution,
                                                 .only = asked.organizations,
                                                 .as_of = kind.as_of_now ? std::optional(last) : std::nullopt}));
  if (asked.since && books.begin() > since) report.of.books_begin = books.begin();
  if (asked.until && *asked.until > last) report.of.recorded_until = last;
  if (std::string rule = books.state().ranking_rule().contribution; accounting::is_former_estimator(rule))
    report.of.former_contribution = std::move(rule);
  return report;
}

template <typename Report>
Expected<Report> of_file(const LedgerFile& file, const ledger::IntervalRequest& asked, const IntervalKind& kind,
                         const MakeReport<Report>& make) {
  return from_ledger(file.path,
                     [&](const ledger::Ledger& ledger) { return interval_report(ledger, file, asked, kind, make); });
}

}  // namespace

Expected<ledger::StatusReport> answer(const ledger::StatusRequest& asked, const LedgerFile& file) {
  return from_ledger(file.path, [&](const ledger::Ledger& ledger) { return present_status(ledger, asked); });
}

Expected<ledger::StatusReport> answer(const ledger::StatusAtRequest& asked, const LedgerFile& file) {
  return from_ledger(file.path, [&](const ledger::Ledger& ledger) { return past_status(ledger, file, asked); });
}

Expected<ledger::AccountReport> answer(const ledger::StatementRequest& asked, const LedgerFile& file) {
  const auto month_of = [](Instant until) { return period_begin(Period::monthly, until - Duration{1}); };
  return of_file<ledger::AccountReport>(file, asked.of, {month_of, needed_with_worth, asked.as_of == ledger::AsOf::now},
                                        ledger::statement_report);
}

Expected<ledger::HistoryReport> answer(const ledger::HistoryRequest& asked, const LedgerFile& file) {
  const ledger::Interval by = asked.by.value_or(ledger::Interval::day);
  const auto usual = [by](Instant until) { return usual_begin(by, until); };
  return of_file<ledger::HistoryReport>(file, asked.of, {usual, needed_for_stretches},
                                        [&](ledger::PastBooks& books, const ledger::IntervalAsked& interval) {
                                          return ledger::history_report(books, interval, by, asked.utilization);
                                        });
}

Expected<ledger::JobsReport> answer(const ledger::JobsFilter& asked, const LedgerFile& file) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file.path));
  const ledger::Ledger& ledger = opened.ledger();
  const Expected<Instant> at = ledger::last_recorded(ledger);
  if (!at) return with_context(file.path.native(), at.error());
  const auto recovered = ledger.recover();
  if (!recovered) return with_context(file.path.native(), recovered.error());
  SHAPLEY_TRY(ledger::check_organizations(recovered->state, asked.organizations));
  SHAPLEY_TRY_ASSIGN(ledger::JobsFilter booked, ledger::with_users_of(recovered->state.user_names(), asked));
  booked.organizations = ledger::booked_names(recovered->state, asked.organizations);
  SHAPLEY_TRY_ASSIGN(ledger::JobsReport report, ledger::jobs_report(ledger, booked, *at));
  report.no_start = ledger::no_start_report(recovered->state, asked.organizations);
  ledger::complete(report, ledger::JobsContext::of(recovered->state));
  return report;
}

Expected<ledger::PreviewReport> preview(const ledger::AdjustRequest& asked, const LedgerFile& file, std::string author,
                                        Instant now) {
  const auto made = [&]() -> Expected<ledger::PreviewReport> {
    SHAPLEY_TRY_ASSIGN(ledger::AdjustmentAsked adjustment, ledger::adjustment_asked(asked));
    adjustment.author = std::move(author);
    SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file.path));
    return ledger::preview_report(opened.ledger(), adjustment, now);
  }();
  if (!made) return with_context("adjust", made.error());
  return made;
}

Expected<std::map<std::string, std::string>> titles(const LedgerFile& file, Instant at) {
  return from_ledger(file.path,
                     [&](const ledger::Ledger& ledger) { return configuration_of(ledger, at).map(titles_of); });
}

}  // namespace shapley::answers
