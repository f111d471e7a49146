#include "ledger/readers/past_events.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "ledger/readers/past_files.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

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
  const Database& database = LedgerAccess::impl(ledger).database;
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY(note_begin(database, begin.sequence));
  SHAPLEY_TRY(note_retractions(database, begin.sequence));
  // Sorting numbers and looking each event up costs far less room than sorting events.
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
    File* first = nullptr;  // of two that are equally old the older file's
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
