#include "ledger/readers/past_books.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "accounting/events/begin.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/readers/past_files.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::JobDescribed;
using accounting::SegmentKey;

using Files = std::vector<const Ledger*>;

struct Told {
  // Those that speak of the last instant that is asked or of earlier times, in the order of time, but of no retracted
  // segment.
  std::vector<Event> events;
  Instant begins_later = k_end_of_time;  // the first of the others that begins books
  std::set<SegmentKey> retracted;
  std::vector<PastAdjustment> adjustments;
  std::vector<JobDescribed> jobs;  // described before the files begin
};

Expected<Told> told_until(const Files& files, Instant until) {
  Told told;
  AdjustmentReader adjustments;
  for (const Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(const Recovered opening, file->opening());
    const bool oldest = file == files.front();
    SHAPLEY_TRY(file->for_each_event(oldest ? 0 : opening.last_sequence, [&](const StoredEvent& stored) {
      if (stored.sequence > opening.last_sequence) adjustments.note(stored.event);
      if (stored.sequence <= opening.last_sequence) {
        // A copy of an archived event: the opening books know it, but for whose job it was.
        if (const auto* job = std::get_if<JobDescribed>(&stored.event)) told.jobs.push_back(*job);
      } else if (const auto* retraction = std::get_if<accounting::SegmentRetracted>(&stored.event)) {
        told.retracted.insert(retraction->key);
      } else if (std::holds_alternative<accounting::AdjustmentMade>(stored.event)) {
        // Applied before all others: two rows that were added up are so for all times.
      } else if (accounting::time_of(stored.event) <= until) {
        told.events.push_back(stored.event);
      } else {
        told.begins_later = std::min(told.begins_later, accounting::begin_by(stored.event));
      }
      return Expected<void>{};
    }));
  }
  told.adjustments = std::move(adjustments).take();
  std::erase_if(told.events, [&](const Event& event) {
    const SegmentKey* key = segment_of(event);
    return key != nullptr && told.retracted.contains(*key);
  });
  std::stable_sort(told.events.begin(), told.events.end(),
                   [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
  return told;
}

}  // namespace

Expected<PastBooks> PastBooks::read(const Ledger& ledger, const Asked& asked) {
  const std::filesystem::path directory = asked.archives.empty() ? archives_near(asked.ledger) : asked.archives;
  SHAPLEY_TRY_ASSIGN(const PastFiles past, PastFiles::open(ledger, directory, asked.since));
  const Files& files = past.files();
  SHAPLEY_TRY_ASSIGN(Told told, told_until(files, asked.until));
  SHAPLEY_TRY_ASSIGN(Recovered opening, files.front()->opening({.left_out = asked.by.others()}));
  PastBooks books;
  books.state_ = std::move(opening.state);
  SHAPLEY_TRY_ASSIGN(books.begin_, begin_of_books(books.state_, told.events, told.begins_later, asked.until));
  std::vector<accounting::AdjustmentMade> made;
  for (const PastAdjustment& adjustment : told.adjustments) made.push_back(adjustment.made);
  SHAPLEY_TRY(apply_adjustments(books.state_, std::move(made)));
  books.adjustments_ = std::move(told.adjustments);
  SHAPLEY_TRY(retract_known(books.state_, told.retracted, asked.since));
  books.events_ = std::move(told.events);
  for (const JobDescribed& job : told.jobs) books.describe(job);
  for (const Event& event : books.events_) {
    if (const auto* job = std::get_if<JobDescribed>(&event)) books.describe(*job);
  }
  return books;
}

Expected<void> PastBooks::advance_to(Instant t) {
  for (; next_ < events_.size() && accounting::time_of(events_[next_]) <= t; ++next_) {
    SHAPLEY_TRY(apply_told(state_, events_[next_]));
  }
  // Books of no event have no present.
  if (state_.now() != k_beginning_of_time) state_.advance(t);
  return {};
}

void PastBooks::describe(const JobDescribed& job) {
  submitters_[{job.job, job.submit}] = {accounts_.number_of(job.account), job.user_id};
}

Submitter PastBooks::submitter_of(JobId job, Instant start) const {
  const auto later = submitters_.upper_bound({job, start});
  if (later == submitters_.begin()) return {};
  const auto& [key, submitter] = *std::prev(later);
  return key.first == job ? submitter : Submitter{};
}

}  // namespace shapley::ledger
