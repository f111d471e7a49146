#include "ledger/audit/ledger_runs.hpp"

#include <algorithm>
#include <utility>

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
  return "job " + std::to_string(job.value) + ", run from " + format_instant(begin);
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
  // A run suspended in the very second it began holds nothing before it is resumed: its first segment begins there.
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
    complain("has a gap from " + format_instant(*run.end) + " to " + format_instant(*segment.begin) +
             " that no suspension explains");
  }
  if (last_reason_ == CloseReason::resized) return add_piece(segment);
  LedgerPiece& piece = run.pieces.back();
  if (piece.processors != segment.processors) {
    complain("changes its processors at " + format_instant(*segment.begin) + " without a resize");
    return add_piece(segment);
  }
  piece.end = segment.end;
  account(segment);
}

void LedgerRuns::add_piece(const SegmentFacts& segment) {
  runs_.back().pieces.push_back({*segment.begin, segment.end, segment.processors, segment.cpus});
  account(segment);
}

void LedgerRuns::account(const SegmentFacts& segment) {
  LedgerRun& run = runs_.back();
  run.end = segment.end;
  if (segment.end) run.held += *segment.end - *segment.begin;
  last_reason_ = segment.end ? segment.reason : CloseReason::ended;
  run.ended_suspended = last_reason_ == CloseReason::suspended;
  run.end_unseen = last_reason_ == CloseReason::vanished;
  run.was_suspended = run.was_suspended || run.ended_suspended;
}

void LedgerRuns::complain(const std::string& what) {
  findings_.push_back({"records", run_name(runs_.back().job, runs_.back().begin) + ": in the ledger it " + what});
}

}  // namespace shapley::ledger
