#include "ledger/readers/past_books.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/file/typed_rows.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

Expected<PastBooks> PastBooks::read(const Ledger& ledger, const Asked& asked) {
  const std::filesystem::path directory = asked.archives.empty() ? archives_near(asked.ledger) : asked.archives;
  SHAPLEY_TRY_ASSIGN(PastFiles past, PastFiles::open(ledger, directory, asked.since, asked.until));
  auto kept = std::make_unique<PastFiles>(std::move(past));
  const std::vector<const Ledger*>& files = kept->files();
  SHAPLEY_TRY_ASSIGN(PastEvents events, PastEvents::open(files));
  SHAPLEY_TRY_ASSIGN(Submitters submitters, Submitters::open(files));
  SHAPLEY_TRY_ASSIGN(Recovered opening, files.front()->opening(remembers_nothing(asked.by)));
  SHAPLEY_TRY_ASSIGN(const Instant begin, begin_of_books(opening.state, events.begin(), asked.until));
  SHAPLEY_TRY_ASSIGN(Fold fold, events.fold(std::move(opening), asked.since, asked.until, asked.pace));
  return PastBooks(std::move(kept), std::move(events), std::move(submitters), std::move(fold), begin);
}

Expected<void> PastBooks::advance_to(Instant t) {
  SHAPLEY_REQUIRE(!moved_to_ || *moved_to_ <= t);
  SHAPLEY_TRY(fold_.advance_to(t));
  // Books without any event have no present.
  if (state().now() != k_beginning_of_time) state().advance(t);
  moved_to_ = t;
  fold_.keep(t);
  return {};
}

namespace {

// The row that has the figures of the organization of this name in events.
accounting::Standing& row_of_name(const accounting::State& books, const std::string& name,
                                  std::vector<accounting::Standing>& rows) {
  const std::vector<std::string>& names = books.organizations();
  const auto id = static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin());
  SHAPLEY_REQUIRE(id < names.size());
  return rows[books.row_of(OrgId{id}).value];
}

}  // namespace

std::vector<accounting::Standing> PastBooks::rows() {
  if (!moved_to_ || state().now() == k_beginning_of_time) return {};
  std::vector<accounting::Standing> rows = state().standings();
  for (const PastAdjustment& adjustment : adjustments()) {
    if (!adjustment.settled || adjustment.settled->at != *moved_to_) continue;
    const CpuTime work = adjustment.settled->work;
    accounting::Standing& to = row_of_name(state(), adjustment.settled->to, rows);
    to.got -= work;
    to.settled_got -= work;
    accounting::Standing& from = row_of_name(state(), adjustment.settled->from, rows);
    from.settled_given -= work;
    for (accounting::Credit& credit : from.credits) credit.given -= work;
  }
  return rows;
}

Expected<void> PastBooks::forget() {
  submitters_.forget();
  return fold_.forget();
}

using accounting::AdjustmentMade;
using accounting::Event;
using accounting::OwnershipStated;
using accounting::SegmentClosed;
using accounting::SegmentKey;
using accounting::SegmentKind;
using accounting::SegmentOpened;
using accounting::SegmentRetracted;

bool PastAdjustment::concerns(Instant since, Instant until) const {
  if (made.at < since) return false;
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
    all_.back().settled = *settled;
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

// Calls take(row) for the last submission of the job before `start`, and perhaps for earlier ones before that. The
// first column of the lookups, one for each file, is the time of submission.
template <typename Take>
Expected<void> look_up(std::vector<Statement>& lookups, JobId job, Instant start, Take&& take) {
  std::optional<std::int64_t> last;
  for (Statement& lookup : lookups) {
    SHAPLEY_TRY_ASSIGN(const bool row, lookup.bind(1, std::int64_t{job.value}).bind(2, start.value).step());
    if (row && (!last || lookup.integer(0) >= *last)) {
      last = lookup.integer(0);
      take(lookup);
    }
    lookup.reset();
  }
  return {};
}

}  // namespace

Expected<Submitters> Submitters::open(const std::vector<const Ledger*>& files) {
  Submitters submitters;
  for (const Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(Statement lookup,
                       file->rows().database().prepare(
                           "SELECT j.submit, w.text, j.user_id FROM main.event_jobs j JOIN main.words w ON w.word = "
                           "j.account WHERE j.job = ?1 AND j.submit <= ?2 ORDER BY j.submit DESC LIMIT 1"));
    submitters.lookups_.push_back(std::move(lookup));
    SHAPLEY_TRY_ASSIGN(Statement of_partition,
                       file->rows().database().prepare("SELECT submit, partition FROM main.jobs WHERE job = ?1 AND "
                                                       "submit <= ?2 ORDER BY submit DESC LIMIT 1"));
    submitters.lookups_of_partition_.push_back(std::move(of_partition));
  }
  return submitters;
}

Expected<Submitter> Submitters::of(JobId job, Instant start) {
  if (const auto known = known_.find({job, start}); known != known_.end()) return known->second;
  Submitter submitter;
  SHAPLEY_TRY(look_up(lookups_, job, start, [&](const Statement& row) {
    submitter = {accounts_.number_of(std::string(row.text(1))), static_cast<std::uint32_t>(row.integer(2))};
  }));
  if (known_.size() >= k_kept) known_.clear();
  known_.emplace(std::pair(job, start), submitter);
  return submitter;
}

Expected<std::string> Submitters::partition_of(JobId job, Instant start) {
  std::string partition;
  SHAPLEY_TRY(
      look_up(lookups_of_partition_, job, start, [&](const Statement& row) { partition = std::string(row.text(1)); }));
  return partition;
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

namespace {

// nullopt: there is no later event.
Expected<std::optional<StoredEvent>> first_after(const Ledger& ledger, std::int64_t sequence) {
  std::optional<StoredEvent> first;
  const auto read = ledger.for_each_event(sequence, [&](const StoredEvent& stored) -> Expected<void> {
    first = stored;
    return fail(Errc::limit, "one event is enough");
  });
  if (!first) SHAPLEY_TRY(read);
  return first;
}

// The number of the last event before this one that was received before `t`; 0: there is no such event.
Expected<std::int64_t> last_received_before(const Ledger& ledger, std::int64_t sequence, Instant t) {
  std::int64_t before = 0;
  while (sequence - before > 1) {
    const std::int64_t middle = before + (sequence - before) / 2;
    SHAPLEY_TRY_ASSIGN(const std::optional<StoredEvent> stored, first_after(ledger, middle - 1));
    (stored && stored->received < t ? before : sequence) = middle;
  }
  return before;
}

}  // namespace

// All events of an import are received at once, and what says that they were imported is the last of them.
Expected<Instant> last_known(const Ledger& ledger) {
  std::optional<Instant> known;
  for (std::int64_t sequence = ledger.last_sequence(); sequence > 0;) {
    SHAPLEY_TRY_ASSIGN(const std::optional<StoredEvent> last, first_after(ledger, sequence - 1));
    if (!last) break;
    const auto* imported = std::get_if<accounting::HistoryImported>(&last->event);
    const Instant until = imported == nullptr ? last->received : std::min(imported->until, last->received);
    known = std::max(known.value_or(until), until);
    if (imported == nullptr) break;
    SHAPLEY_TRY_ASSIGN(sequence, last_received_before(ledger, sequence, last->received));
  }
  return known ? Expected<Instant>(*known) : last_recorded(ledger);
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
      return fail(Errc::not_found, fmt::format("the books of {} need the archive {}, which is not in {}; with --ledger "
                                               "FILE, --archives DIRECTORY says where it is",
                                               format_instant(since), described(*link), archives.native()));
    }
    if (!opened) return tl::unexpected<Error>(std::move(opened).error());
    past.archives_.push_back(*std::move(opened));
    past.files_.insert(past.files_.begin(), &past.archives_.back().ledger());
  }
}

accounting::UserNames PastBooks::user_names() {
  accounting::UserNames names = state().user_names();
  for (const accounting::UserNamed& user : events_.users()) names.emplace(user.user_id, user.name);
  return names;
}

Expected<Instant> begin_of_books(const accounting::State& opening, Instant first, Instant asked) {
  const Instant begin = std::min(opening.begin(), first);
  if (begin <= asked) return begin;
  return before_the_books(asked, begin);
}

tl::unexpected<Error> before_the_books(Instant asked, Instant begin) {
  return fail(Errc::invalid_argument, begin == k_end_of_time
                                          ? "the books have not begun: no run, node or organization is recorded"
                                          : fmt::format("the books begin at {}; there is nothing of {} or before",
                                                        format_instant(begin), format_instant(asked)));
}

namespace {

// The segment that the event is about; nullptr: none.
const accounting::SegmentKey* segment_of(const Event& event) {
  if (const auto* opened = std::get_if<SegmentOpened>(&event)) return &opened->key;
  if (const auto* closed = std::get_if<SegmentClosed>(&event)) return &closed->key;
  if (const auto* retracted = std::get_if<SegmentRetracted>(&event)) return &retracted->key;
  return nullptr;
}

Expected<void> apply_adjustments(accounting::State& state, const std::vector<PastAdjustment>& adjustments) {
  const std::vector<AdjustmentMade> known = state.adjustments();
  for (const PastAdjustment& adjustment : adjustments) {
    if (std::ranges::find(known, adjustment.made.number, &AdjustmentMade::number) != known.end()) continue;
    AdjustmentMade made = adjustment.made;
    made.at = Instant{0};  // the present of the books is not to move for it
    SHAPLEY_TRY(apply_in_order(state, made));
  }
  return {};
}

}  // namespace

Expected<PastEvents> PastEvents::open(const std::vector<const Ledger*>& files) {
  PastEvents events;
  for (const Ledger* file : files) SHAPLEY_TRY(events.add(*file));
  events.adjustments_ = std::move(events.noting_).take();
  return events;
}

Expected<void> PastEvents::add(const Ledger& ledger) {
  const Database& database = ledger.rows().database();
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  snapshots_.push_back(std::move(snapshot));
  const EventRange& file = files_.emplace_back(EventRange{.database = &database, .after = begin.sequence});
  SHAPLEY_TRY(note_begin(file));
  SHAPLEY_TRY(note_retractions(file));
  SHAPLEY_TRY(note_users(file));
  return note_adjustments(file);
}

Expected<Fold> PastEvents::fold(Recovered opening, Instant since, Instant until, const ReplayPace& pace) const {
  SHAPLEY_TRY(apply_adjustments(opening.state, adjustments_));
  for (const SegmentKey& key : *retracted_) {
    // The segment was known before the file begins, and is retracted in it.
    if (opening.state.find_segment(key) == nullptr) continue;
    SHAPLEY_TRY(apply_in_order(opening.state, SegmentRetracted{key, std::min(since, opening.state.now())}));
  }
  std::vector<EventRange> files = files_;
  for (EventRange& file : files) file.until = until;
  const auto leaves_out = [retracted = retracted_](const Event& event) {
    const SegmentKey* key = segment_of(event);
    return std::holds_alternative<AdjustmentMade>(event) || (key != nullptr && retracted->contains(*key));
  };
  return Fold::by_time(files, std::move(opening), {.pace = pace, .leaves_out = leaves_out});
}

// The kinds of accounting::begin_by.
Expected<void> PastEvents::note_begin(const EventRange& file) {
  for (const char* sql : {"SELECT MIN(at) FROM main.event_rows WHERE seq > ?1 AND kind IN (:opened, :opened + :wait)",
                          "SELECT MIN(r.at) FROM main.event_texts t JOIN main.event_rows r ON r.seq = t.seq WHERE "
                          "t.seq > ?1 AND t.kind IN "
                          "('organizations_declared', 'capacity_changed', 'period_declared')"}) {
    SHAPLEY_TRY_ASSIGN(Statement select, file.database->prepare(with_kinds(sql)));
    select.bind(1, file.after);
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (row && !select.is_null(0)) begin_ = std::min(begin_, Instant{select.integer(0)});
  }
  return {};
}

Expected<void> PastEvents::note_retractions(const EventRange& file) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     file.database->prepare(with_kinds("SELECT kind - :retracted, job, anchor, ordinal FROM "
                                                       "main.event_rows WHERE seq > ?1 AND kind >= :retracted")));
  select.bind(1, file.after);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return {};
    SHAPLEY_TRY_ASSIGN(const SegmentKey key, typed_row<SegmentKey>(select));
    retracted_->insert(key);
  }
}

Expected<void> PastEvents::note_users(const EventRange& file) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(*file.database));
  SHAPLEY_TRY_ASSIGN(Statement select, file.database->prepare("SELECT seq FROM main.event_texts WHERE seq > ?1 AND "
                                                              "key >= 'user_named/' AND key < 'user_named0' "
                                                              "ORDER BY seq"));
  select.bind(1, file.after);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return {};
    SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader.read(select.integer(0)));
    if (const auto* user = std::get_if<accounting::UserNamed>(&stored.event)) users_.push_back(*user);
  }
}

// The adjustments, each with the facts right behind it; these may be in the next file.
Expected<void> PastEvents::note_adjustments(const EventRange& file) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(*file.database));
  std::int64_t done = file.after;
  const auto note_between = [&](std::int64_t after, std::int64_t last) {
    return reader.visit(after, last, [&](const StoredEvent& stored) -> Expected<void> {
      noting_.note(stored.event);
      if (const auto* made = std::get_if<AdjustmentMade>(&stored.event)) last_fact_ = stored.sequence + made->facts;
      done = stored.sequence;
      return {};
    });
  };
  SHAPLEY_TRY_ASSIGN(Statement select, file.database->prepare("SELECT seq FROM main.event_texts WHERE seq > ?1 AND "
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

}  // namespace shapley::ledger
