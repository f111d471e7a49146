// A ledger against Slurm's records: the records, and the runs that have to be compared with them, are in memory at
// once.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ledger/audit/audit_parts.hpp"
#include "ledger/audit/record_comparison.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/store/rows.hpp"
#include "sacct/slurm_records.hpp"

namespace shapley::ledger {

namespace {

using Databases = std::vector<const Database*>;  // the newest file first

// The latest job known as this task of an array.
Expected<std::optional<JobId>> task_of(const Database& database, std::uint32_t array_job, std::uint32_t task) {
  // The last task of an array has the array's own number, and is recorded later.
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare("SELECT job FROM main.event_jobs j WHERE array_job = ?1 AND (array_task = ?2 OR (job = ?1 AND "
                       "(SELECT array_task FROM main.jobs s WHERE s.job = j.job AND s.submit = j.submit) = ?2)) "
                       "ORDER BY seq DESC LIMIT 1"));
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, std::int64_t{array_job}).bind(2, std::int64_t{task}).step());
  return row ? std::optional(JobId{static_cast<std::uint32_t>(select.integer(0))}) : std::nullopt;
}

Expected<sacct::SlurmRecords> read_records(const Databases& files, const std::filesystem::path& file) {
  auto in = InputFile::open(file);
  if (!in) return fail(Errc::io, in.error().what + "; check path and permissions");
  std::optional<Error> failed;
  const auto find_task = [&](std::uint32_t array_job, std::uint32_t task) -> std::optional<JobId> {
    for (const Database* database : files) {
      auto job = task_of(*database, array_job, task);
      if (!job) {
        failed = std::move(job).error();
        return std::nullopt;
      }
      if (*job) return *job;
    }
    return std::nullopt;
  };
  auto records = sacct::read_slurm_records(*in, find_task);
  if (failed) return tl::unexpected<Error>(*std::move(failed));
  if (!records) return with_context(file.string(), std::move(records).error());
  return records;
}

// The events of segments in one file, by segment.
class SegmentEvents {
 public:
  // Reads the events with a number above `after`.
  static Expected<SegmentEvents> create(const Database& database, std::int64_t after) {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    // Sorted by SQLite, in temporary files.
    SHAPLEY_TRY_ASSIGN(Statement order,
                       database.prepare("SELECT seq, kind & 1, job, anchor, ordinal FROM main.event_rows "
                                        "WHERE kind >= 2 AND seq > ?1 ORDER BY kind & 1, job, anchor, ordinal, seq"));
    order.bind(1, after);
    SegmentEvents events(std::move(reader), std::move(order));
    SHAPLEY_TRY(events.advance());
    return events;
  }

  // nullopt: there is no further segment.
  [[nodiscard]] const std::optional<accounting::SegmentKey>& key() const { return key_; }
  Expected<void> advance() {
    SHAPLEY_TRY_ASSIGN(const bool row, order_.step());
    key_.reset();
    if (!row) return {};
    sequence_ = order_.integer(0);
    key_ = {order_.integer(1) == 0 ? accounting::SegmentKind::run : accounting::SegmentKind::wait,
            {static_cast<std::uint32_t>(order_.integer(2))},
            {order_.integer(3)},
            static_cast<std::uint32_t>(order_.integer(4))};
    return {};
  }
  Expected<void> read(std::vector<StoredEvent>& to) {
    return reader_.visit(sequence_ - 1, sequence_, [&](const StoredEvent& stored) -> Expected<void> {
      to.push_back(stored);
      return {};
    });
  }

 private:
  SegmentEvents(EventReader reader, Statement order) : reader_(std::move(reader)), order_(std::move(order)) {}

  EventReader reader_;
  Statement order_;
  std::optional<accounting::SegmentKey> key_;
  std::int64_t sequence_ = 0;
};

// The facts that have to be compared, job by job.
class FactsToCompare {
 public:
  FactsToCompare(const sacct::SlurmRecords& records, const ComparedInterval& asked) : selection_(records, asked) {}

  Expected<void> read(const Databases& files, AuditReport& report) {
    // The newest file has copies of all declarations.
    SHAPLEY_TRY(read_declarations(*files.front()));
    SHAPLEY_TRY_ASSIGN(std::vector<SegmentEvents> events, events_of(files));
    std::optional<accounting::SegmentKey> last;
    while (SegmentEvents* next = first_of(events)) {
      const accounting::SegmentKey key = *next->key();
      if (last != key) ++report.segments;
      if (last && last->job != key.job) select_job(last->job);
      last = key;
      // Records have no waits, but some look like runs (is_requeued_wait).
      const bool is_run = key.kind == accounting::SegmentKind::run;
      if (is_run || selection_.wants_waits(key.job)) SHAPLEY_TRY(next->read(of_job_));
      SHAPLEY_TRY(next->advance());
    }
    if (last) select_job(last->job);
    return {};
  }

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const RunsLeftOut& left_out() const { return selection_.left_out(); }

 private:
  // Each event once: copies of archived events only if the archive itself is not among the files.
  static Expected<std::vector<SegmentEvents>> events_of(const Databases& files) {
    std::vector<SegmentEvents> events;
    for (const Database* database : files) {
      SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(*database));
      const std::int64_t after = database == files.back() ? 0 : begin.sequence;
      SHAPLEY_TRY_ASSIGN(SegmentEvents of_file, SegmentEvents::create(*database, after));
      events.push_back(std::move(of_file));
    }
    return events;
  }

  // nullptr: there is no further segment.
  static SegmentEvents* first_of(std::vector<SegmentEvents>& events) {
    SegmentEvents* first = nullptr;
    for (SegmentEvents& of_file : events) {
      if (of_file.key() && (first == nullptr || *of_file.key() < *first->key())) first = &of_file;
    }
    return first;
  }

  // Reads what the comparison depends on: how processors were charged, and when no records were read.
  Expected<void> read_declarations(const Database& database) {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    SHAPLEY_TRY_ASSIGN(Statement select,
                       database.prepare("SELECT seq FROM main.event_texts WHERE kind IN "
                                        "('configuration_loaded', 'charge_declared', 'observation_gap', 'state_lost', "
                                        "'adjustment_made') "
                                        "ORDER BY seq"));
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, select.step());
      if (!row) return {};
      SHAPLEY_TRY(
          reader.visit(select.integer(0) - 1, select.integer(0), [&](const StoredEvent& stored) -> Expected<void> {
            facts_.add(stored.event);
            if (const auto* rule = std::get_if<accounting::ChargeDeclared>(&stored.event))
              bills_from_[stored.sequence] = rule->charge == "billing";
            return {};
          }));
    }
  }

  // A segment that is written again, with another begin or end, keeps its charge: the first event of this run with this
  // charge says by which rule it was made.
  void note_billed() {
    if (std::ranges::none_of(bills_from_, [](const auto& rule) { return rule.second; })) return;
    const auto charge_of = [](const accounting::SegmentOpened& opened) {
      return std::pair(opened.key.anchor, opened.processors.value);
    };
    std::map<std::pair<Instant, std::int64_t>, std::int64_t> first;
    for (const StoredEvent& stored : of_job_) {
      const auto* opened = std::get_if<accounting::SegmentOpened>(&stored.event);
      if (opened == nullptr) continue;
      const auto place = first.emplace(charge_of(*opened), stored.sequence).first;
      place->second = std::min(place->second, stored.sequence);
    }
    for (const StoredEvent& stored : of_job_) {
      const auto* opened = std::get_if<accounting::SegmentOpened>(&stored.event);
      if (opened != nullptr) facts_.segments[opened->key].is_billed = is_billed(first.at(charge_of(*opened)));
    }
  }

  // By the order of the ledger: what was seen late was charged by the rule in force when it was seen.
  [[nodiscard]] bool is_billed(std::int64_t sequence) const {
    const auto after = bills_from_.upper_bound(sequence);
    return after != bills_from_.begin() && std::prev(after)->second;
  }

  void select_job(JobId job) {
    Facts alone;
    for (const StoredEvent& stored : of_job_) alone.add(stored.event);
    if (selection_.wants(job, alone)) {
      for (const StoredEvent& stored : of_job_) facts_.add(stored.event);
      note_billed();
    }
    of_job_.clear();
  }

  RunSelection selection_;
  Facts facts_;
  std::vector<StoredEvent> of_job_;
  std::map<std::int64_t, bool> bills_from_;  // event -> whether runs are charged by Slurm's billing from it on
};

// What the file has of its own.
struct OwnEvents {
  std::int64_t count = 0;
  LedgerSpan span;
};
Expected<OwnEvents> own_events(const Database& database) {
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(Statement ends,
                     database.prepare("SELECT COUNT(*), "
                                      "(SELECT received FROM main.event_rows WHERE seq > ?1 ORDER BY seq LIMIT 1), "
                                      "(SELECT received FROM main.event_rows WHERE seq > ?1 ORDER BY seq DESC LIMIT 1) "
                                      "FROM main.event_rows WHERE seq > ?1"));
  SHAPLEY_TRY(ends.bind(1, begin.sequence).step());
  return OwnEvents{ends.integer(0), {.first_received = {ends.integer(1)}, .last_received = {ends.integer(2)}}};
}

Expected<AuditReport> compare(const Databases& files, const std::filesystem::path& file,
                              const ComparedInterval& asked) {
  std::vector<Transaction> snapshots;
  AuditReport report;
  LedgerSpan span;
  for (const Database* database : files) {
    SHAPLEY_TRY_ASSIGN(Transaction snapshot, Transaction::begin(*database, Transaction::Kind::read));
    snapshots.push_back(std::move(snapshot));
    SHAPLEY_TRY_ASSIGN(const OwnEvents own, own_events(*database));
    report.events += own.count;
    if (database == files.front()) span.last_received = own.span.last_received;
    span.first_received = own.span.first_received;
  }
  SHAPLEY_TRY_ASSIGN(const sacct::SlurmRecords records, read_records(files, file));
  FactsToCompare ledger(records, asked);
  SHAPLEY_TRY(ledger.read(files, report));
  compare_with_records(ledger.facts(), span, records, report, asked, ledger.left_out());
  if (std::string note = attribution_note(ledger.facts().adjustments); !note.empty()) {
    report.notes.push_back(std::move(note));
  }
  return report;
}

}  // namespace

Expected<AuditReport> audit_against(std::span<const Ledger* const> files, const std::filesystem::path& records,
                                    const ComparedInterval& asked) {
  Databases databases;
  for (const Ledger* ledger : files) databases.push_back(&ledger->rows().database());
  auto report = compare(databases, records, asked);
  if (!report) return files.front()->rows().failed("audit against records", std::move(report).error());
  return report;
}

Expected<std::optional<Instant>> first_recorded_start(const Ledger& ledger, const std::filesystem::path& records) {
  const ReadRows& rows = ledger.rows();
  auto read = read_records({&rows.database()}, records);
  if (!read) return rows.failed("audit against records", std::move(read).error());
  std::optional<Instant> first;
  for (const sacct::SlurmRecord& record : read->records) {
    if (record.start) first = std::min(first.value_or(record.start->instant), record.start->instant);
  }
  return first;
}

}  // namespace shapley::ledger
