#include "ledger/readers/past_books.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ledger/store/rows.hpp"

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
  SHAPLEY_REQUIRE(needed_from_ == k_end_of_time || needed_from_ <= t);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const accounting::Event* event, events_.next_until(t));
    if (event == nullptr) break;
    SHAPLEY_TRY(apply_told(state_, *event));
    if (--due_ <= 0) forget_before(needed_from_);
  }
  // Books without any event have no present.
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

using accounting::AdjustmentMade;
using accounting::Event;
using accounting::OwnershipStated;
using accounting::SegmentClosed;
using accounting::SegmentKind;
using accounting::SegmentOpened;

bool PastAdjustment::concerns(Instant since, Instant until) const {
  if (made.at <= since) return false;
  return !made_after(until) || (from < until && to > since);
}

void AdjustmentReader::note(const Event& event) {
  if (const auto* made = std::get_if<AdjustmentMade>(&event)) {
    all_.push_back({.made = *made});
    facts_left_ = made->facts;
    reached_.reset();
    open_.clear();
    return;
  }
  if (facts_left_ == 0) return;
  note_fact(event);
  if (--facts_left_ == 0) end_facts();
}

void AdjustmentReader::note_fact(const Event& fact) {
  if (const auto* opened = std::get_if<SegmentOpened>(&fact)) {
    reach(opened->begin, opened->begin);
    open_[opened->key] = {.begin = opened->begin, .processors = opened->processors};
  } else if (const auto* closed = std::get_if<SegmentClosed>(&fact)) {
    reach(closed->end, closed->end);
    const auto found = open_.find(closed->key);
    if (found == open_.end()) return;
    const OpenRun run = found->second;
    open_.erase(found);
    if (closed->key.kind != SegmentKind::run) return;
    PastAdjustment& last = all_.back();
    const Instant end = std::min(closed->end, std::max(last.made.at, run.begin));
    last.work = last.work.value_or(CpuTime{}) + run.processors * (end - run.begin);
  } else if (const auto* owned = std::get_if<OwnershipStated>(&fact)) {
    reach(owned->effective, owned->effective);
  } else if (const auto* settled = std::get_if<accounting::WorkSettled>(&fact)) {
    reach(settled->at, settled->at);
  }
}

void AdjustmentReader::reach(Instant from, Instant to) {
  if (!reached_) reached_ = {from, to};
  reached_->first = std::min(reached_->first, from);
  reached_->second = std::max(reached_->second, to);
}

void AdjustmentReader::end_facts() {
  PastAdjustment& last = all_.back();
  for (const auto& [key, run] : open_) {
    if (key.kind != SegmentKind::run) continue;
    last.work = last.work.value_or(CpuTime{}) + run.processors * (std::max(last.made.at, run.begin) - run.begin);
  }
  if (!reached_) return;
  last.from = reached_->first;
  // A single instant is the begin of a statement of owners that holds from then on.
  if (open_.empty() && reached_->second > reached_->first) last.to = reached_->second;
}

namespace {

// A run is asked for once for each of its nodes.
constexpr std::size_t k_kept = 50'000;

}  // namespace

Expected<Submitters> Submitters::open(const std::vector<const Ledger*>& files) {
  Submitters submitters;
  for (const Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(Statement lookup,
                       file->rows().database().prepare(
                           "SELECT j.submit, w.text, j.user_id FROM main.event_jobs j JOIN main.words w ON w.word = "
                           "j.account WHERE j.job = ?1 AND j.submit <= ?2 ORDER BY j.submit DESC LIMIT 1"));
    submitters.lookups_.push_back(std::move(lookup));
  }
  return submitters;
}

Expected<Submitter> Submitters::of(JobId job, Instant start) {
  if (const auto known = known_.find({job, start}); known != known_.end()) return known->second;
  Submitter submitter;
  std::optional<std::int64_t> last;
  for (Statement& lookup : lookups_) {
    SHAPLEY_TRY_ASSIGN(const bool row, lookup.bind(1, std::int64_t{job.value}).bind(2, start.value).step());
    if (row && (!last || lookup.integer(0) >= *last)) {
      last = lookup.integer(0);
      submitter = {accounts_.number_of(std::string(lookup.text(1))), static_cast<std::uint32_t>(lookup.integer(2))};
    }
    lookup.reset();
  }
  if (known_.size() >= k_kept) known_.clear();
  known_.emplace(std::pair(job, start), submitter);
  return submitter;
}

Expected<Instant> last_recorded(const Ledger& ledger) {
  std::optional<Instant> last;
  SHAPLEY_TRY(ledger.for_each_event(ledger.last_sequence() - 1, [&](const StoredEvent& stored) {
    last = stored.received;
    return Expected<void>{};
  }));
  if (!last) return fail(Errc::not_found, "the ledger is empty: nothing was recorded yet");
  return *last;
}

Expected<PastFiles> PastFiles::open(const Ledger& ledger, const std::filesystem::path& archives, Instant since,
                                    Instant until) {
  PastFiles past;
  past.files_.push_back(&ledger);
  std::optional<ArchiveLink> link;
  while (true) {
    SHAPLEY_TRY_ASSIGN(link, archive_before(*past.files_.front(), link));
    if (!link || link->until <= since) return past;
    auto opened = open_archive(*past.files_.front(), *link, archives);
    if (!opened && opened.error().code == Errc::not_found) {
      SHAPLEY_TRY_ASSIGN(const Recovered opening, past.files_.front()->opening());
      if (const Instant begin = opening.state.begin(); begin > until) return before_the_books(until, begin);
      return fail(Errc::not_found, "the books of " + format_instant(since) + " need the archive " + described(*link) +
                                       ", which is not in " + archives.native() +
                                       "; with --ledger FILE, --archives DIRECTORY says where it is");
    }
    if (!opened) return tl::unexpected<Error>(std::move(opened).error());
    past.archives_.push_back(*std::move(opened));
    past.files_.insert(past.files_.begin(), &past.archives_.back().ledger());
  }
}

Expected<Instant> begin_of_books(const accounting::State& opening, Instant first, Instant asked) {
  const Instant begin = std::min(opening.begin(), first);
  if (begin <= asked) return begin;
  return before_the_books(asked, begin);
}

tl::unexpected<Error> before_the_books(Instant asked, Instant begin) {
  return fail(Errc::invalid_argument, begin == k_end_of_time
                                          ? "the books have not begun: no run, node or organization is recorded"
                                          : "the books begin at " + format_instant(begin) + "; there is nothing of " +
                                                format_instant(asked) + " or before");
}

const accounting::SegmentKey* segment_of(const accounting::Event& event) {
  if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) return &opened->key;
  if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) return &closed->key;
  if (const auto* retracted = std::get_if<accounting::SegmentRetracted>(&event)) return &retracted->key;
  return nullptr;
}

Expected<void> apply_told(accounting::State& state, const accounting::Event& event) {
  const auto applied = state.apply(event);
  if (!applied || *applied != accounting::Applied::needs_replay) return {};
  return fail(Errc::corrupt, "the books refuse " + accounting::event_key(event) + " in the order of time");
}

Expected<void> apply_adjustments(accounting::State& state, std::vector<accounting::AdjustmentMade> adjustments) {
  const std::vector<accounting::AdjustmentMade> known = state.adjustments();
  for (accounting::AdjustmentMade& adjustment : adjustments) {
    const auto is_it = [&](const auto& other) { return other.number == adjustment.number; };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    adjustment.at = Instant{0};  // the present of the books is not to move for it
    SHAPLEY_TRY(apply_told(state, adjustment));
  }
  return {};
}

Expected<void> retract_known(accounting::State& state, const std::set<accounting::SegmentKey>& retracted, Instant at) {
  for (const accounting::SegmentKey& key : retracted) {
    // The segment was known before the file begins, and is retracted in it.
    if (state.find_segment(key) == nullptr) continue;
    SHAPLEY_TRY(apply_told(state, accounting::SegmentRetracted{key, std::min(at, state.now())}));
  }
  return {};
}

namespace {

using accounting::AdjustmentMade;
using accounting::Event;
using accounting::SegmentKind;

}  // namespace

Expected<PastEvents> PastEvents::open(const std::vector<const Ledger*>& files, Instant until) {
  PastEvents events;
  for (const Ledger* file : files) SHAPLEY_TRY(events.add(*file, until));
  events.adjustments_ = std::move(events.noting_).take();
  return events;
}

Expected<void> PastEvents::add(const Ledger& ledger, Instant until) {
  const Database& database = ledger.rows().database();
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY(note_begin(database, begin.sequence));
  SHAPLEY_TRY(note_retractions(database, begin.sequence));
  // Sorting numbers and looking each event up needs far less space than sorting events.
  SHAPLEY_TRY_ASSIGN(Statement order, database.prepare("SELECT seq, at FROM main.event_rows WHERE seq > ?1 AND "
                                                       "at <= ?2 AND kind < 6 ORDER BY at, seq"));
  order.bind(1, begin.sequence).bind(2, until.value);
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY_ASSIGN(Lookback lookback,
                     Lookback::by_time(database, begin.sequence, std::numeric_limits<std::int64_t>::max()));
  files_.push_back({.after = begin.sequence,
                    .snapshot = std::move(snapshot),
                    .order = std::move(order),
                    .reader = std::move(reader),
                    .lookback = std::move(lookback),
                    .sequence = std::nullopt,
                    .at = {}});
  SHAPLEY_TRY(note_adjustments(database, files_.back()));
  return files_.back().step();
}

// The kinds of accounting::begin_by.
Expected<void> PastEvents::note_begin(const Database& database, std::int64_t after) {
  for (const char* sql : {"SELECT MIN(at) FROM main.event_rows WHERE seq > ?1 AND kind IN (2, 3)",
                          "SELECT MIN(r.at) FROM main.event_texts t JOIN main.event_rows r ON r.seq = t.seq WHERE "
                          "t.seq > ?1 AND t.kind IN "
                          "('organizations_declared', 'capacity_changed', 'period_declared')"}) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
    select.bind(1, after);
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (row && !select.is_null(0)) begin_ = std::min(begin_, Instant{select.integer(0)});
  }
  return {};
}

Expected<void> PastEvents::note_retractions(const Database& database, std::int64_t after) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT kind & 1, job, anchor, ordinal FROM main.event_rows WHERE seq > ?1 AND "
                                      "kind >= 6"));
  select.bind(1, after);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return {};
    retracted_.insert({.kind = select.integer(0) == 0 ? SegmentKind::run : SegmentKind::wait,
                       .job = {static_cast<std::uint32_t>(select.integer(1))},
                       .anchor = {select.integer(2)},
                       .ordinal = static_cast<std::uint32_t>(select.integer(3))});
  }
}

// The adjustments, each with the facts right behind it; these may be in the next file.
Expected<void> PastEvents::note_adjustments(const Database& database, File& file) {
  std::int64_t done = file.after;
  const auto note_between = [&](std::int64_t after, std::int64_t last) {
    return file.reader.visit(after, last, [&](const StoredEvent& stored) -> Expected<void> {
      noting_.note(stored.event);
      if (const auto* made = std::get_if<AdjustmentMade>(&stored.event)) last_fact_ = stored.sequence + made->facts;
      done = stored.sequence;
      return {};
    });
  };
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq FROM main.event_texts WHERE seq > ?1 AND "
                                                        "kind = 'adjustment_made' ORDER BY seq"));
  select.bind(1, file.after);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    const std::int64_t next = row ? select.integer(0) : last_fact_ + 1;
    if (const std::int64_t facts = std::min(last_fact_, next - 1); facts > done) SHAPLEY_TRY(note_between(done, facts));
    if (!row) return {};
    SHAPLEY_TRY(note_between(next - 1, next));
  }
}

Expected<void> PastEvents::File::step() {
  SHAPLEY_TRY_ASSIGN(const bool row, order.step());
  sequence = row ? std::optional(order.integer(0)) : std::nullopt;
  if (row) at = {order.integer(1)};
  return {};
}

Instant PastEvents::reached_back() const {
  Instant reached = k_end_of_time;
  for (const File& file : files_) {
    if (file.sequence) reached = std::min(reached, file.lookback.from(file.at.value));
  }
  return reached;
}

Expected<const Event*> PastEvents::next_until(Instant t) {
  while (true) {
    File* first = nullptr;  // of two events of equal time the one of the older file comes first
    for (File& file : files_) {
      if (file.sequence && (first == nullptr || file.at < first->at)) first = &file;
    }
    if (first == nullptr || first->at > t) return nullptr;
    const std::int64_t sequence = *first->sequence;
    SHAPLEY_TRY(first->reader.visit(sequence - 1, sequence, [&](const StoredEvent& stored) -> Expected<void> {
      event_ = stored.event;
      return {};
    }));
    SHAPLEY_TRY(first->step());
    const accounting::SegmentKey* key = segment_of(event_);
    const bool is_retracted = key != nullptr && retracted_.contains(*key);
    if (!is_retracted && !std::holds_alternative<AdjustmentMade>(event_)) return &event_;
  }
}

}  // namespace shapley::ledger
