#include "ledger/audit/records_span.hpp"

#include <algorithm>
#include <vector>

namespace shapley::ledger {

namespace {

std::optional<Instant> earliest_end_of(const std::vector<RecordedRun>& runs) {
  std::optional<Instant> earliest;
  for (const RecordedRun& run : runs) {
    if (run.end()) earliest = std::min(earliest.value_or(k_end_of_time), run.end()->instant);
  }
  return earliest;
}

}  // namespace

RecordsSpan::RecordsSpan(const SlurmRecords& records, const ComparedInterval& asked)
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
  // jobcomp/filetxt has no run before it ends.
  const bool unwritten = format_ == RecordFormat::jobcomp && run.end && *run.end > std::max(*asked_.until, latest_);
  return run.begin >= *asked_.until || unwritten;
}

bool RecordsSpan::asks_for(Instant begin, Instant end) const {
  return end > asked_.since.value_or(k_beginning_of_time) && begin < asked_.until.value_or(k_end_of_time);
}

bool RecordsSpan::made_after(Instant t) const {
  return std::max(latest_, asked_.until.value_or(latest_)) > t + k_on_the_way;
}

bool RecordsSpan::must_have_open(Instant begin) const {
  return format_ == RecordFormat::sacct && asked_.until && begin < *asked_.until - k_on_the_way;
}

}  // namespace shapley::ledger
