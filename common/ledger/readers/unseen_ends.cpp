#include "ledger/readers/unseen_ends.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::CloseReason;
using accounting::SegmentOpened;

// 0 is a run (sql/005_compact.sql).
constexpr const char* k_segments_of_a_run =
    "SELECT s.ordinal, s.opened, s.retracted IS NOT NULL, o.at, c.at, w.text FROM segment_events s "
    "JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "LEFT JOIN words w ON w.word = c.reason WHERE s.kind = 0 AND s.job = ?1 AND s.anchor = ?2 ORDER BY s.ordinal";

struct LastSegment {
  std::int64_t opened = 0;  // number of the event
  bool vanished = false;
  Instant end = k_beginning_of_time;
};

Expected<std::optional<UnseenEnd>> read_unseen_end(const Database& database, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_of_a_run));
  select.bind(1, std::int64_t{job.value}).bind(2, start.value);
  UnseenEnd found;
  LastSegment last;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    found.next_ordinal = static_cast<std::uint32_t>(select.integer(0)) + 1;
    if (select.integer(2) != 0) continue;
    if (select.is_null(4)) return std::nullopt;
    const Instant end{select.integer(4)};
    found.held += end - Instant{select.integer(3)};
    if (end < last.end) continue;
    last = {.opened = select.integer(1), .vanished = select.text(5) == name_of(CloseReason::vanished), .end = end};
  }
  if (!last.vanished) return std::nullopt;
  found.end = last.end;
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY(reader.visit(last.opened - 1, last.opened, [&](const StoredEvent& stored) {
    if (const auto* opened = std::get_if<SegmentOpened>(&stored.event)) found.last = *opened;
    return Expected<void>{};
  }));
  return found;
}

// Segments of the run after those that it has.
class NextSegments {
 public:
  explicit NextSegments(const UnseenEnd& known) : opened_(known.last), ordinal_(known.next_ordinal) {}

  void add(Instant begin, Instant end, CloseReason reason, const std::string& job_state) {
    opened_.key.ordinal = ordinal_++;
    if (begin != opened_.begin) {
      opened_.released.reset();
      opened_.waited_as = {};
    }
    opened_.begin = begin;
    events.emplace_back(opened_);
    events.emplace_back(accounting::SegmentClosed{opened_.key, end, reason, job_state});
  }

  std::vector<accounting::Event> events;

 private:
  SegmentOpened opened_;
  std::uint32_t ordinal_;
};

}  // namespace

Expected<std::optional<UnseenEnd>> unseen_end(const Ledger& ledger, JobId job, Instant start) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto found = read_unseen_end(impl.database, job, start);
  if (!found) return impl.failed("read a run's end", std::move(found).error());
  return found;
}

std::vector<accounting::Event> end_as_recorded(const UnseenEnd& known, const RecordedEnd& recorded, Instant now) {
  NextSegments writer(known);
  const CloseReason at_end = recorded.job_state == "REQUEUED" ? CloseReason::requeued : CloseReason::ended;
  if (recorded.end < known.end) {
    writer.events.emplace_back(accounting::SegmentRetracted{known.last.key, now});
    if (known.last.begin < recorded.end) {
      writer.add(known.last.begin, recorded.end, at_end, recorded.job_state);
    }
    return writer.events;
  }
  const Duration counted = recorded.end - known.last.key.anchor - recorded.suspended;
  const Instant stop = known.end + std::max(Duration{}, std::min(counted - known.held, recorded.end - known.end));
  if (stop == recorded.end) {
    if (known.end < stop) writer.add(known.end, stop, at_end, recorded.job_state);
    return writer.events;
  }
  // As daemon/observer books a run that was suspended until its end.
  writer.add(known.end, stop, CloseReason::suspended, "SUSPENDED");
  writer.add(recorded.end, recorded.end, at_end, recorded.job_state);
  return writer.events;
}

}  // namespace shapley::ledger
