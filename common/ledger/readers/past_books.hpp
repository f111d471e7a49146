// The books of past instants, one after the other, as they are known today.
//
// At each instant the events that concern it or earlier times count, whenever they were recorded; a run that was
// retracted later does not count. So the past reads the same whenever it is asked for. The events of the ledger, and of
// as many archives as are needed, are read from the begin of the oldest of these files on. The books remember what is
// open, and what ran since the last instant that was asked.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/types.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/file/database.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Adjustments in the form of a statement: with what each of them changed, taken from the facts that follow it.
struct PastAdjustment {
  accounting::AdjustmentMade made;
  // It changed amounts of [from, to) only. There is no end if a run that it moved was still open when it was made; a
  // renaming or merger of rows holds for all times.
  Instant from = k_beginning_of_time;
  Instant to = k_end_of_time;
  // The work of the runs that it moved: charged processors times seconds, up to when it was made. nullopt: it moved
  // none.
  std::optional<CpuTime> work = {};
  std::optional<accounting::WorkSettled> settled = {};  // the amount that it settled, or took back

  // Whether a statement of [since, until) lists it: it was made then, or later and changed the statement's amounts.
  [[nodiscard]] bool concerns(Instant since, Instant until) const;
  [[nodiscard]] bool made_after(Instant until) const { return made.at >= until; }
};

// REQUIRES: note() receives every event of the ledger from some event on, in the order of recording.
class AdjustmentReader {
 public:
  void note(const accounting::Event& event);
  [[nodiscard]] std::vector<PastAdjustment> take() && { return std::move(all_); }

 private:
  struct OpenRun {
    Instant begin;
    ProcessorMillionths processors;
  };
  void note_fact(const accounting::Event& fact);
  void reach(Instant from, Instant to);
  void end_facts();

  std::vector<PastAdjustment> all_;
  std::int64_t facts_left_ = 0;  // facts of the last adjustment that are still to come
  std::optional<std::pair<Instant, Instant>> reached_;
  std::map<accounting::SegmentKey, OpenRun> open_;  // restated runs without an end so far
};

// The submitters of jobs, looked up in the files on request, because there may be more jobs than memory holds.

// The account and user of a job.
struct Submitter {
  std::uint32_t account = 0;  // index in Submitters::accounts()
  std::uint32_t user_id = 0;
};

class Submitters {
 public:
  // REQUIRES: the files outlive it and stay where they are.
  [[nodiscard]] static Expected<Submitters> open(const std::vector<const Ledger*>& files);

  // The submitter by the last submission of the job before `start` that is described; else account "" and user 0.
  [[nodiscard]] Expected<Submitter> of(JobId job, Instant start);
  [[nodiscard]] const NameIndex& accounts() const { return accounts_; }
  // The partition by that submission as it was seen last; empty: not known.
  [[nodiscard]] Expected<std::string> partition_of(JobId job, Instant start);
  // Drops the submitters looked up so far, which will hardly be asked for again.
  void forget() { known_.clear(); }

 private:
  Submitters() { (void)accounts_.number_of(""); }

  std::vector<Statement> lookups_;               // by file
  std::vector<Statement> lookups_of_partition_;  // likewise
  NameIndex accounts_;                           // the first is ""
  std::map<std::pair<JobId, Instant>, Submitter> known_;
};

// Common to readers of the past: the ledger and those of its archives that a past instant needs.

// The time of the ledger's last recording. Errc::not_found: it is empty.
[[nodiscard]] Expected<Instant> last_recorded(const Ledger& ledger);
// The same, but of an import that nothing was recorded after: the end of its latest run or, if that is later, of what
// was recorded before it. The books know nothing of the time from then to the import.
[[nodiscard]] Expected<Instant> last_known(const Ledger& ledger);

// The file whose books begin at an instant or before it, and the files after that, the ledger itself last.
class PastFiles {
 public:
  // Opens the files for the time from `since` to `until`; `ledger` must outlive it. Errc::not_found names an archive
  // that is needed and not in `archives`; Errc::corrupt one that is another file (open_archive).
  // Errc::invalid_argument: such an archive is missing, and the books begin after `until` (before_the_books).
  [[nodiscard]] static Expected<PastFiles> open(const Ledger& ledger, const std::filesystem::path& archives,
                                                Instant since, Instant until);
  [[nodiscard]] const std::vector<const Ledger*>& files() const { return files_; }

 private:
  std::deque<OpenedFile> archives_;  // the newest first; a deque moves without moving them
  std::vector<const Ledger*> files_;
};

// The begin of the books: that of the opening books, or `first`, the first time by which a later event begins books
// (accounting::begin_by). Errc::invalid_argument: it is after `asked`.
[[nodiscard]] Expected<Instant> begin_of_books(const accounting::State& opening, Instant first, Instant asked);
// The error for that.
[[nodiscard]] tl::unexpected<Error> before_the_books(Instant asked, Instant begin);

// The events of the past, and what has to be known of them before the first one is applied.
//
// At each instant those events count that concern it or earlier times, whenever they were recorded, but none of a
// segment that was retracted at any time. Adjustments are applied before all others, because the past is shown in
// today's names.
class PastEvents {
 public:
  // REQUIRES: the files follow each other (PastFiles), outlive it and are not moved. They are read as they are now.
  [[nodiscard]] static Expected<PastEvents> open(const std::vector<const Ledger*>& files);

  // The first time by which an event of the files begins books (accounting::begin_by), however late it was recorded;
  // k_end_of_time if there is no such event.
  [[nodiscard]] Instant begin() const { return begin_; }
  // All segments that the files retract, at any time.
  [[nodiscard]] const std::set<accounting::SegmentKey>& retracted() const { return *retracted_; }
  // All adjustments in the files, by number.
  [[nodiscard]] const std::vector<PastAdjustment>& adjustments() const { return adjustments_; }
  // All names of users in the files, in the order of recording.
  [[nodiscard]] const std::vector<accounting::UserNamed>& users() const { return users_; }

  // Books that go from `opening`, the books that the first file begins with, to `until` at most. Segments that
  // `opening` has and the files retract are retracted as of `since`. REQUIRES: this outlives the fold.
  [[nodiscard]] Expected<Fold> fold(Recovered opening, Instant since, Instant until, const ReplayPace& pace) const;

 private:
  [[nodiscard]] Expected<void> add(const Ledger& ledger);
  [[nodiscard]] Expected<void> note_begin(const EventRange& file);
  [[nodiscard]] Expected<void> note_retractions(const EventRange& file);
  [[nodiscard]] Expected<void> note_adjustments(const EventRange& file);
  [[nodiscard]] Expected<void> note_users(const EventRange& file);

  std::vector<Transaction> snapshots_;
  std::vector<EventRange> files_;  // the oldest first, each with its own events
  Instant begin_ = k_end_of_time;
  std::shared_ptr<std::set<accounting::SegmentKey>> retracted_ = std::make_shared<std::set<accounting::SegmentKey>>();
  AdjustmentReader noting_;
  std::int64_t last_fact_ = 0;  // number of the last fact of the last adjustment so far
  std::vector<PastAdjustment> adjustments_;
  std::vector<accounting::UserNamed> users_;
};

class PastBooks {
 public:
  // The instants that will be asked for: [since, until].
  struct Asked {
    std::filesystem::path ledger;         // the path of the open file
    std::filesystem::path archives = {};  // where its archives are; empty: near it
    Instant since;
    Instant until;
    accounting::EstimatorSet by = accounting::EstimatorSet::all();  // estimators whose credits are wanted
    ReplayPace pace = {};
  };
  // Errc::not_found names an archive that is needed and missing; Errc::invalid_argument names the begin of the books if
  // it is after `until`. REQUIRES: the ledger outlives the books and is not moved.
  [[nodiscard]] static Expected<PastBooks> read(const Ledger& ledger, const Asked& asked);

  // Moves the books' present to t. They remember what ran since the instant that they were moved to before. REQUIRES:
  // asked.since <= t <= asked.until, and t is not earlier than the last one. Errc::corrupt: the books refuse an event
  // in the order of time.
  [[nodiscard]] Expected<void> advance_to(Instant t);
  [[nodiscard]] accounting::State& state() { return fold_.books().state; }
  // The rows at the instant that the books were moved to last, of the time before it: what was settled at that
  // instant is of the time that begins there. By OrgId; none if the books have no present yet.
  [[nodiscard]] std::vector<accounting::Standing> rows();
  [[nodiscard]] Instant begin() const { return begin_; }  // of the books, at asked.until at the latest
  // Forgets what ended before the instant that the books were moved to last. Questions to books that have just
  // forgotten cost little.
  [[nodiscard]] Expected<void> forget();
  [[nodiscard]] accounting::State take_state() && { return std::move(fold_.books().state); }

  // The submitter by the last submission of the job before `start` that is described; else account "", user 0.
  [[nodiscard]] Expected<Submitter> submitter_of(JobId job, Instant start) { return submitters_.of(job, start); }
  [[nodiscard]] const NameIndex& accounts() const { return submitters_.accounts(); }
  [[nodiscard]] Expected<std::string> partition_of(JobId job, Instant start) {
    return submitters_.partition_of(job, start);
  }
  // What users were called last, by number; of users that were named only later, what they were called first.
  [[nodiscard]] accounting::UserNames user_names();
  // All adjustments in the files, by number, whenever they were made.
  [[nodiscard]] const std::vector<PastAdjustment>& adjustments() const { return events_.adjustments(); }

 private:
  PastBooks(std::unique_ptr<PastFiles> files, PastEvents events, Submitters submitters, Fold fold, Instant begin)
      : files_(std::move(files)),
        events_(std::move(events)),
        submitters_(std::move(submitters)),
        fold_(std::move(fold)),
        begin_(begin) {}

  std::unique_ptr<PastFiles> files_;  // must outlive what reads them
  PastEvents events_;
  Submitters submitters_;
  Fold fold_;
  Instant begin_;
  std::optional<Instant> moved_to_;
};

}  // namespace shapley::ledger
