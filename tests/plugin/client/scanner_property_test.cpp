// The scanner and its table against a naive model: a model that replays what was handed over knows exactly what
// slurmctld's tables hold, whatever comes, goes, changes, is cut short or is asked for again.
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plugin/client/scan/scanner.hpp"
#include "support.hpp"

namespace shapley::client::testing {
namespace {

RC_GTEST_PROP(FingerprintTableProperty, EqualsAMap, ()) {
  FingerprintTable table;
  std::map<std::uint32_t, std::uint64_t> model;
  const auto rounds = *rc::gen::inRange<std::uint32_t>(1, 6);
  for (std::uint32_t scan = 1; scan <= rounds; ++scan) {
    // Ids close together and far apart, enough of them to make the table grow and shrink.
    const auto ids = *rc::gen::container<std::set<std::uint32_t>>(
        rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(1, 600), rc::gen::inRange<std::uint32_t>(1, 0xFFFFFFFF)));
    std::vector<std::uint32_t> expected_gone;
    for (const auto& [id, fingerprint] : model) {
      if (!ids.contains(id)) expected_gone.push_back(id);
    }
    for (const std::uint32_t id : ids) {
      FingerprintTable::Entry& entry = table.at(id);
      RC_ASSERT(entry.job_id == id);
      RC_ASSERT(entry.fingerprint == (model.contains(id) ? model[id] : 0));
      entry.seen = scan;
      entry.fingerprint = id * 31ULL + scan;
      model[id] = entry.fingerprint;
    }
    RC_ASSERT(table.unseen(scan) == expected_gone);
    table.remove_unseen(scan);
    for (const std::uint32_t id : expected_gone) model.erase(id);
    RC_ASSERT(table.size() == model.size());
  }
}

TEST(FingerprintTable, AHundredThousandIdsInARowAreFound) {
  FingerprintTable table;
  for (std::uint32_t id = 1; id <= 100'000; ++id) table.at(id).fingerprint = id;
  EXPECT_EQ(table.size(), 100'000U);
  for (std::uint32_t id = 1; id <= 100'000; ++id) ASSERT_EQ(table.at(id).fingerprint, id);
  EXPECT_EQ(table.size(), 100'000U);
}

// One record of a scan, as the C half does it. True: the quick hash sufficed.
bool scan_one(Scanner& scanner, const shapley_job_t& job, std::uint64_t fingerprint, std::uint64_t quick_hash = 0) {
  if (scanner.same_quick_hash(job.job_id, quick_hash)) return true;
  if (scanner.job_changed(job.job_id, fingerprint, quick_hash)) scanner.add(job);
  return false;
}

using Truth = std::map<std::uint32_t, std::int64_t>;  // job id -> start time

void scan(Scanner& scanner, const Truth& truth, std::size_t jobs_seen, bool complete) {
  scanner.begin(1);
  for (const auto& [id, start_time] : truth) {
    if (jobs_seen-- == 0) break;
    shapley_job_t job{};
    job.job_id = id;
    job.start_time = start_time;
    scan_one(scanner, job, static_cast<std::uint64_t>(start_time));
  }
  scanner.end(complete);
}

RC_GTEST_PROP(ScannerProperty, ReplayingTheChangesGivesTheTruth, ()) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  Truth truth;
  Truth replayed;
  std::uint64_t connection = 0;
  const auto rounds = *rc::gen::inRange(1, 12);
  for (int round = 0; round < rounds; ++round) {
    for (const std::uint32_t id :
         *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, 30))) {
      if (*rc::gen::arbitrary<bool>()) {
        truth[id] = *rc::gen::inRange<std::int64_t>(0, 100);
      } else {
        truth.erase(id);
      }
    }
    const bool wants_snapshot = *rc::gen::arbitrary<bool>();
    if (wants_snapshot) inbox.want_snapshot_for(++connection);
    const bool complete = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
    scan(scanner, truth, complete ? truth.size() : truth.size() / 2, complete);
    const bool full = inbox.snapshot_wanted_for() == 0 && wants_snapshot;
    Truth in_this_scan;
    for (const ScanChunk& chunk : inbox.take().chunks) {
      for (const auto& job : chunk.changes.jobs) in_this_scan[job.job_id] = replayed[job.job_id] = job.start_time;
      for (const std::uint32_t id : chunk.changes.gone) replayed.erase(id);
    }
    if (!complete) continue;
    RC_ASSERT(replayed == truth);
    if (full) RC_ASSERT(in_this_scan == truth);
  }
}

// A scan of runs passes some jobs only. What it passes is sent; what it passes over stays as it was, and is neither
// gone nor seen by it.
RC_GTEST_PROP(ScannerProperty, AScanOfRunsReportsWhatItPassesAndNothingElse, ()) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  Truth truth;
  Truth replayed;
  const auto replay = [&] {
    bool runs_only = false;
    for (const ScanChunk& chunk : inbox.take().chunks) {
      for (const auto& job : chunk.changes.jobs) replayed[job.job_id] = job.start_time;
      for (const std::uint32_t id : chunk.changes.gone) replayed.erase(id);
      runs_only = runs_only || chunk.changes.runs_only;
    }
    return runs_only;
  };
  const auto rounds = *rc::gen::inRange(1, 12);
  for (int round = 0; round < rounds; ++round) {
    // A vector, not a set: of 29 numbers no larger set could be generated.
    for (const std::uint32_t id :
         *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, 30))) {
      if (*rc::gen::inRange(0, 4) == 0) {
        truth.erase(id);
      } else {
        truth[id] = *rc::gen::inRange<std::int64_t>(0, 100);
      }
    }
    Truth expected = replayed;
    RC_ASSERT(scanner.begin_runs(1));
    for (const auto& [id, start_time] : truth) {
      if (start_time < 50) continue;
      shapley_job_t job{};
      job.job_id = id;
      job.start_time = start_time;
      scan_one(scanner, job, static_cast<std::uint64_t>(start_time));
      expected[id] = start_time;
    }
    scanner.end(false);
    const bool is_new = expected != replayed;
    RC_ASSERT(replay() == is_new);
    RC_ASSERT(replayed == expected);
    if (*rc::gen::arbitrary<bool>()) {
      scan(scanner, truth, truth.size(), true);
      RC_ASSERT(!replay());
      RC_ASSERT(replayed == truth);
    }
  }
}

TEST(Scanner, RunsAreNotLookedForWhileASnapshotIsDue) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  inbox.want_snapshot_for(1);
  EXPECT_FALSE(scanner.begin_runs(1));
  scan(scanner, {}, 0, true);
  EXPECT_TRUE(scanner.begin_runs(1));
}

// Jobs as (what the quick hash shows, what only the whole record shows). What the quick hash shows is known after every
// scan; an edit of the rest after eight, and only where no quick hash hid it until then.
struct Edited {
  std::uint64_t shown = 1;
  std::int64_t hidden = 0;
};

void scan_with_quick_hashes(Scanner& scanner, const std::map<std::uint32_t, Edited>& truth) {
  scanner.begin(1);
  for (const auto& [id, job] : truth) {
    shapley_job_t record{};
    record.job_id = id;
    record.restart_count = static_cast<std::uint32_t>(job.shown);
    record.start_time = job.hidden;
    scan_one(scanner, record, 1000 * job.shown + static_cast<std::uint64_t>(job.hidden), job.shown);
  }
  scanner.end(true);
}

RC_GTEST_PROP(ScannerProperty, AQuickHashHidesNothingForMoreThanSevenScans, ()) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  std::map<std::uint32_t, Edited> truth;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> told;
  std::map<std::uint32_t, int> unseen_since;
  for (int round = 0; round < 40; ++round) {
    for (const std::uint32_t id :
         *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, 30))) {
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          truth[id].shown = *rc::gen::inRange<std::uint64_t>(1, 4);
          break;
        case 1:
          truth[id].hidden = *rc::gen::inRange<std::int64_t>(0, 100);
          break;
        case 2:
          truth.erase(id);
          break;
        default:
          if (*rc::gen::inRange(0, 8) == 0) inbox.want_snapshot_for(static_cast<std::uint64_t>(round) + 1);
      }
    }
    scan_with_quick_hashes(scanner, truth);
    for (const ScanChunk& chunk : inbox.take().chunks) {
      for (const auto& job : chunk.changes.jobs) told[job.job_id] = {job.restart_count, job.start_time};
      for (const std::uint32_t id : chunk.changes.gone) told.erase(id);
    }
    RC_ASSERT(told.size() == truth.size());
    for (const auto& [id, job] : truth) {
      RC_ASSERT(told.contains(id));
      RC_ASSERT(told[id].first == job.shown);
      unseen_since[id] = told[id].second == job.hidden ? 0 : unseen_since[id] + 1;
      RC_ASSERT(unseen_since[id] <= k_shapley_quick_hashes_in_a_row);
    }
  }
}

TEST(Scanner, AQuickHashSavesReadingTheWholeRecord) {
  EventDescriptor event;
  Inbox inbox(1U << 30U, event);
  Requests requests;
  Scanner scanner(inbox, requests);
  int skipped = 0;
  for (int scan = 0; scan < 80; ++scan) {
    scanner.begin(1);
    shapley_job_t job{};
    job.job_id = 7;
    skipped += scan_one(scanner, job, 77, 5) ? 1 : 0;
    scanner.end(true);
  }
  EXPECT_EQ(skipped, 70) << "every eighth scan, the first among them, read the whole record";
  scanner.begin(1);
  EXPECT_FALSE(scanner.same_quick_hash(8, 5)) << "never heard of";
  EXPECT_FALSE(scanner.same_quick_hash(7, 0)) << "no quick hash";
  EXPECT_FALSE(scanner.same_quick_hash(7, 6)) << "another one";
}

TEST(Inbox, AStuckFeederCostsABoundedAmountOfMemory) {
  EventDescriptor event;
  Inbox inbox(1000, event);
  for (int i = 0; i < 100; ++i) {
    ScanChunk chunk;
    chunk.first = true;
    chunk.last = true;
    chunk.bytes = 300;
    inbox.push(std::move(chunk));
  }
  const Inbox::Content content = inbox.take();
  EXPECT_TRUE(content.lost);
  EXPECT_LE(content.chunks.size(), 4U);
  EXPECT_GE(content.chunks.size(), 1U);
  EXPECT_FALSE(inbox.take().lost) << "said once";
}

TEST(Inbox, AScanUnderWayIsNotTornApart) {
  EventDescriptor event;
  Inbox inbox(1000, event);
  for (int i = 0; i < 100; ++i) {
    ScanChunk chunk;
    chunk.first = i == 0;
    chunk.bytes = 300;
    inbox.push(std::move(chunk));
  }
  const Inbox::Content content = inbox.take();
  EXPECT_FALSE(content.lost);
  EXPECT_EQ(content.chunks.size(), 100U);
}

}  // namespace
}  // namespace shapley::client::testing
