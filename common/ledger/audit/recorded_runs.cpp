#include "ledger/audit/recorded_runs.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace shapley::ledger {

namespace {

// Puts the rows of one job together. REQUIRES: rows in order of time.
class RowJoiner {
 public:
  RowJoiner(sacct::RecordFormat format, std::vector<RecordedRun>& runs) : format_(format), runs_(runs) {}

  void add(const sacct::SlurmRecord& row) {
    if (is_unstarted(row)) return;
    if (row.state == "RESIZING") return add_resized(row);
    const bool continues = !resized_.pieces.empty() &&
                           (row.start == resized_.pieces.back().end || row.start == resized_.pieces.front().begin);
    if (!continues) finish();
    RecordedRun run = std::exchange(resized_, {});
    const auto begin = continues ? run.pieces.back().end : row.start;
    run.pieces.push_back({begin, row.end, row.cpus, row.billing, row.line});
    take(row, run);
    runs_.push_back(std::move(run));
  }

  // A run that was resized and whose end is not recorded goes on.
  void finish() {
    if (resized_.pieces.empty()) return;
    RecordedRun run = std::exchange(resized_, {});
    run.pieces.push_back({run.pieces.back().end, std::nullopt, std::nullopt, std::nullopt, run.pieces.back().line});
    run.has_ended = false;
    runs_.push_back(std::move(run));
  }

 private:
  // jobcomp/filetxt has the moment of the resize as start and end; sacct has the true start, and the moment as end.
  void add_resized(const sacct::SlurmRecord& row) {
    const auto begin = !resized_.pieces.empty()                ? resized_.pieces.back().end
                       : format_ == sacct::RecordFormat::sacct ? row.start
                                                               : std::nullopt;
    const auto end = format_ == sacct::RecordFormat::sacct ? row.end : row.start;
    resized_.pieces.push_back({begin, end, row.cpus, row.billing, row.line});
    take(row, resized_);
  }

  static void take(const sacct::SlurmRecord& row, RecordedRun& run) {
    run.job = row.job;
    run.state = row.state;
    run.has_ended = row.has_ended();
    if (row.suspended) run.suspended = run.suspended.value_or(Duration{}) + *row.suspended;
  }

  sacct::RecordFormat format_;
  std::vector<RecordedRun>& runs_;
  RecordedRun resized_;
};

// A job that is requeued while it completes is recorded twice, the second time perhaps after its CPUs were taken away.
bool repeats(const sacct::SlurmRecord& row, const sacct::SlurmRecord& before) {
  return row.start == before.start && row.end == before.end && (row.cpus == before.cpus || row.cpus == 0);
}

}  // namespace

bool is_unstarted(const sacct::SlurmRecord& row) {
  return !row.start || (!row.end && row.state == "PENDING");
}

std::vector<RecordedRun> recorded_runs(const sacct::SlurmRecords& records) {
  std::map<JobId, std::vector<const sacct::SlurmRecord*>> by_job;
  for (const sacct::SlurmRecord& row : records.records) by_job[row.job].push_back(&row);
  std::vector<RecordedRun> runs;
  for (auto& [job, rows] : by_job) {
    // jobcomp/filetxt is in order already; sacct sorts in its own way.
    if (records.format == sacct::RecordFormat::sacct) {
      std::stable_sort(rows.begin(), rows.end(), [](const sacct::SlurmRecord* a, const sacct::SlurmRecord* b) {
        const auto key = [](const sacct::SlurmRecord* row) {
          const auto instant = [](const auto& time) { return time ? time->instant : k_end_of_time; };
          return std::pair(instant(row->start), instant(row->end));
        };
        return key(a) < key(b);
      });
    }
    RowJoiner joiner(records.format, runs);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || job >= k_no_number || !repeats(*rows[i], *rows[i - 1])) joiner.add(*rows[i]);
    }
    joiner.finish();
  }
  return runs;
}

namespace {

std::optional<Instant> earliest_end_of(const std::vector<RecordedRun>& runs) {
  std::optional<Instant> earliest;
  for (const RecordedRun& run : runs) {
    if (run.end()) earliest = std::min(earliest.value_or(k_end_of_time), run.end()->instant);
  }
  return earliest;
}

}  // namespace

RecordsSpan::RecordsSpan(const sacct::SlurmRecords& records, const ComparedInterval& asked)
    : format_(records.format), asked_(asked) {
  const std::vector<RecordedRun> runs = recorded_runs(records);
  earliest_end_ = earliest_end_of(runs);
  for (const RecordedRun& run : runs) {
    for (const auto* time : {&run.start(), &run.end()}) {
      if (*time) latest_ = std::max(latest_, (*time)->instant);
    }
  }
}

bool RecordsSpan::is_before(const LedgerRun& run) const {
  if (!run.end) return false;
  if (asked_.since) return *run.end <= *asked_.since;
  return !asked_.until && (!earliest_end_ || *run.end < *earliest_end_);
}

bool RecordsSpan::is_after(const LedgerRun& run) const {
  if (!asked_.until) return run.begin >= latest_;
  // jobcomp/filetxt records no run before it ends.
  const bool unwritten =
      format_ == sacct::RecordFormat::jobcomp && run.end && *run.end > std::max(*asked_.until, latest_);
  return run.begin >= *asked_.until || unwritten;
}

bool RecordsSpan::asks_for(Instant begin, Instant end) const {
  return end > asked_.since.value_or(k_beginning_of_time) && begin < asked_.until.value_or(k_end_of_time);
}

bool RecordsSpan::made_after(Instant t) const {
  return std::max(latest_, asked_.until.value_or(latest_)) > t + k_on_the_way;
}

bool RecordsSpan::must_have_open(Instant begin) const {
  return format_ == sacct::RecordFormat::sacct && asked_.until && begin < *asked_.until - k_on_the_way;
}

}  // namespace shapley::ledger
