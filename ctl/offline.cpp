#include "ctl/offline.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <nlohmann/json.hpp>

#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/time_text.hpp"
#include "config/configuration.hpp"
#include "ctl/commands/interval.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

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

Expected<ledger::StatusReport> status_of(const ledger::Ledger& ledger, const OfflineQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const Instant last, ledger::last_recorded(ledger));
  const Instant at = question.at.value_or(last);
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, at));
  const accounting::EstimatorId contribution = question.contribution.value_or(configuration.contribution);
  accounting::State state;
  if (question.at) {
    // An estimator that the user names is computed, although it takes time.
    accounting::EstimatorSet by = config::kept_estimators(configuration);
    by.insert(contribution);
    SHAPLEY_TRY_ASSIGN(
        auto books,
        ledger::PastBooks::read(
            ledger, {.ledger = question.ledger, .archives = question.archives, .since = at, .until = at, .by = by}));
    SHAPLEY_TRY(books.advance_to(at));
    state = std::move(books).take_state();
  } else {
    // The present does not require a replay of the whole past.
    SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
    state = std::move(recovered.state);
  }
  ledger::StatusReport report = ledger::status_report(state, at, contribution);
  if (question.worth) report.worth.emplace(ledger::worth_report(state, state.advance(at).worth()));
  if (question.forecast) {
    const accounting::EstimatorId acting = accounting::acting(contribution, state.kept());
    report.forecast = ledger::forecast_report(accounting::outlook(state.advance(at), acting));
  }
  ledger::set_titles(report, titles_of(configuration));
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
};

template <typename Report>
Expected<Report> interval_report(const ledger::Ledger& ledger, const IntervalQuestion& question,
                                 const IntervalKind& kind, const MakeReport<Report>& make) {
  SHAPLEY_TRY_ASSIGN(const Instant recorded, ledger::last_recorded(ledger));
  const Instant last = std::max(recorded, question.known_until.value_or(recorded));
  const Instant until = std::min(question.until.value_or(last), last);
  const Instant since = question.since.value_or(kind.usual(until));
  if (since >= until) {
    return fail(Errc::invalid_argument, "there is nothing to report of the time from " + format_instant(since) +
                                            " to " + format_instant(question.until.value_or(last)) +
                                            ": the ledger recorded something last at " + format_instant(last));
  }
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, until));
  const accounting::EstimatorId contribution = question.contribution.value_or(configuration.contribution);
  SHAPLEY_TRY_ASSIGN(auto books, ledger::PastBooks::read(ledger, {.ledger = question.ledger,
                                                                  .archives = question.archives,
                                                                  .since = since,
                                                                  .until = question.as_of_now ? last : until,
                                                                  .by = kind.needed(configuration, contribution)}));
  if (books.begin() >= until) return ledger::before_the_books(until, books.begin());
  SHAPLEY_TRY_ASSIGN(Report report, make(books, {.since = since,
                                                 .until = until,
                                                 .estimator = contribution,
                                                 .only = question.only,
                                                 .as_of = question.as_of_now ? std::optional(last) : std::nullopt}));
  if (question.since && books.begin() > since) report.of.books_begin = books.begin();
  if (question.until.value_or(last) > last) report.of.recorded_until = last;
  return report;
}

template <typename Report>
Expected<Report> of_file(const IntervalQuestion& question, const IntervalKind& kind, const MakeReport<Report>& make) {
  return from_ledger(question.ledger,
                     [&](const ledger::Ledger& ledger) { return interval_report(ledger, question, kind, make); });
}

}  // namespace

Expected<Instant> parse_time(const std::string& text, const std::string& option) {
  if (const auto instant = shapley::parse_time(text, wall_clock())) return *instant;
  return fail(Errc::invalid_argument, option + ": '" + text + "' is no time; " + std::string(k_times_allowed));
}

Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                  const std::filesystem::path& ledger) {
  SHAPLEY_TRY_ASSIGN(const Instant instant, parse_time(text, option));
  const Instant present = wall_clock();
  if (instant <= present) return instant;
  // The ledger may be of a host whose clock is ahead of this one's.
  if (!ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(ledger));
    const auto last = ledger::last_recorded(opened.ledger());
    if (last && instant <= *last) return instant;
  }
  return fail(Errc::invalid_argument, option + ": " + format_instant(instant) +
                                          " lies in the future, of which the books know nothing; it is " +
                                          format_instant(present));
}

Expected<TimesAsked> parse_times(const std::string& since_text, const std::string& until_text,
                                 const std::filesystem::path& ledger) {
  TimesAsked times;
  auto& [since, until] = times;
  if (!since_text.empty()) {
    SHAPLEY_TRY_ASSIGN(since, parse_past_time(since_text, "--since", ledger));
  }
  if (!until_text.empty()) {
    SHAPLEY_TRY_ASSIGN(until, parse_time(until_text, "--until"));
  }
  if (!since || !until || *since < *until) return times;
  return fail(Errc::invalid_argument,
              "--until: " + format_instant(*until) + " is not after --since " + format_instant(*since));
}

Expected<void> check_file_options(const std::filesystem::path& ledger, std::initializer_list<FileOption> options) {
  if (!ledger.empty()) return {};
  for (const FileOption& option : options) {
    if (option.value.empty()) continue;
    return fail(Errc::invalid_argument,
                std::string(option.name) +
                    ": it is about a ledger's file, and the daemon is asked; name the file with "
                    "--ledger FILE");
  }
  return {};
}

std::filesystem::path archives_of(const std::filesystem::path& ledger, const std::filesystem::path& named) {
  return named.empty() ? ledger::archives_near(ledger) : named;
}

Expected<ledger::StatusReport> offline_status(const OfflineQuestion& question) {
  return from_ledger(question.ledger, [&](const ledger::Ledger& ledger) { return status_of(ledger, question); });
}

Expected<std::map<std::string, std::string>> offline_titles(const std::filesystem::path& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(ledger));
  const auto configuration = configuration_of(opened.ledger(), at);
  if (!configuration) return with_context(ledger.native(), configuration.error());
  return titles_of(*configuration);
}

Expected<ledger::PreviewReport> offline_preview(const std::filesystem::path& file, const ledger::AdjustRequest& request,
                                                std::string author, Instant now) {
  const auto preview = [&]() -> Expected<ledger::PreviewReport> {
    SHAPLEY_TRY_ASSIGN(ledger::AdjustmentAsked asked, ledger::adjustment_asked(request));
    asked.author = std::move(author);
    SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
    return ledger::preview_report(opened.ledger(), asked, now);
  }();
  if (!preview) return with_context("adjust", preview.error());
  return preview;
}

Expected<ledger::JobsReport> offline_jobs(const std::filesystem::path& file, const ledger::JobsFilter& filter) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  const ledger::Ledger& ledger = opened.ledger();
  const Expected<Instant> at = ledger::last_recorded(ledger);
  if (!at) return with_context(file.native(), at.error());
  const auto recovered = ledger.recover();
  if (!recovered) return with_context(file.native(), recovered.error());
  SHAPLEY_TRY(ledger::check_organizations(recovered->state, filter.organizations));
  ledger::JobsFilter booked = filter;
  booked.organizations = ledger::booked_names(recovered->state, filter.organizations);
  SHAPLEY_TRY_ASSIGN(ledger::JobsReport report, ledger::jobs_report(ledger, booked, *at));
  report.no_start = ledger::no_start_report(recovered->state, filter.organizations);
  return report;
}

Expected<ledger::AccountReport> offline_statement(const IntervalQuestion& question) {
  const auto month_of = [](Instant until) { return period_begin(Period::monthly, until - Duration{1}); };
  return of_file<ledger::AccountReport>(question, {month_of, needed_with_worth}, ledger::statement_report);
}

Expected<ledger::HistoryReport> offline_history(const IntervalQuestion& question, ledger::Interval by) {
  const auto usual = [by](Instant until) { return usual_begin(by, until); };
  return of_file<ledger::HistoryReport>(question, {usual, needed_for_stretches},
                                        [by](ledger::PastBooks& books, const ledger::IntervalAsked& asked) {
                                          return ledger::history_report(books, asked, by);
                                        });
}

namespace {

template <typename Report>
Expected<json> as_json(const Expected<Report>& report) {
  if (!report) return tl::unexpected(report.error());
  return json_of(*report);
}

IntervalQuestion question_of(const ledger::Reading& reading, const ledger::IntervalRequest& asked) {
  return {.ledger = reading.ledger,
          .since = asked.since,
          .until = asked.until,
          .known_until = reading.now,
          .contribution = accounting::parse_estimator(asked.contribution),
          .only = asked.organizations};
}

Expected<json> report_for(const ledger::Reading& reading, const ledger::StatusAtRequest& asked) {
  return as_json(offline_status({.ledger = reading.ledger,
                                 .at = asked.at,
                                 .contribution = accounting::parse_estimator(asked.of.contribution),
                                 .worth = asked.of.worth,
                                 .forecast = asked.of.forecast}));
}

Expected<json> report_for(const ledger::Reading& reading, const ledger::StatementRequest& asked) {
  IntervalQuestion question = question_of(reading, asked.of);
  question.as_of_now = asked.as_of == ledger::AsOf::now;
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, offline_statement(question));
  name_users(report);
  return json_of(report);
}

Expected<json> report_for(const ledger::Reading& reading, const ledger::HistoryRequest& asked) {
  return as_json(offline_history(question_of(reading, asked.of), asked.by.value_or(ledger::Interval::day)));
}

Expected<json> report_for(const ledger::Reading& reading, const ledger::AdjustRequest& asked) {
  return as_json(offline_preview(reading.ledger, asked, reading.author, reading.now));
}

template <typename Request>
Expected<json> report_by(const ledger::Reading& reading) {
  SHAPLEY_TRY_ASSIGN(const Request asked, request_from<Request>(reading.request));
  return report_for(reading, asked);
}

Expected<json> report_of(const std::string& text) {
  SHAPLEY_TRY_ASSIGN(const ledger::Reading reading, from_json<ledger::Reading>(parse_json(text)));
  constexpr std::pair<std::string_view, Expected<json> (*)(const ledger::Reading&)> k_reports[] = {
      {"status_at", report_by<ledger::StatusAtRequest>},
      {"statement", report_by<ledger::StatementRequest>},
      {"history", report_by<ledger::HistoryRequest>},
      {"adjust_preview", report_by<ledger::AdjustRequest>},
  };
  const auto name = reading.request.find("request");
  for (const auto& [known, report] : k_reports) {
    if (name != reading.request.end() && *name == known) return report(reading);
  }
  return fail(Errc::protocol, "the request is none that shapleyctl answers");
}

}  // namespace

std::string offline_answer(const std::string& reading) {
  const auto report = report_of(reading);
  return text_of(report ? json{{"report", *report}} : error_reply(report.error()));
}

}  // namespace shapley::ctl
