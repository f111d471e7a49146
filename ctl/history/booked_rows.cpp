#include "ctl/history/booked_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "history/row_checks.hpp"
#include "history/runs.hpp"
#include "ledger/readers/booked_runs.hpp"

namespace shapley::ctl {

namespace {

using history::BadRow;
using history::Run;
using ledger::BookedRun;

std::string name_of(const Run& run) {
  return "job " + std::to_string(run.first().job) + ", run from " + format_instant(run.start());
}

std::optional<BadRow> difference(const Run& run, const BookedRun& booked) {
  if (!booked.end_seen || !run.end()) return std::nullopt;
  if (*run.end() != *booked.end) {
    return BadRow{run.last().line,
                  "End: " + name_of(run) + ": the ledger has its end at " + format_instant(*booked.end)};
  }
  std::uint64_t cpus = 0;
  for (const history::SacctRow* row : run.rows) cpus = std::max<std::uint64_t>(cpus, row->cpus);
  if (booked.cpus == 0 || cpus == booked.cpus) return std::nullopt;
  return BadRow{run.first().line,
                "AllocCPUS: " + name_of(run) + ": the ledger has " + std::to_string(booked.cpus) + " CPUs of it"};
}

// The run of the ledger that was there at the same time.
const BookedRun* beside(const Run& run, const std::vector<BookedRun>& booked, const std::set<Instant>& recorded) {
  const Instant end = run.end().value_or(k_end_of_time);
  const auto found = std::ranges::find_if(booked, [&](const BookedRun& other) {
    return other.end && !recorded.contains(other.start) && run.start() < *other.end && other.start < end;
  });
  return found == booked.end() ? nullptr : &*found;
}

}  // namespace

Expected<std::vector<BadRow>> check_booked(const ledger::Ledger& ledger, history::SacctRows& sacct,
                                           history::Malformed choice) {
  std::vector<BadRow> differing;
  history::Faults faults;
  const std::vector<Run> runs = history::runs_of(sacct.rows);
  for (auto first = runs.begin(); first != runs.end();) {
    const std::uint32_t job = first->first().job;
    const auto last = std::find_if(first, runs.end(), [&](const Run& run) { return run.first().job != job; });
    std::set<Instant> recorded;
    std::for_each(first, last, [&](const Run& run) { recorded.insert(run.start()); });
    SHAPLEY_TRY_ASSIGN(const std::vector<BookedRun> booked, ledger::booked_runs(ledger, JobId{job}));
    for (; first != last; ++first) {
      const auto same = std::ranges::find(booked, first->start(), &BookedRun::start);
      if (same != booked.end()) {
        if (auto differs = difference(*first, *same)) differing.push_back(*std::move(differs));
      } else if (const BookedRun* other = beside(*first, booked, recorded)) {
        const std::string why =
            "Start: in the ledger job " + std::to_string(job) + " runs from " + format_instant(other->start) + " to " +
            format_instant(*other->end) +
            ", at the same time; is the export of another cluster? Correct the row, or leave it out";
        for (const history::SacctRow* row : first->rows) faults.emplace(row->line, why);
      }
    }
  }
  SHAPLEY_TRY(history::leave_out(sacct, faults, choice));
  std::ranges::sort(differing, {}, &BadRow::line);
  return differing;
}

}  // namespace shapley::ctl
