#include "ledger/audit/ledger_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"

namespace shapley::ledger {

using accounting::CloseReason;

namespace {

void drop_empty_pieces(std::vector<LedgerPiece>& pieces) {
  const LedgerPiece last = pieces.back();
  std::erase_if(pieces, [](const LedgerPiece& piece) { return piece.end == piece.begin; });
  if (pieces.empty()) pieces.push_back(last);
}

}  // namespace

std::string run_name(JobId job, Instant begin) {
  return fmt::format("job {}, run from {}", job.value, format_instant(begin));
}

LedgerRuns::LedgerRuns(const Facts& facts, std::vector<Finding>& findings) : findings_(findings) {
  std::vector<Part> parts;  // of one run
  for (const auto& [key, segment] : facts.segments) {
    if (key.kind != accounting::SegmentKind::run || !segment.counts()) continue;
    if (!parts.empty() && (parts.front().key->job != key.job || parts.front().key->anchor != key.anchor)) {
      add(std::exchange(parts, {}));
    }
    parts.push_back({&key, &segment});
  }
  if (!parts.empty()) add(std::move(parts));
  for (LedgerRun& run : runs_) drop_empty_pieces(run.pieces);
}

std::vector<LedgerRun*> LedgerRuns::of(JobId job) {
  auto range = std::equal_range(runs_.begin(), runs_.end(),
                                LedgerRun{.job = job, .begin = {}, .end = {}, .pieces = {}, .held = {}},
                                [](const LedgerRun& a, const LedgerRun& b) { return a.job < b.job; });
  std::vector<LedgerRun*> result;
  for (auto run = range.first; run != range.second; ++run) result.push_back(&*run);
  return result;
}

void LedgerRuns::add(std::vector<Part> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return *a.segment->begin < *b.segment->begin; });
  begin(*parts.front().key, *parts.front().segment);
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) extend(*part->segment);
}

void LedgerRuns::begin(const accounting::SegmentKey& key, const SegmentFacts& segment) {
  // A run suspended in the second in which it began holds nothing before it is resumed: its first segment begins there.
  runs_.push_back({.job = key.job,
                   .begin = key.anchor,
                   .end = {},
                   .pieces = {},
                   .held = {},
                   .was_suspended = key.anchor < *segment.begin});
  add_piece(segment);
}

void LedgerRuns::extend(const SegmentFacts& segment) {
  LedgerRun& run = runs_.back();
  if (!run.end) return complain("goes on after a segment that is still open");
  if (*run.end != *segment.begin && last_reason_ != CloseReason::suspended) {
    complain(fmt::format("has a gap from {} to {} that no suspension explains", format_instant(*run.end),
                         format_instant(*segment.begin)));
  }
  if (last_reason_ == CloseReason::resized) return add_piece(segment);
  LedgerPiece& piece = run.pieces.back();
  if (piece.processors != segment.processors) {
    complain(fmt::format("changes its processors at {} without a resize", format_instant(*segment.begin)));
    return add_piece(segment);
  }
  piece.end = segment.end;
  account(segment);
}

void LedgerRuns::add_piece(const SegmentFacts& segment) {
  runs_.back().pieces.push_back({*segment.begin, segment.end, segment.processors, segment.cpus, segment.is_billed});
  account(segment);
}

void LedgerRuns::account(const SegmentFacts& segment) {
  LedgerRun& run = runs_.back();
  run.end = segment.end;
  if (segment.end) run.held += *segment.end - *segment.begin;
  last_reason_ = segment.end ? segment.reason : CloseReason::ended;
  run.ended_suspended = last_reason_ == CloseReason::suspended;
  run.end_unseen = last_reason_ == CloseReason::vanished;
  run.ended_itself = segment.end && last_reason_ == CloseReason::ended;
  run.was_suspended = run.was_suspended || run.ended_suspended;
}

void LedgerRuns::complain(const std::string& what) {
  findings_.push_back(
      {"records", fmt::format("{}: in the ledger it {}", run_name(runs_.back().job, runs_.back().begin), what)});
}

namespace {

constexpr std::int64_t k_quarter = 900;
constexpr std::int64_t k_widest = 26 * 3600;  // the largest difference between two time zones

using Runs = std::vector<LedgerRun*>;

Duration difference(const sacct::RecordedTime& time, Instant ours) {
  return time.is(ours) ? Duration{} : time.instant - ours;
}

bool is_of_zones(Duration d) {
  return d.value != 0 && d.value % k_quarter == 0 && std::abs(d.value) <= k_widest;
}

std::string seconds_text(Duration d) {
  return fmt::format("{} s {}", std::abs(d.value), d.value > 0 ? "later" : "earlier");
}

class TimeZones {
 public:
  void count(const sacct::SlurmRecord& record, const Runs& runs) {
    if (!record.start || !record.end || record.state == "RESIZING") return;
    std::optional<Duration> found;
    for (const LedgerRun* run : runs) {
      if (!run->end) continue;
      const Duration at_start = difference(*record.start, run->begin);
      if (at_start != difference(*record.end, *run->end)) continue;
      if (at_start.value == 0) {
        ++agreeing_;
        return;
      }
      if (!found && is_of_zones(at_start)) found = at_start;
    }
    if (found) ++counts_[*found];
  }

  // The one or two most frequent differences; empty: none explains more runs than agree without it.
  [[nodiscard]] std::vector<std::pair<Duration, std::int64_t>> common() const {
    std::vector<std::pair<Duration, std::int64_t>> common(counts_.begin(), counts_.end());
    std::stable_sort(common.begin(), common.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (common.size() > 2) common.resize(2);
    std::int64_t explained = 0;
    for (const auto& [d, runs] : common) explained += runs;
    return explained > agreeing_ ? common : std::vector<std::pair<Duration, std::int64_t>>{};
  }

 private:
  std::map<Duration, std::int64_t> counts_;
  std::int64_t agreeing_ = 0;
};

// Moves a time to the ledger's if one of the differences leads there, else by the most frequent one.
void move(std::optional<sacct::RecordedTime>& time, const std::vector<std::pair<Duration, std::int64_t>>& by,
          const std::vector<Instant>& ours) {
  if (!time) return;
  Duration chosen = by.front().first;
  for (const auto& [d, runs] : by) {
    if (std::find(ours.begin(), ours.end(), time->instant - d) != ours.end()) chosen = d;
  }
  time = sacct::RecordedTime{time->instant - chosen, {}};
}

// The edges at which sacct -T cut: the first start and the last end of all records.
struct Edges {
  Instant first = k_end_of_time;
  Instant last = k_beginning_of_time;
};

Edges edges_of(const sacct::SlurmRecords& records) {
  Edges edges;
  for (const sacct::SlurmRecord& record : records.records) {
    if (record.start) edges.first = std::min(edges.first, record.start->instant);
    if (record.end) edges.last = std::max(edges.last, record.end->instant);
  }
  return edges;
}

class Comparing {
 public:
  Comparing(const Facts& facts, const sacct::SlurmRecords& records) : records_(records), ledger_(facts, ignored_) {
    for (LedgerRun& run : ledger_.runs()) runs_[run.job].push_back(&run);
  }

  std::optional<CommonDifference> time_zones() {
    TimeZones zones;
    for (const sacct::SlurmRecord& record : records_.records) zones.count(record, runs_of(record));
    const auto common = zones.common();
    if (common.empty()) return std::nullopt;
    CommonDifference found{.what = "", .records = records_};
    for (sacct::SlurmRecord& record : found.records.records) {
      std::vector<Instant> begins, ends;
      for (const LedgerRun* run : runs_of(record)) {
        begins.push_back(run->begin);
        for (const LedgerPiece& piece : run->pieces) ends.push_back(piece.end.value_or(k_end_of_time));
      }
      move(record.start, common, begins);
      move(record.end, common, ends);
    }
    for (const auto& [d, runs] : common) {
      found.what += fmt::format("{}{} for {}{}", found.what.empty() ? "the records have times that are " : ", and ",
                                seconds_text(d), runs, runs == 1 ? " run" : " runs");
    }
    found.what += " than the ledger: they are of another time zone than this audit; run both with the same TZ";
    return found;
  }

  std::optional<CommonDifference> cut_times() {
    if (records_.format != sacct::RecordFormat::sacct) return std::nullopt;
    const Edges edges = edges_of(records_);
    CommonDifference found{.what = "", .records = records_};
    std::int64_t begins = 0, ends = 0;
    for (sacct::SlurmRecord& record : found.records.records) {
      for (const LedgerRun* run : runs_of(record)) {
        const bool reaches_in = run->begin < edges.last && (!run->end || *run->end > edges.first);
        if (!reaches_in) continue;
        const bool begins_cut = record.start && record.start->is(edges.first) && run->begin < edges.first;
        const bool ends_cut = record.end && record.end->is(edges.last) && (!run->end || *run->end > edges.last);
        if (begins_cut) {
          record.start = sacct::RecordedTime{run->begin, {}};
          ++begins;
        }
        if (ends_cut) {
          record.end = run->end ? std::optional(sacct::RecordedTime{*run->end, {}}) : std::nullopt;
          ++ends;
        }
        if (begins_cut || ends_cut) break;
      }
    }
    // A single run is cut only at edges that a user passed to sacct.
    const Instant only = begins > 0 ? edges.first : edges.last;
    if (begins + ends == 0 || (begins + ends == 1 && only.value % k_quarter != 0)) return std::nullopt;
    if (begins > 0) found.what = fmt::format("{} begin at {}", begins, format_instant(edges.first));
    if (ends > 0) {
      found.what += fmt::format("{}{} end at {}", begins > 0 ? " and " : "", ends, format_instant(edges.last));
    }
    found.what +=
        " in the records, where the ledger's go on beyond: sacct -T (--truncate) cut them; make the records without it";
    found.what.insert(0, "of the runs ");
    return found;
  }

 private:
  const Runs& runs_of(const sacct::SlurmRecord& record) {
    static const Runs k_none;
    const auto found = runs_.find(record.job);
    return found == runs_.end() ? k_none : found->second;
  }

  const sacct::SlurmRecords& records_;
  std::vector<Finding> ignored_;
  LedgerRuns ledger_;
  std::map<JobId, Runs> runs_;
};

}  // namespace

std::optional<CommonDifference> common_difference(const Facts& facts, const sacct::SlurmRecords& records) {
  Comparing comparing(facts, records);
  auto zones = comparing.time_zones();
  return zones ? std::move(zones) : comparing.cut_times();
}

}  // namespace shapley::ledger
