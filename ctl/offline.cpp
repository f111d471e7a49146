#include "ctl/offline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "base/calendar.hpp"
#include "config/configuration.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

namespace {

// The defaults, too, where an older release accepted a text that this one refuses: then they are as good as any.
Expected<config::Configuration> configuration_of(const ledger::Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_at(ledger, at));
  if (!loaded) return config::Configuration{};
  auto parsed = config::parse(loaded->text);
  return parsed ? std::move(*parsed) : config::Configuration{};
}

std::map<std::string, std::string> titles_of(const config::Configuration& configuration) {
  std::map<std::string, std::string> titles;
  for (const config::OrganizationConfig& o : configuration.organizations) {
    if (!o.title.empty()) titles[o.name] = o.title;
  }
  return titles;
}

Expected<nlohmann::json> status_of(const ledger::Ledger& ledger, const OfflineQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const Instant last, ledger::last_recorded(ledger));
  const Instant at = question.at.value_or(last);
  SHAPLEY_TRY_ASSIGN(const config::Configuration configuration, configuration_of(ledger, at));
  const accounting::EstimatorId contribution = question.contribution.value_or(configuration.contribution);
  accounting::State state;
  if (question.at) {
    // Whoever asks for one by its name pays for it.
    accounting::EstimatorSet by = config::kept_estimators(configuration);
    by.insert(contribution);
    SHAPLEY_TRY_ASSIGN(
        auto books,
        ledger::PastBooks::read(
            ledger, {.ledger = question.ledger, .archives = question.archives, .since = at, .until = at, .by = by}));
    SHAPLEY_TRY(books.advance_to(at));
    state = std::move(books).take_state();
  } else {
    // The present needs no replay of the whole past.
    SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
    state = std::move(recovered.state);
  }
  nlohmann::json report = ledger::status_report(state, at, contribution);
  const std::map<std::string, std::string> titles = titles_of(configuration);
  ledger::set_titles(report, titles);
  if (!question.worth) return report;
  report["worth"] = ledger::worth_report(state, state.worth(at));
  if (!report["worth"].is_null()) ledger::set_titles(report["worth"], titles);
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

Instant usual_begin(ledger::Interval by, Instant until) {
  for (const UsualLength& usual : k_usual_lengths) {
    if (usual.by == by) return until - usual.length;
  }
  return until;
}

// The report that `make` makes of the ledger's books between the instants that are asked.
using MakeReport = std::function<Expected<nlohmann::json>(ledger::PastBooks&, const ledger::IntervalAsked&)>;

// Of which estimators an interval's report tells, by the configuration and the one that is asked for.
using Needed = accounting::EstimatorSet (*)(const config::Configuration& configuration,
                                            accounting::EstimatorId contribution);

accounting::EstimatorSet needed_for_stretches(const config::Configuration& /*configuration*/,
                                              accounting::EstimatorId contribution) {
  return ledger::needed_for_stretches(contribution);
}

// What cooperation was worth is told by whichever of those that are kept can.
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

Expected<nlohmann::json> interval_report(const ledger::Ledger& ledger, const IntervalQuestion& question,
                                         const IntervalKind& kind, const MakeReport& make) {
  SHAPLEY_TRY_ASSIGN(const Instant recorded, ledger::last_recorded(ledger));
  const Instant last = std::max(recorded, question.known_until.value_or(recorded));
  const Instant until = std::min(question.until.value_or(last), last);
  const Instant since = question.since.value_or(kind.usual(until));
  if (since >= until) {
    return fail(Errc::invalid_argument, "there is nothing to tell of the time from " + format_instant(since) + " to " +
                                            format_instant(question.until.value_or(last)) +
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
  SHAPLEY_TRY_ASSIGN(nlohmann::json report,
                     make(books, {.since = since,
                                  .until = until,
                                  .estimator = contribution,
                                  .only = question.only,
                                  .as_of = question.as_of_now ? std::optional(last) : std::nullopt}));
  // Where the books are not of all of the time that was asked.
  const auto add_bound = [&report](const std::string& name, bool shortens, Instant bound) {
    report[name] = shortens ? nlohmann::json(bound.value) : nlohmann::json(nullptr);
    report[name + "_utc"] = shortens ? nlohmann::json(format_instant(bound)) : nlohmann::json(nullptr);
  };
  add_bound("books_begin", question.since && books.begin() > since, books.begin());
  add_bound("recorded_until", question.until.value_or(last) > last, last);
  return report;
}

Expected<nlohmann::json> of_file(const IntervalQuestion& question, const IntervalKind& kind, const MakeReport& make) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(question.ledger));
  auto report = interval_report(opened.ledger(), question, kind, make);
  if (!report) return with_context(question.ledger.native(), std::move(report).error());
  return report;
}

}  // namespace

Expected<Instant> parse_time(const std::string& text, const std::string& option) {
  if (const auto instant = parse_instant(text)) return *instant;
  return fail(Errc::invalid_argument,
              option + ": '" + text + "' is no time; write 2026-11-21 or 2026-11-21T07:00:00 (UTC)");
}

Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                  const std::filesystem::path& ledger) {
  SHAPLEY_TRY_ASSIGN(const Instant instant, parse_time(text, option));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Instant present{std::chrono::duration_cast<std::chrono::seconds>(now).count()};
  if (instant <= present) return instant;
  // A ledger of a host whose clock goes ahead of this one's.
  if (!ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(ledger));
    const auto last = ledger::last_recorded(opened.ledger());
    if (last && instant <= *last) return instant;
  }
  return fail(Errc::invalid_argument, option + ": " + format_instant(instant) +
                                          " lies in the future, of which the books know nothing; it is " +
                                          format_instant(present));
}

Expected<void> check_interval(std::optional<Instant> since, std::optional<Instant> until) {
  if (!since || !until || *since < *until) return {};
  return fail(Errc::invalid_argument,
              "--until: " + format_instant(*until) + " is not after --since " + format_instant(*since));
}

std::filesystem::path archives_of(const std::filesystem::path& ledger, const std::filesystem::path& named) {
  return named.empty() ? ledger::archives_near(ledger) : named;
}

Expected<nlohmann::json> offline_status(const OfflineQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(question.ledger));
  auto report = status_of(opened.ledger(), question);
  if (!report) return with_context(question.ledger.native(), std::move(report).error());
  return report;
}

Expected<std::map<std::string, std::string>> offline_titles(const std::filesystem::path& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(ledger));
  const auto configuration = configuration_of(opened.ledger(), at);
  if (!configuration) return with_context(ledger.native(), configuration.error());
  return titles_of(*configuration);
}

Expected<nlohmann::json> offline_jobs(const std::filesystem::path& file, const ledger::JobsFilter& filter) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  const ledger::Ledger& ledger = opened.ledger();
  const Expected<Instant> at = ledger::last_recorded(ledger);
  if (!at) return with_context(file.native(), at.error());
  const auto recovered = ledger.recover();
  if (!recovered) return with_context(file.native(), recovered.error());
  SHAPLEY_TRY(ledger::check_organizations(recovered->state, filter.organizations));
  ledger::JobsFilter booked = filter;
  booked.organizations = ledger::booked_names(recovered->state, filter.organizations);
  SHAPLEY_TRY_ASSIGN(nlohmann::json report, ledger::jobs_report(ledger, booked, *at));
  report["no_start"] = ledger::no_start_report(recovered->state, filter.organizations);
  return report;
}

Expected<nlohmann::json> offline_statement(const IntervalQuestion& question) {
  const auto month_of = [](Instant until) { return period_begin(Period::monthly, until - Duration{1}); };
  return of_file(question, {month_of, needed_with_worth},
                 [](ledger::PastBooks& books, const ledger::IntervalAsked& asked) {
                   return ledger::statement_report(books, asked);
                 });
}

Expected<nlohmann::json> offline_history(const IntervalQuestion& question, ledger::Interval by) {
  const auto usual = [by](Instant until) { return usual_begin(by, until); };
  return of_file(question, {usual, needed_for_stretches},
                 [by](ledger::PastBooks& books, const ledger::IntervalAsked& asked) {
                   return ledger::history_report(books, asked, by);
                 });
}

}  // namespace shapley::ctl
