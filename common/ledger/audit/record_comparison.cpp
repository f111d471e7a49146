#include "ledger/audit/record_comparison.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ledger/audit/ledger_runs.hpp"

namespace shapley::ledger {

namespace {

class Comparison {
 public:
  Comparison(const Facts& facts, const LedgerSpan& span, const sacct::SlurmRecords& records, AuditReport& report,
             const ComparedInterval& asked, const RunsLeftOut& left_out)
      : facts_(facts),
        span_(span),
        records_(records),
        records_span_(records, asked),
        report_(report),
        ledger_(facts, report.findings),
        left_out_(left_out) {}

  void run() {
    for (const sacct::UnreadableLine& line : records_.unreadable)
      find(fmt::format("line {} of the records cannot be read: {}", line.line, line.why));
    std::vector<RecordedRun> runs = recorded_runs(records_);
    const auto without_number = std::ranges::find_if(runs, [](const RecordedRun& r) { return r.job >= k_no_number; });
    for (auto first = runs.begin(); first != without_number;) {
      const auto last = std::find_if(first, without_number, [&](const RecordedRun& r) { return r.job != first->job; });
      compare_job({first, last});
      first = last;
    }
    std::for_each(without_number, runs.end(), [&](const RecordedRun& recorded) { compare_without_number(recorded); });
    for (LedgerRun& run : ledger_.runs()) {
      if (!run.matched) report_unrecorded(run);
    }
    report_.records += static_cast<std::int64_t>(records_.records.size());
    write_notes();
  }

 private:
  void find(std::string what) { report_.findings.push_back({"records", std::move(what)}); }
  // `what`: which instant of which run.
  void find_instants(const std::string& what, Instant ours, const sacct::RecordedTime& theirs) {
    find(fmt::format("{} at {} in the ledger, at {} in the record", what, format_instant(ours),
                     format_instant(theirs.instant)));
  }

  // Whether the recorded run ended while no process read slurmctld's records, though slurmctld ran.
  [[nodiscard]] bool ended_unobserved(const RecordedRun& recorded) const {
    // Its end and the gap's are whole seconds of two programs.
    constexpr Duration k_rounding{1};
    const auto& end = recorded.end();
    return end && std::ranges::any_of(facts_.gaps, [&](const accounting::ObservationGap& gap) {
             return gap.begin - k_rounding <= end->instant && end->instant <= gap.end + k_rounding;
           });
  }

  // Whether the recorded run began under a wrong clock, so that slurmctld's record of it was not read.
  [[nodiscard]] bool began_under_wrong_clock(const RecordedRun& recorded) const {
    const auto& start = recorded.start();
    return start && std::ranges::any_of(facts_.gaps, [&](const accounting::ObservationGap& gap) {
             return gap.cause == accounting::GapCause::wrong_clock && gap.begin <= start->instant &&
                    start->instant <= gap.end;
           });
  }

  // Whether the run ends in the ledger where it was seen last before slurmctld lost its state.
  [[nodiscard]] bool was_lost(const LedgerRun& run) const {
    return run.end_unseen &&
           std::ranges::any_of(facts_.losses, [&](const accounting::StateLost& loss) { return loss.seen == *run.end; });
  }

  // Whether the ledger had a run that began then and retracted it.
  [[nodiscard]] bool was_retracted(JobId job, const sacct::RecordedTime& start) const {
    const auto is_so = [&](Instant anchor, const SegmentFacts& run) { return run.retracted && start.is(anchor); };
    return facts_.any_segment(accounting::SegmentKind::run, job, is_so);
  }

  // Whether it is of a run whose job had ended when `scontrol requeue` queued it again. slurmctld then records the end
  // again: as the instant of the requeue.
  static bool is_requeued_after_end(const LedgerRun& run, const RecordedRun& recorded) {
    return recorded.state == "REQUEUED" && run.ended_itself && recorded.end() && recorded.end()->instant > *run.end;
  }

  // Whether it is of a job that was cancelled while it waited, and queued again by `scontrol requeue`: slurmctld had
  // written the instant of the cancellation as the start of a run, and records that of the requeue as its end.
  [[nodiscard]] bool is_requeued_wait(const RecordedRun& recorded) const {
    const auto& start = recorded.start();
    if (recorded.state != "REQUEUED" || !start) return false;
    return facts_.any_segment(accounting::SegmentKind::wait, recorded.job, [&](Instant, const SegmentFacts& wait) {
      return wait.end && wait.reason == accounting::CloseReason::ended && start->is(*wait.end);
    });
  }

  // Whether slurmdbd has it as a running job. A difference is then no fault of the ledger: slurmctld was killed and
  // lost the job, or slurmdbd never received its end.
  static bool goes_on(const RecordedRun& recorded) {
    return !recorded.end() && (recorded.state == "RUNNING" || recorded.state == "SUSPENDED");
  }

  static bool starts_with(const RecordedRun& recorded, const LedgerRun& run) {
    if (recorded.start()) return recorded.start()->is(run.begin);
    // jobcomp/filetxt does not have the start of a resized run; the first resize must fit instead.
    const auto& first_end = recorded.pieces.front().end;
    return first_end && run.pieces.front().end && first_end->is(*run.pieces.front().end);
  }

  static bool fits(const RecordedRun& recorded, const LedgerRun& run) {
    return starts_with(recorded, run) && recorded.end() && run.end && recorded.end()->is(*run.end);
  }

  static bool overlaps(const RecordedRun& recorded, const LedgerRun& run) {
    const bool starts_before_its_end = !recorded.start() || !run.end || recorded.start()->instant < *run.end;
    const bool ends_after_its_start = !recorded.end() || recorded.end()->instant > run.begin;
    return starts_before_its_end && ends_after_its_start;
  }

  void compare_job(std::vector<RecordedRun> recorded) {
    const std::vector<LedgerRun*> candidates = ledger_.of(recorded.front().job);
    // The best fits first, so that a run that is off by a second cannot take another one's record.
    for (const auto& belongs : {fits, starts_with, overlaps}) {
      std::erase_if(recorded, [&](const RecordedRun& record) {
        const auto found = std::find_if(candidates.begin(), candidates.end(),
                                        [&](const LedgerRun* run) { return !run->matched && belongs(record, *run); });
        if (found == candidates.end()) return false;
        (*found)->matched = true;
        (*found)->fitted = fits(record, **found);
        compare(**found, record);
        return true;
      });
    }
    for (const RecordedRun& record : recorded) {
      // A killed slurmctld forgets ends that it has recorded, and records them again after its restart.
      const bool again = std::any_of(candidates.begin(), candidates.end(),
                                     [&](const LedgerRun* run) { return run->fitted && starts_with(record, *run); });
      again ? static_cast<void>(++recorded_again_) : report_unknown(record);
    }
  }

  // With a run of its start that has no record of its job's number.
  void compare_without_number(const RecordedRun& recorded) {
    const auto& cpus = recorded.pieces.front().cpus;
    const auto found = std::ranges::find_if(ledger_.runs(), [&](const LedgerRun& run) {
      const std::int64_t ours = run.pieces.front().cpus;
      return !run.matched && !run.is_empty() && starts_with(recorded, run) && (ours == 0 || !cpus || ours == *cpus);
    });
    if (found == ledger_.runs().end()) return report_unknown(recorded);
    found->matched = true;
    without_number_.push_back(recorded.line());
    compare(*found, recorded);
  }

  void compare(const LedgerRun& run, const RecordedRun& recorded) {
    const auto end = recorded.end() ? recorded.end()->instant : k_end_of_time;
    const auto begin = recorded.start() ? recorded.start()->instant : run.begin;
    // What one side has in the interval, however the other has it.
    if (!records_span_.asks_for(run.begin, run.end.value_or(k_end_of_time)) && !records_span_.asks_for(begin, end)) {
      ++outside_;
      return;
    }
    ++report_.runs_compared;
    const std::string name =
        fmt::format("{} (line {}, {})", run_name(run.job, run.begin), recorded.line(), recorded.state);
    if (recorded.start() && !recorded.start()->is(run.begin))
      find_instants(name + ": begins", run.begin, *recorded.start());
    if (recorded.end() && run.end && !recorded.end()->is(*run.end) && ended_unobserved(recorded)) {
      ++ended_unobserved_;
      return;
    }
    if (recorded.end() && was_lost(run) && !recorded.end()->is(*run.end)) {
      ++lost_ends_;
      return;
    }
    if (is_requeued_after_end(run, recorded)) {
      ++requeued_after_end_;
      compare_pieces(run, recorded, name);
      return;
    }
    compare_ends(run, recorded, name);
    compare_pieces(run, recorded, name);
    compare_held(run, recorded, name);
  }

  void compare_ends(const LedgerRun& run, const RecordedRun& recorded, const std::string& name) {
    const auto& end = recorded.end();
    if (!end && recorded.has_ended) {
      if (run.end) return end_unknown_.push_back(recorded.line());
      find(name + ": is still open in the ledger; the record says that it has ended, and not when");
    } else if (!end && run.end && goes_on(recorded) && records_span_.made_after(*run.end)) {
      runaway_.push_back(run.job.value);
    } else if (!end) {
      if (run.end) ++unfinished_records_;
    } else if (!run.end && end->instant > span_.last_received - k_on_the_way) {
      ++ended_since_;
    } else if (!run.end) {
      find(fmt::format("{}: is still open in the ledger, ended at {} in the record", name,
                       format_instant(end->instant)));
    } else if (run.ended_suspended ? *run.end > std::max(end->instant, end->twin.value_or(end->instant))
                                   : !end->is(*run.end)) {
      find_instants(name + ": ends", *run.end, *end);
    }
  }

  // Without those that held for no second, because the run was resized in the second in which it began: the ledger's
  // have none. The first one of jobcomp has no begin.
  static std::vector<RecordedPiece> pieces_that_held(const LedgerRun& run, const RecordedRun& recorded) {
    std::vector<RecordedPiece> pieces;
    for (const RecordedPiece& piece : recorded.pieces) {
      const bool has_held = !piece.end || (piece.begin ? piece.begin != piece.end : !piece.end->is(run.begin));
      if (has_held || &piece == &recorded.pieces.back()) pieces.push_back(piece);
    }
    return pieces;
  }

  // From the last piece backwards: sacct without -D shows no other.
  void compare_pieces(const LedgerRun& run, const RecordedRun& recorded, const std::string& name) {
    const std::vector<RecordedPiece> pieces = pieces_that_held(run, recorded);
    const std::size_t common = std::min(run.pieces.size(), pieces.size());
    if (run.pieces.size() != pieces.size()) {
      if (!run.end || !recorded.end()) {
        ++resized_since_;
        return;
      }
      if (records_.format == sacct::RecordFormat::sacct && pieces.size() == 1) {
        ++hidden_sizes_;
      } else {
        find(fmt::format("{}: sizes: {} in the ledger, {} in the record", name, run.pieces.size(), pieces.size()));
      }
    }
    for (std::size_t back = 1; back <= common; ++back) {
      const LedgerPiece& ours = run.pieces[run.pieces.size() - back];
      const RecordedPiece& theirs = pieces[pieces.size() - back];
      compare_processors(run, ours, theirs, name);
      compare_billing(ours, theirs, name);
      const bool inner = back < pieces.size() && back < run.pieces.size();
      if (inner && theirs.begin && !theirs.begin->is(ours.begin))
        find_instants(name + ": is resized", ours.begin, *theirs.begin);
    }
  }

  void compare_processors(const LedgerRun& run, const LedgerPiece& ours, const RecordedPiece& theirs,
                          const std::string& name) {
    if (!theirs.cpus) return;
    // Cancelled in the second in which it began and was requeued: Slurm's record is that of a job which waited.
    if (*theirs.cpus == 0 && run.end == run.begin) return;
    if (ours.cpus > 0) {
      if (ours.cpus == *theirs.cpus) return;
      return find(fmt::format("{}: has {} CPUs in the ledger, {} in the record", name, ours.cpus, *theirs.cpus));
    }
    const auto after = facts_.configurations.upper_bound(run.begin);
    if (after != facts_.configurations.begin() && !counts_cpus_only(std::prev(after)->second)) {
      ++weighted_;
      return;
    }
    if (ours.processors.value == *theirs.cpus * k_micro) return;
    std::ostringstream amount;  // whole numbers nearly always
    amount << static_cast<double>(ours.processors.value) / static_cast<double>(k_micro);
    find(fmt::format("{}: holds {} processors in the ledger, {} CPUs in the record", name, amount.str(), *theirs.cpus));
  }

  // A charge is bounded, and is not nothing where Slurm bills nothing (docs/reference/configuration.md, `charge`).
  void compare_billing(const LedgerPiece& ours, const RecordedPiece& theirs, const std::string& name) {
    constexpr std::int64_t k_most = 1'000'000;
    if (!ours.is_billed || !theirs.cpus) return;
    if (!theirs.billing) {
      ++unbilled_;
      return;
    }
    const std::int64_t charged = ours.processors.value / k_micro;
    if (charged == std::min(*theirs.billing, k_most)) return;
    find(fmt::format("{}: is charged {} by Slurm's billing in the ledger, and the record has billing={}", name, charged,
                     *theirs.billing));
  }

  void compare_held(const LedgerRun& run, const RecordedRun& recorded, const std::string& name) {
    if (!recorded.suspended) {
      if (run.was_suspended) ++suspended_unknown_;
      return;
    }
    if (!recorded.start() || !recorded.end() || !run.end) return;
    // An hour that clocks show twice is read as the ledger has it; what is wrong then shows at start and end.
    const auto read = [](const sacct::RecordedTime& time, Instant ours) { return time.is(ours) ? ours : time.instant; };
    const Duration held = read(*recorded.end(), *run.end) - read(*recorded.start(), run.begin) - *recorded.suspended;
    if (held == run.held) return;
    find(fmt::format(
        "{}: holds its processors for {} s in the ledger, {} s in the record (of which {} s suspended are left out)",
        name, run.held.value, held.value, recorded.suspended->value));
  }

  void report_unknown(const RecordedRun& recorded) {
    const auto& end = recorded.end();
    const auto& start = recorded.start();
    if (start && end && start->is(end->instant)) {
      ++left_out_.empty;
    } else if (end && end->instant <= span_.first_received) {
      ++before_ledger_;
    } else if (!records_span_.asks_for(start ? start->instant : k_beginning_of_time,
                                       end ? end->instant : k_end_of_time)) {
      ++outside_;
    } else if (start && start->instant > span_.last_received - k_on_the_way) {
      ++after_ledger_;
    } else if (goes_on(recorded)) {
      runaway_.push_back(recorded.job.value);
    } else if (is_requeued_wait(recorded)) {
      ++requeued_waits_;
    } else if (ended_unobserved(recorded)) {
      ++missed_;
    } else if (began_under_wrong_clock(recorded)) {
      ++begun_under_wrong_clock_;
    } else if (!end && recorded.has_ended) {
      end_unknown_.push_back(recorded.line());
    } else {
      std::string what = fmt::format("job {} (line {}, {}): the record has a run", recorded.job.value, recorded.line(),
                                     recorded.state);
      if (start) what += " from " + format_instant(start->instant);
      if (end) what += " to " + format_instant(end->instant);
      what += " that the ledger does not have";
      if (start && was_retracted(recorded.job, *start)) {
        what += ": it was retracted, because slurmctld forgot it; shapleyctl import --into takes it";
      }
      find(std::move(what));
    }
  }

  void report_unrecorded(const LedgerRun& run) {
    if (run.is_empty()) {
      ++left_out_.empty;
    } else if (std::ranges::find(records_.impossible, run.job, &sacct::ImpossibleRecord::job) !=
               records_.impossible.end()) {
      ++impossible_;
    } else if (run.end && records_span_.is_before(run)) {
      ++left_out_.before_records;
    } else if (records_span_.is_after(run)) {
      ++left_out_.after_records;
    } else if (!run.end && !records_span_.must_have_open(run.begin)) {
      ++open_;
    } else if (was_lost(run)) {
      ++lost_;
    } else {
      std::string what =
          fmt::format("{}{}: the ledger has a run that the records do not have", run_name(run.job, run.begin),
                      run.end ? " to " + format_instant(*run.end) : ", still open");
      if (records_.format == sacct::RecordFormat::sacct) what += " (sacct without -D hides runs that were requeued)";
      find(std::move(what));
    }
  }

  void note(std::int64_t count, const std::string& what) {
    if (count > 0) report_.notes.push_back(counted_as(count, what));
  }

  // `what` before the list "3, 5 and 17", of many "3, 5, ... and others", and `after` behind it.
  void note(const std::vector<std::int64_t>& numbers, const std::string& what, const std::string& after) {
    constexpr std::size_t k_most_named = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), k_most_named); ++i)
      text += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(numbers[i]);
    if (numbers.size() > k_most_named) text += " and others";
    note(static_cast<std::int64_t>(numbers.size()), what + text + after);
  }

  void write_notes() {
    for (const sacct::ImpossibleRecord& record : records_.impossible) {
      report_.notes.push_back(fmt::format("line {}, job {}: the record cannot be right, {}: left out", record.line,
                                          record.job.value, record.why));
    }
    note(impossible_, "run[|s] of the ledger [is of such a job|are of such jobs]: not compared");
    note(end_unknown_,
         "record[ says|s say] that a run has ended, and not when: its end is not compared, or it is in no ledger and "
         "left out (line[|s] ",
         ")");
    note(runaway_,
         "recorded run[ has|s have] no end, and by the ledger, which goes on, slurmctld knows nothing of [it|them]: "
         "runaway job[|s] of slurmdbd (sacctmgr show runawayjobs lists and ends them), not compared: job[|s] ",
         "");
    note(without_number_,
         "run[ is|s are] recorded without the number of [its|their] job, and compared by [its start|their starts] "
         "(line[|s] ",
         "): slurmctld took the record of a federated job away before slurmdbd had all of it");
    note(records_.steps, "row[|s] of job steps left out");
    if (records_.records.empty()) report_.notes.emplace_back("the records have no row of a job");
    note(std::ranges::count_if(records_.records, is_unstarted), "row[|s] of jobs that had not started left out");
    note(records_.pending_arrays, "row[|s] of array tasks that have not started left out");
    note(before_ledger_, "recorded run[|s] ended before the ledger began: left out");
    note(left_out_.before_records, "run[|s] of the ledger ended before the records begin: left out");
    note(left_out_.after_records, "run[|s] of the ledger began after the records were made: left out");
    note(
        after_ledger_,
        fmt::format(
            "recorded run[|s] began after the ledger's last event was received, at {}, or within {} s before: left out",
            format_instant(span_.last_received), k_on_the_way.value));
    note(ended_since_, fmt::format("run[|s] ended after the ledger's last event was received, at {}, or within {} s "
                                   "before: [its end is|their ends are] not compared",
                                   format_instant(span_.last_received), k_on_the_way.value));
    note(outside_,
         "run[|s] that both sides or the records alone have [lies|lie] outside of the interval: not compared");
    note(open_, "run[|s] [is|are] open in the ledger and [has|have] no record yet: left out");
    note(unfinished_records_,
         "run[|s] had not ended when the records were made: [its end is|their ends are] not compared");
    note(left_out_.empty, "run[|s] of zero seconds that only one side has: left out, [it holds|they hold] nothing");
    note(recorded_again_,
         "record[ names|s name] a run again that another record has with the ledger's very start and end: left out "
         "(slurmctld was killed before it saved its state, and recorded an end twice)");
    note(missed_,
         "recorded run[ is|s are] not in the ledger and ended in a gap of observation that it has on record (slurmctld "
         "ran without the plugin, or under a wrong clock, or the ledger lost it): not in the books");
    note(begun_under_wrong_clock_,
         "recorded run[ is|s are] not in the ledger and began in a gap of observation that it has on record (a wrong "
         "clock); shapleyctl import --into takes [it|them]");
    note(ended_unobserved_,
         "run[|s] ended in a gap of observation that the ledger has on record, and there at another second than in the "
         "record");
    note(
        requeued_after_end_,
        "run[|s] had ended when the job was queued again (scontrol requeue): Slurm's record ends with the requeue, and "
        "its end is not compared");
    note(requeued_waits_,
         "record[ is|s are] of a job that was cancelled while it waited and then queued again (scontrol requeue): no "
         "run between these two instants");
    note(lost_ends_,
         "run[ was|s were] going on when slurmctld lost its state: in the ledger [it ends when it was|they end when "
         "they were] seen last, and in the record otherwise (shapleyctl import --into takes these ends)");
    note(lost_,
         "run[ was|s were] going on when slurmctld lost its state: in the ledger [it ends when it was|they end when "
         "they were] seen last, and [it is|they are] not recorded");
    note(suspended_unknown_,
         "run[ was|s were] suspended and the records do not say for how long: compared by start and end only");
    note(resized_since_, "run[ was|s were] resized and had not ended on one side: [its|their] sizes are not compared");
    note(hidden_sizes_,
         "run[ was|s were] resized and the records show [its|their] last size only (sacct -D shows all)");
    note(unbilled_, "size[|s] charged by Slurm's billing and not compared with it: the records lack AllocTRES");
    note(weighted_, "size[|s] not compared: the configuration weighs processors, records count CPUs");
  }

  const Facts& facts_;
  const LedgerSpan& span_;
  const sacct::SlurmRecords& records_;
  RecordsSpan records_span_;
  AuditReport& report_;
  LedgerRuns ledger_;
  RunsLeftOut left_out_;
  std::vector<std::int64_t> runaway_;  // jobs
  std::int64_t after_ledger_ = 0, ended_since_ = 0, outside_ = 0, resized_since_ = 0;
  std::int64_t before_ledger_ = 0, open_ = 0, unfinished_records_ = 0, suspended_unknown_ = 0, hidden_sizes_ = 0,
               weighted_ = 0, recorded_again_ = 0, missed_ = 0, begun_under_wrong_clock_ = 0, ended_unobserved_ = 0,
               impossible_ = 0, lost_ends_ = 0, lost_ = 0, unbilled_ = 0, requeued_after_end_ = 0, requeued_waits_ = 0;
  std::vector<std::int64_t> end_unknown_, without_number_;  // lines
};

}  // namespace

RunSelection::RunSelection(const sacct::SlurmRecords& records, const ComparedInterval& asked) : span_(records, asked) {
  for (const sacct::SlurmRecord& record : records.records) {
    recorded_.insert(record.job);
    if (record.state == "REQUEUED") requeued_.insert(record.job);
  }
}

bool RunSelection::wants(JobId job, const Facts& of_job) {
  if (recorded_.contains(job)) return true;
  std::vector<Finding> findings;
  LedgerRuns ledger(of_job, findings);
  if (!findings.empty()) return true;
  RunsLeftOut left_out = left_out_;
  for (const LedgerRun& run : ledger.runs()) {
    const bool before = span_.is_before(run);
    if (!run.is_empty() && !before && !span_.is_after(run)) return true;
    ++(run.is_empty() ? left_out.empty : before ? left_out.before_records : left_out.after_records);
  }
  left_out_ = left_out;
  return false;
}

void compare_with_records(const Facts& facts, const LedgerSpan& span, const sacct::SlurmRecords& records,
                          AuditReport& report, const ComparedInterval& asked, const RunsLeftOut& left_out) {
  const AuditReport before = report;
  Comparison(facts, span, records, report, asked, left_out).run();
  const bool compared = report.runs_compared > before.runs_compared;
  if (compared && report.findings.size() == before.findings.size()) return;
  const auto common = common_difference(facts, records);
  if (!common) return;
  report = before;
  report.findings.push_back({"records", common->what});
  Comparison(facts, span, common->records, report, asked, left_out).run();
}

bool counts_cpus_only(const std::string& configuration) {
  std::istringstream lines(configuration);
  std::string weights;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \r") + 1);
    if (line.starts_with("weights:")) {
      inside = true;
      line.erase(0, std::string_view("weights:").size());
    } else if (!line.empty() && line.front() != ' ') {
      inside = false;
    }
    if (inside) weights += line + '\n';
  }
  std::erase_if(weights, [](char c) { return c == '{' || c == '}' || c == ' ' || c == '\n' || c == '"' || c == '\''; });
  return weights.empty() || weights == "cpu:1";
}

}  // namespace shapley::ledger
