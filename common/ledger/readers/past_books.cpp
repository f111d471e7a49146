#include "ledger/readers/past_books.hpp"

#include <algorithm>

#include "ledger/archive/links.hpp"

namespace shapley::ledger {

Expected<PastBooks> PastBooks::read(const Ledger& ledger, const Asked& asked) {
  const std::filesystem::path directory = asked.archives.empty() ? archives_near(asked.ledger) : asked.archives;
  SHAPLEY_TRY_ASSIGN(PastFiles past, PastFiles::open(ledger, directory, asked.since, asked.until));
  auto kept = std::make_unique<PastFiles>(std::move(past));
  const std::vector<const Ledger*>& files = kept->files();
  SHAPLEY_TRY_ASSIGN(PastEvents events, PastEvents::open(files, asked.until));
  SHAPLEY_TRY_ASSIGN(Submitters submitters, Submitters::open(files));
  SHAPLEY_TRY_ASSIGN(Recovered opening, files.front()->opening(remembers_nothing(asked.by)));
  SHAPLEY_TRY_ASSIGN(const Instant begin, begin_of_books(opening.state, events.begin(), asked.until));
  std::vector<accounting::AdjustmentMade> made;
  for (const PastAdjustment& adjustment : events.adjustments()) made.push_back(adjustment.made);
  SHAPLEY_TRY(apply_adjustments(opening.state, std::move(made)));
  SHAPLEY_TRY(retract_known(opening.state, events.retracted(), asked.since));
  return PastBooks(std::move(kept), std::move(events), std::move(submitters), std::move(opening.state), begin,
                   asked.pace);
}

Expected<void> PastBooks::advance_to(Instant t) {
  while (true) {
    SHAPLEY_TRY_ASSIGN(const accounting::Event* event, events_.next_until(t));
    if (event == nullptr) break;
    SHAPLEY_TRY(apply_told(state_, *event));
    if (--due_ <= 0) forget_before(needed_from_);
  }
  // Books of no event have no present.
  if (state_.now() != k_beginning_of_time) state_.advance(t);
  needed_from_ = t;
  return {};
}

void PastBooks::forget() {
  submitters_.forget();
  forget_before(needed_from_);
}

void PastBooks::forget_before(Instant t) {
  state_.compact(std::min(t, events_.reached_back()));
  due_ = std::max(pace_.events_between_compactions, static_cast<std::int64_t>(state_.remembered_jobs()));
}

}  // namespace shapley::ledger
