#include "ctl/offline.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/calendar.hpp"
#include "config/configuration.hpp"
#include "ledger/archive/links.hpp"
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

// The file whose books begin at `at` or before, and those after it.
using Files = std::vector<const ledger::Ledger*>;

struct Told {
  std::vector<Event>
      events;  // that speak of `at` or of earlier times, in the order of time, but of no retracted segment
  std::set<accounting::SegmentKey> retracted;
};

Expected<Told> told_until(const Files& files, Instant at) {
  Told told;
  for (const ledger::Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(const ledger::Recovered opening, file->opening());
    SHAPLEY_TRY(file->for_each_event(opening.last_sequence, [&](const ledger::StoredEvent& stored) {
      if (const auto* retraction = std::get_if<accounting::SegmentRetracted>(&stored.event)) {
        told.retracted.insert(retraction->key);
      } else if (accounting::time_of(stored.event) <= at) {
        told.events.push_back(stored.event);
      }
      return Expected<void>{};
    }));
  }
  std::erase_if(told.events, [&](const Event& event) {
    const accounting::SegmentKey* key = segment_of(event);
    return key != nullptr && told.retracted.contains(*key);
  });
  std::stable_sort(told.events.begin(), told.events.end(),
                   [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
  return told;
}

Expected<void> apply(accounting::State& state, const Event& event) {
  const auto applied = state.apply(event);
  // What the books refuse (a contradiction) changed nothing when shapleyd met it, and changes nothing here.
  if (!applied || *applied != accounting::Applied::needs_replay) return {};
  return fail(Errc::corrupt, "the books refuse " + accounting::event_key(event) + " in the order of time");
}

Expected<accounting::State> books_at(const Files& files, Instant at) {
  SHAPLEY_TRY_ASSIGN(const Told told, told_until(files, at));
  SHAPLEY_TRY_ASSIGN(ledger::Recovered opening, files.front()->opening());
  for (const accounting::SegmentKey& key : told.retracted) {
    // Known before the file begins, and retracted in it, whenever that was.
    if (opening.state.find_segment(key) == nullptr) continue;
    SHAPLEY_TRY(apply(opening.state, accounting::SegmentRetracted{key, std::min(at, opening.state.now())}));
  }
  for (const Event& event : told.events) SHAPLEY_TRY(apply(opening.state, event));
  return std::move(opening.state);
}

// As books_at() of the ledger and, as far as they are needed, of its archives.
Expected<accounting::State> books_of_past(const OfflineQuestion& question, const ledger::Ledger& ledger, Instant at) {
  const std::filesystem::path directory =
      question.archives.empty() ? ledger::archives_near(question.ledger) : question.archives;
  std::deque<ledger::OpenedFile> archives;  // the newest first
  Files files{&ledger};
  std::optional<ledger::ArchiveLink> link;
  while (true) {
    SHAPLEY_TRY_ASSIGN(link, ledger::archive_before(*files.front(), link));
    if (!link || link->until <= at) return books_at(files, at);
    const auto there = ledger::find_archive(directory, link->name);
    if (!there) {
      return fail(Errc::not_found, "the books of " + format_instant(at) + " need the archive " + described(*link) +
                                       ", which is not in " + directory.native() +
                                       "; --archives DIRECTORY says where it is");
    }
    SHAPLEY_TRY_ASSIGN(auto opened, ledger::OpenedFile::open(*there));
    archives.push_back(std::move(opened));
    files.insert(files.begin(), &archives.back().ledger());
  }
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
    SHAPLEY_TRY_ASSIGN(state, books_of_past(question, ledger, at));
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
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(question.ledger));
  auto report = status_of(opened.ledger(), question);
  if (!report) return with_context(question.ledger.native(), std::move(report).error());
  return report;
}

Expected<nlohmann::json> offline_jobs(const std::filesystem::path& file, const ledger::JobsFilter& filter) {
  SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(file));
  const ledger::Ledger& ledger = opened.ledger();
  const Expected<Instant> at = last_recorded(ledger);
  if (!at) return with_context(file.native(), at.error());
  SHAPLEY_TRY_ASSIGN(nlohmann::json report, ledger::jobs_report(ledger, filter, *at));
  const auto recovered = ledger.recover();
  if (!recovered) return with_context(file.native(), recovered.error());
  report["no_start"] = ledger::no_start_report(recovered->state, filter.organizations);
  return report;
}

}  // namespace shapley::ctl
