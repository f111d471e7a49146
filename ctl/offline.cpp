#include "ctl/offline.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/calendar.hpp"
#include "config/configuration.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

namespace {

using accounting::Event;

const accounting::SegmentKey* segment_of(const Event& event) {
  if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) return &opened->key;
  if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) return &closed->key;
  if (const auto* retracted = std::get_if<accounting::SegmentRetracted>(&event)) return &retracted->key;
  return nullptr;
}

Expected<Instant> last_recorded(const ledger::Ledger& ledger) {
  std::optional<Instant> last;
  SHAPLEY_TRY(ledger.for_each_event(ledger.last_sequence() - 1, [&](const ledger::StoredEvent& stored) {
    last = stored.received;
    return Expected<void>{};
  }));
  if (!last) return fail(Errc::not_found, "the ledger is empty: nothing was recorded yet");
  return *last;
}

// The events that speak of `at` or of earlier times, in the order of time, without those of retracted segments.
Expected<std::vector<Event>> events_until(const ledger::Ledger& ledger, Instant at) {
  std::vector<Event> events;
  std::set<accounting::SegmentKey> retracted;
  SHAPLEY_TRY(ledger.for_each_event(0, [&](const ledger::StoredEvent& stored) {
    if (const auto* retraction = std::get_if<accounting::SegmentRetracted>(&stored.event)) {
      retracted.insert(retraction->key);
    } else if (accounting::time_of(stored.event) <= at) {
      events.push_back(stored.event);
    }
    return Expected<void>{};
  }));
  std::erase_if(events, [&](const Event& event) {
    const accounting::SegmentKey* key = segment_of(event);
    return key != nullptr && retracted.contains(*key);
  });
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
  return events;
}

Expected<accounting::State> books_at(const ledger::Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, events_until(ledger, at));
  accounting::State state;
  for (const Event& event : events) {
    const auto applied = state.apply(event);
    // What the books refuse (a contradiction) changed nothing when shapleyd met it, and changes nothing here.
    if (applied && *applied == accounting::Applied::needs_replay) {
      return fail(Errc::corrupt, "the books refuse " + accounting::event_key(event) + " in the order of time");
    }
  }
  return state;
}

Expected<accounting::EstimatorId> configured_contribution(const ledger::Ledger& ledger, Instant at) {
  const accounting::EstimatorId by_default = config::Configuration{}.contribution;
  SHAPLEY_TRY_ASSIGN(const auto loaded, ledger::configuration_at(ledger, at));
  if (!loaded) return by_default;
  const auto parsed = config::parse(loaded->text);
  // A text that an older release accepted may be refused by this one; then the default is as good as any.
  return parsed ? parsed->contribution : by_default;
}

Expected<nlohmann::json> status_of(const ledger::Ledger& ledger, const OfflineQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const Instant last, last_recorded(ledger));
  const Instant at = question.at.value_or(last);
  accounting::State state;
  if (question.at) {
    SHAPLEY_TRY_ASSIGN(state, books_at(ledger, at));
  } else {
    // The present needs no replay of the whole past.
    SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
    state = std::move(recovered.state);
  }
  SHAPLEY_TRY_ASSIGN(const accounting::EstimatorId configured, configured_contribution(ledger, at));
  return ledger::status_report(state, at, question.contribution.value_or(configured));
}

}  // namespace

Expected<Instant> parse_time(const std::string& text, const std::string& option) {
  if (const auto instant = parse_instant(text)) return *instant;
  return fail(Errc::invalid_argument,
              option + ": '" + text + "' is no time; write 2026-11-21 or 2026-11-21T07:00:00 (UTC)");
}

Expected<nlohmann::json> offline_status(const OfflineQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(question.ledger, ledger::OpenMode::read_only));
  auto report = status_of(ledger, question);
  if (!report) return with_context(question.ledger.native(), std::move(report).error());
  return report;
}

Expected<nlohmann::json> offline_jobs(const std::filesystem::path& file, const ledger::JobsFilter& filter) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  const Expected<Instant> at = last_recorded(ledger);
  if (!at) return with_context(file.native(), at.error());
  SHAPLEY_TRY_ASSIGN(nlohmann::json report, ledger::jobs_report(ledger, filter, *at));
  const auto recovered = ledger.recover();
  if (!recovered) return with_context(file.native(), recovered.error());
  report["no_start"] = ledger::no_start_report(recovered->state, filter.organizations);
  return report;
}

}  // namespace shapley::ctl
