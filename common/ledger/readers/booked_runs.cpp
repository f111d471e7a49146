#include "ledger/readers/booked_runs.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::SegmentOpened;

// 0 is a run (sql/005_compact.sql).
constexpr const char* k_segments_of_a_job =
    "SELECT s.anchor, s.opened, c.at, w.text FROM segment_events s JOIN event_rows o ON o.seq = s.opened "
    "LEFT JOIN event_rows c ON c.seq = s.closed LEFT JOIN words w ON w.word = c.reason "
    "WHERE s.kind = 0 AND s.job = ?1 AND s.retracted IS NULL ORDER BY s.anchor, o.at, s.ordinal";

Expected<std::uint64_t> cpus_of(EventReader& reader, std::int64_t opened) {
  std::uint64_t cpus = 0;
  SHAPLEY_TRY(reader.visit(opened - 1, opened, [&](const StoredEvent& stored) {
    if (const auto* segment = std::get_if<SegmentOpened>(&stored.event)) {
      for (const accounting::NodeShare& share : segment->nodes) cpus += share.cpus;
    }
    return Expected<void>{};
  }));
  return cpus;
}

Expected<std::vector<BookedRun>> read_runs(const Database& database, JobId job) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_of_a_job));
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  select.bind(1, std::int64_t{job.value});
  std::vector<BookedRun> runs;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return runs;
    const Instant start{select.integer(0)};
    if (runs.empty() || runs.back().start != start) runs.push_back({.start = start, .end = k_beginning_of_time});
    BookedRun& run = runs.back();
    SHAPLEY_TRY_ASSIGN(const std::uint64_t cpus, cpus_of(reader, select.integer(1)));
    run.cpus = std::max(run.cpus, cpus);
    if (select.is_null(2)) {
      run.end.reset();
      run.end_seen = false;
    } else if (run.end && Instant{select.integer(2)} >= *run.end) {
      run.end = Instant{select.integer(2)};
      run.end_seen = select.text(3) != accounting::name_of(accounting::CloseReason::vanished);
    }
  }
}

}  // namespace

Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto runs = read_runs(impl.database, job);
  if (!runs) return impl.failed("read a job's runs", std::move(runs).error());
  return runs;
}

}  // namespace shapley::ledger
