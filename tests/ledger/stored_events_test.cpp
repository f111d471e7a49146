// Events are taken apart into typed columns and words; what is read must be what was hashed, to the byte.
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

using Rows = std::vector<std::vector<std::string>>;

// The events that a new ledger took from these.
std::vector<Event> stored(Ledger& ledger, const std::vector<Event>& events) {
  std::vector<Event> accepted;
  std::int64_t received = 1'000'000;
  for (const Event& event : events) {
    for (const Event& taken : must(ledger.append(std::vector<Event>{event}, {++received})).accepted) {
      accepted.push_back(taken);
    }
  }
  return accepted;
}

void expect_as_they_are(const Ledger& ledger, const std::vector<Event>& events) {
  const Rows rows = must(query(ledger, "SELECT seq, key, at, kind, payload FROM events ORDER BY seq"));
  RC_ASSERT(rows.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    RC_ASSERT(rows[i] == (std::vector<std::string>{std::to_string(i + 1), event_key(events[i]),
                                                   std::to_string(time_of(events[i]).value),
                                                   std::string(kind_of(events[i])), encode(events[i])}));
  }
}

void expect_sound(const Ledger& ledger) {
  for (const Finding& finding : must(audit(ledger)).findings) RC_FAIL(finding.check + ": " + finding.what);
}

RC_GTEST_PROP(StoredEvents, read_back_as_they_were_hashed, ()) {
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  std::vector<Event> events = *rc::gen::container<std::vector<Event>>(any_event());
  for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) events.push_back(*any_event_of(kind));
  const std::vector<Event> accepted = stored(ledger, events);
  expect_as_they_are(ledger, accepted);
  std::size_t i = 0;
  must(ledger.for_each_event(0, [&](const StoredEvent& event) -> Expected<void> {
    RC_ASSERT(event.event == accepted.at(i++));
    return {};
  }));
  // Each of them is known, and stated a second time it is nothing new.
  RC_ASSERT(must(ledger.append(accepted, {2'000'000})).duplicates == accepted.size());
}

// A row of the views that auditors read, put together from the events alone.
struct NaiveSegment {
  std::string organization, begin, end, processors, reason, job_state, retracted;
};

std::string kind_word(const SegmentKey& key) {
  return key.kind == SegmentKind::run ? "run" : "wait";
}

struct NaiveViews {
  std::map<std::vector<std::string>, NaiveSegment> segments;  // by job, anchor, kind, ordinal
  std::set<std::vector<std::string>> nodes;
  std::map<std::vector<std::string>, std::map<Instant, JobDescribed>> jobs;  // by job, submit; what holds from when

  static std::vector<std::string> name_of_segment(const SegmentKey& key) {
    return {std::to_string(key.job.value), std::to_string(key.anchor.value), kind_word(key),
            std::to_string(key.ordinal)};
  }
  void operator()(const SegmentOpened& e) {
    NaiveSegment& segment = segments[name_of_segment(e.key)];
    segment.organization = e.organization;
    segment.begin = std::to_string(e.begin.value);
    segment.processors = std::to_string(e.processors.value);
    for (const NodeShare& share : e.nodes) {
      std::vector<std::string> row = name_of_segment(e.key);
      std::string gres;
      for (const Resource& r : share.gres) gres += (gres.empty() ? "" : ",") + r.name + "=" + std::to_string(r.count);
      row.insert(row.end(), {share.node, std::to_string(share.processors.value), std::to_string(share.cpus),
                             std::to_string(share.memory), gres});
      nodes.insert(row);
    }
  }
  void operator()(const SegmentClosed& e) {
    NaiveSegment& segment = segments[name_of_segment(e.key)];
    segment.end = std::to_string(e.end.value);
    segment.reason = name_of(e.reason);
    segment.job_state = e.job_state;
  }
  void operator()(const SegmentRetracted& e) {
    segments[name_of_segment(e.key)].retracted = std::to_string(e.at.value);
  }
  void operator()(const JobDescribed& e) {
    jobs[{std::to_string(e.job.value), std::to_string(e.submit.value)}][k_beginning_of_time] = e;
  }
  void operator()(const JobChanged& e) {
    jobs[{std::to_string(e.job.value), std::to_string(e.submit.value)}][e.at] = e.description();
  }
  template <typename Fact>
  void operator()(const Fact& /*e*/) {}

  [[nodiscard]] std::set<std::vector<std::string>> job_rows() const {
    const auto or_null = [](std::uint32_t value) { return value == 0 ? std::string() : std::to_string(value); };
    std::set<std::vector<std::string>> rows;
    for (const auto& [name, told] : jobs) {
      if (!told.contains(k_beginning_of_time)) continue;
      const JobDescribed& e = told.begin()->second;
      const JobDescribed& last = told.rbegin()->second;
      const auto task = last.array_task ? last.array_task : e.array_task;
      rows.insert({name[0], name[1], last.organization, or_null(e.array_job), task ? std::to_string(*task) : "",
                   or_null(e.het_job), std::to_string(e.user_id), std::to_string(e.group_id), last.account,
                   last.partition, last.qos, last.name, last.wckey});
    }
    return rows;
  }

  [[nodiscard]] std::set<std::vector<std::string>> segment_rows() const {
    std::set<std::vector<std::string>> rows;
    for (const auto& [name, s] : segments) {
      std::vector<std::string> row = name;
      row.insert(row.end(), {s.organization, s.begin, s.end, s.processors, s.reason, s.job_state, s.retracted});
      rows.insert(row);
    }
    return rows;
  }
};

void expect_views(const Ledger& ledger, const std::vector<Event>& events) {
  NaiveViews naive;
  for (const Event& event : events) std::visit(naive, event);
  const auto read = [&](const std::string& sql) {
    const Rows rows = must(query(ledger, sql));
    std::set<std::vector<std::string>> distinct(rows.begin(), rows.end());
    RC_ASSERT(distinct.size() == rows.size());
    return distinct;
  };
  RC_ASSERT(read("SELECT job, anchor, kind, ordinal, organization, begin, end, processors, reason, job_state, "
                 "retracted FROM segments") == naive.segment_rows());
  RC_ASSERT(read("SELECT job, anchor, kind, ordinal, node, processors, cpus, memory, gres FROM segment_nodes") ==
            naive.nodes);
  RC_ASSERT(read("SELECT job, submit, organization, array_job, array_task, het_job, user_id, group_id, account, "
                 "partition, qos, name, wckey FROM jobs") == naive.job_rows());
}

RC_GTEST_PROP(StoredEvents, of_any_kind_show_in_the_views_what_they_say, ()) {
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const std::vector<Event> accepted = stored(ledger, *rc::gen::container<std::vector<Event>>(any_event()));
  expect_views(ledger, accepted);
}

// Alone in its ledger, an event of any kind is in the books that come back, from a checkpoint and by replay.
RC_GTEST_PROP(StoredEvents, of_any_kind_come_back_after_a_restart, ()) {
  const Event event = *any_event();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  std::string books;
  {
    Ledger ledger = writer(file);
    must(ledger.append(std::vector<Event>{event}, {1'000'000}));
    Recovered recovered = must(ledger.recover());
    RC_ASSERT(recovered.replayed == 1);
    books = recovered.state.save();
    must(ledger.save_checkpoint(recovered.state, recovered.last_sequence, recovered.state.now()));
  }
  const Ledger ledger = reader(file);
  Recovered recovered = must(ledger.recover());
  RC_ASSERT(recovered.replayed == 0);
  RC_ASSERT(recovered.state.save() == books);
  RC_ASSERT(recovered.state.apply(event) == Applied::duplicate);
  expect_sound(ledger);
}

RC_GTEST_PROP(StoredEvents, of_a_history_are_sound, ()) {
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const std::vector<Event> accepted = stored(ledger, *any_history());
  expect_as_they_are(ledger, accepted);
  expect_views(ledger, accepted);
  expect_sound(ledger);
}

// A word that a failed batch brought is not remembered as if it were stored.
TEST(StoredEventsTest, a_batch_that_failed_leaves_no_words) {
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  const auto good = opened(17, 1000, "a new organization", 4, "a new node");
  auto bad = opened(18, 1000, "a", 4);
  bad.processors = {1};
  EXPECT_FALSE(ledger.append(std::vector<Event>{good, bad}, {1001}));
  EXPECT_EQ(must(query(ledger, "SELECT * FROM words")), Rows{});
  EXPECT_EQ(must(ledger.append(std::vector<Event>{opened(19, 1000, "another", 4), good}, {1002})).appended, 2U);
  EXPECT_EQ(
      must(query(ledger, "SELECT organization, node FROM segments JOIN segment_nodes USING (job) WHERE job = 17")),
      (Rows{{"a new organization", "a new node"}}));
}

// A cluster's usual jobs: described, waiting, running on one, two or four nodes, ended. What a site pays for each of
// them, everything in the file included, as docs/benchmarks.md says.
TEST(StoredEventsTest, a_job_takes_a_thousand_bytes_at_most) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  constexpr std::uint32_t k_jobs = 5000;
  {
    Ledger ledger = writer(file);
    for (std::uint32_t job = 1; job <= k_jobs; ++job) must(ledger.append(usual_job(job), {1'700'000'000 + job}));
    EXPECT_EQ(ledger.last_sequence(), 5 * k_jobs);
  }
  tamper(file, "VACUUM");
  EXPECT_LE(std::filesystem::file_size(file), 1000 * k_jobs);
  EXPECT_GT(std::filesystem::file_size(file), 300 * k_jobs) << "the measure is broken";
}

}  // namespace
}  // namespace shapley::ledger
