// Places over scans: what is written while jobs start and end, and what a start changes before the daemon knows of it.
#include "plugin/client/places/places.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/types.hpp"

namespace shapley::client {
namespace {

constexpr std::uint32_t k_labels = 100'000;

// A cluster of jobs of one processor on any node (what is not known of a job), whose labels are kept as slurmctld keeps
// them.
class Cluster {
 public:
  Cluster(std::uint32_t organizations, std::int64_t processors) : contenders_(organizations), reach_(processors) {
    for (std::uint32_t u = 0; u < organizations; ++u) contenders_[u].rank = u;
  }

  std::uint32_t submit(std::uint32_t organization, enum shapley_hindrance hindrance = SHAPLEY_HINDRANCE_NONE) {
    const std::uint32_t job = ++last_job_;
    waiting_[job] = {.job_id = job,
                     .organization = organization,
                     .tasks = 1,
                     .tier = 0,
                     .own_order = -static_cast<std::int64_t>(job),
                     .tie = job,
                     .level = 0,
                     .label = SHAPLEY_NO_LABEL,
                     .startable = true,
                     .hindrance = hindrance,
                     .splittable = 0};
    return job;
  }
  // Of a heterogeneous job.
  std::uint32_t submit_part(std::uint32_t organization, std::uint32_t het_job) {
    const std::uint32_t job = submit(organization, SHAPLEY_HINDRANCE_PARTS);
    waiting_[job].het_job = het_job;
    return job;
  }
  void start(std::uint32_t job) {
    running_[job] = waiting_.at(job);
    waiting_.erase(job);
  }
  void end(std::uint32_t job) { running_.erase(job); }

  // One whole scan, after which the labels are written.
  const Places::Decisions& scan(std::int64_t after_ms = 100) {
    now_ms_ += after_ms;
    places_.begin(++scan_, {1, contenders_}, k_labels, reach_, now_ms_);
    for (const auto& [job, waiting] : waiting_) places_.add(waiting);
    for (const auto& [job, run] : running_) places_.hold(job, run.organization, 0);
    const Places::Decisions& decisions = places_.end(true);
    for (const shapley_place_t& place : decisions.labels) waiting_.at(place.job_id).label = place.label;
    return decisions;
  }
  // The daemon's leads are those of what runs at the last scan: the weight of what runs alone.
  void acknowledge() {
    for (Contender& contender : contenders_) contender.lead = 0;
    for (const auto& [job, run] : running_) contenders_[run.organization].lead -= k_micro;
    places_.reflect(scan_);
  }
  // As the scheduler would: the greatest label first of those that can start.
  [[nodiscard]] std::uint32_t first() const {
    return std::max_element(waiting_.begin(), waiting_.end(),
                            [](const auto& a, const auto& b) { return rank_of(a.second) < rank_of(b.second); })
        ->first;
  }
  [[nodiscard]] std::uint32_t organization_of(std::uint32_t job) const { return waiting_.at(job).organization; }
  [[nodiscard]] std::uint32_t label_of(std::uint32_t job) const { return waiting_.at(job).label; }
  [[nodiscard]] std::int64_t held(std::uint32_t organization) const {
    std::int64_t sum = 0;
    for (const auto& [job, run] : running_) sum += run.organization == organization ? 1 : 0;
    return sum;
  }
  [[nodiscard]] const std::map<std::uint32_t, shapley_waiting_t>& running() const { return running_; }
  [[nodiscard]] const std::map<std::uint32_t, shapley_waiting_t>& waiting() const { return waiting_; }
  [[nodiscard]] Places& places() { return places_; }
  [[nodiscard]] std::int64_t now() const { return now_ms_; }
  std::vector<Contender>& contenders() { return contenders_; }

 private:
  static std::pair<bool, std::uint32_t> rank_of(const shapley_waiting_t& waiting) {
    return {waiting.hindrance == SHAPLEY_HINDRANCE_NONE, waiting.label};
  }

  std::vector<Contender> contenders_;
  std::int64_t reach_;
  Requests requests_;
  Places places_{requests_};
  std::map<std::uint32_t, shapley_waiting_t> waiting_;
  std::map<std::uint32_t, shapley_waiting_t> running_;
  std::uint32_t last_job_ = 0;
  std::uint64_t scan_ = 0;
  std::int64_t now_ms_ = 1'000;
};

TEST(Places, EverybodyIsServedInTurnWhenEverythingComesFree) {
  Cluster cluster(3, 12);
  for (int i = 0; i < 40; ++i) cluster.submit(0);
  for (int i = 0; i < 40; ++i) cluster.submit(1);
  for (int i = 0; i < 40; ++i) cluster.submit(2);
  cluster.scan();
  for (int i = 0; i < 12; ++i) cluster.start(cluster.first());
  for (std::uint32_t u = 0; u < 3; ++u) EXPECT_EQ(cluster.held(u), 4) << u;
}

// By leads alone the second organization's job would be between them.
TEST(Places, PartsOfAHeterogeneousJobAreNextToEachOther) {
  Cluster cluster(2, 4);
  const std::uint32_t first = cluster.submit_part(0, 1);
  const std::uint32_t second = cluster.submit_part(0, 1);
  const std::uint32_t other = cluster.submit(1);
  cluster.scan();
  EXPECT_GT(cluster.label_of(other), cluster.label_of(first));
  EXPECT_GT(cluster.label_of(first), cluster.label_of(second));
}

TEST(Places, PartsAreBehindAllOthersWhileOneOfThemHasNoPlace) {
  Cluster cluster(1, 4);
  const std::uint32_t first = cluster.submit_part(0, 1);
  for (int i = 0; i < 12; ++i) cluster.submit(0);
  const std::uint32_t second = cluster.submit_part(0, 1);
  cluster.scan();
  EXPECT_LT(cluster.label_of(second), 1U) << "not in line";
  EXPECT_GE(cluster.label_of(first), 1U);
  EXPECT_LT(cluster.label_of(first), cluster.label_of(first + 1));
}

// The line reaches to 8 processors: four jobs of each. When the second one leads by three, the first one's fourth
// job is the tenth in line.
TEST(Places, AJobThatHasAPlaceKeepsItForAQuarterOfTheLine) {
  Cluster cluster(2, 8);
  std::vector<std::uint32_t> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(cluster.submit(0));
    cluster.submit(1);
  }
  EXPECT_EQ(cluster.scan().in_line, 8U);
  const std::uint32_t place = cluster.label_of(jobs[3]);
  EXPECT_GE(place, 2U);
  EXPECT_LT(cluster.label_of(jobs[4]), 2U);
  cluster.contenders()[1].lead = 3 * k_micro;
  EXPECT_EQ(cluster.scan().in_line, 10U) << "with the other one's sixth job before it";
  EXPECT_GE(cluster.label_of(jobs[3]), 2U);
  EXPECT_LT(cluster.label_of(jobs[4]), 2U);
  cluster.contenders()[1].lead = 20 * k_micro;
  EXPECT_EQ(cluster.scan().in_line, 8U) << "it has no job so far in front";
  EXPECT_LT(cluster.label_of(jobs[0]), 2U);
}

// One organization runs on everything, and its runs end one after the other before the next pass. It is to keep 6 of 24
// processors, and the other one, which leads by far, gets the rest.
TEST(Places, AsManyPlacesAreRightAsHaveComeFreeBeforeAPass) {
  Cluster cluster(2, 24);
  std::vector<std::uint32_t> runs;
  for (int i = 0; i < 24; ++i) cluster.start(runs.emplace_back(cluster.submit(1)));
  for (int i = 0; i < 60; ++i) {
    cluster.submit(0);
    cluster.submit(1);
  }
  cluster.scan();
  cluster.acknowledge();
  cluster.contenders()[0].lead = 40 * k_micro;
  cluster.contenders()[1].lacking = (6 - 24) * k_micro;
  for (const std::uint32_t run : runs) {
    cluster.scan(10);
    cluster.end(run);
  }
  cluster.scan(10);
  for (int i = 0; i < 24; ++i) cluster.start(cluster.first());
  EXPECT_EQ(cluster.held(1), 6);
}

TEST(Places, WhatIsNotInLineHasTheLabelOfItsOrganization) {
  Cluster cluster(2, 4);
  std::uint32_t last = 0;
  for (int i = 0; i < 50; ++i) last = cluster.submit(1);
  const auto& decisions = cluster.scan();
  EXPECT_EQ(decisions.in_line, 4U);
  EXPECT_EQ(cluster.label_of(last), 0U) << "the last rank's";
  EXPECT_GE(cluster.label_of(1), 2U);
}

// A start that the daemon has not heard of moves nothing: its lead is old, and what waits has moved up by as much.
TEST(Places, AStartIsNotCountedTwice) {
  Cluster cluster(2, 20);
  for (int i = 0; i < 40; ++i) cluster.submit(static_cast<std::uint32_t>(i % 2));
  cluster.scan();
  cluster.acknowledge();
  cluster.scan();
  const auto settled = cluster.scan(10'000).labels.size();
  EXPECT_EQ(settled, 0U);
  // Two of each organization, in its own order.
  for (const std::uint32_t job : {1U, 2U, 3U, 4U}) cluster.start(job);
  std::vector<std::uint32_t> written;
  for (const shapley_place_t& place : cluster.scan(10'000).labels) written.push_back(place.job_id);
  // Only jobs that came into line have another label.
  for (const std::uint32_t job : written) EXPECT_GT(job, 20U);
  cluster.acknowledge();
  for (const shapley_place_t& place : cluster.scan(10'000).labels) EXPECT_GT(place.job_id, 20U);
}

// Steady load, a thousand jobs that wait, ends in random order: few labels are written for each start or end, and
// nevertheless the organizations hold what the rule says at every moment.
TEST(Places, FewLabelsAreWrittenForEachStartOrEnd) {
  constexpr std::int64_t k_micros = 128;
  constexpr std::uint32_t k_organizations = 4;
  Cluster cluster(k_organizations, k_micros);
  std::mt19937 random(7);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  // Each organization's queue stays about twice as deep as the reach of the line, the processors of the cluster.
  for (int i = 0; i < 1'000; ++i) cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
  cluster.scan();
  for (std::int64_t i = 0; i < k_micros; ++i) cluster.start(cluster.first());
  cluster.scan();
  cluster.acknowledge();
  constexpr int k_turns = 250;
  std::vector<std::size_t> writes;
  std::size_t all = 0;
  for (int turn = 0; turn < k_turns; ++turn) {
    const auto ending =
        std::next(cluster.running().begin(), static_cast<std::ptrdiff_t>(draw(cluster.running().size())));
    cluster.end(ending->first);
    cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
    std::size_t labels = cluster.scan().labels.size();
    cluster.acknowledge();
    labels += cluster.scan().labels.size();
    cluster.start(cluster.first());
    labels += cluster.scan().labels.size();
    cluster.acknowledge();
    labels += cluster.scan().labels.size();
    writes.push_back(labels);
    all += labels;
    for (std::uint32_t u = 0; u < k_organizations; ++u) {
      ASSERT_NEAR(static_cast<double>(cluster.held(u)), k_micros / k_organizations, 2.0) << "turn " << turn;
    }
  }
  // Two events a turn.
  std::nth_element(writes.begin(), writes.begin() + k_turns / 2, writes.end());
  EXPECT_LE(writes[k_turns / 2], 4U);
  EXPECT_LE(static_cast<double>(all) / (2 * k_turns), 4.0) << "on average";
  RecordProperty("labels_for_an_event_in_hundredths", static_cast<int>(100 * all / (2 * k_turns)));
  std::printf("median of a turn of two events: %zu labels, on average %.2f for an event\n", writes[k_turns / 2],
              static_cast<double>(all) / (2 * k_turns));
}

// As many jobs of a partition that is down have places beside those of a steady load. They cost few writes, and what
// could start is served as without them, though it stands behind many that cannot.
TEST(Places, WhatWaitsForItsNodesIsMovedSeldom) {
  constexpr std::int64_t k_micros = 32;
  constexpr std::uint32_t k_organizations = 3;
  constexpr int k_turns = 500;
  Cluster cluster(k_organizations, k_micros);
  for (std::uint32_t i = 0; i < 200; ++i) cluster.submit(i % k_organizations, SHAPLEY_HINDRANCE_NODES);
  std::mt19937 random(7);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (int i = 0; i < 200; ++i) cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
  cluster.scan();
  for (std::int64_t i = 0; i < k_micros; ++i) {
    cluster.start(cluster.first());
    cluster.scan();
    cluster.acknowledge();
  }
  std::size_t of_absent = 0;
  const auto scan = [&] {
    for (const shapley_place_t& place : cluster.scan().labels) of_absent += place.job_id <= 200 ? 1 : 0;
    cluster.acknowledge();
  };
  for (int turn = 0; turn < k_turns; ++turn) {
    const auto ending =
        std::next(cluster.running().begin(), static_cast<std::ptrdiff_t>(draw(cluster.running().size())));
    cluster.end(ending->first);
    cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
    scan();
    cluster.start(cluster.first());
    scan();
    for (std::uint32_t u = 0; u < k_organizations; ++u) {
      ASSERT_NEAR(static_cast<double>(cluster.held(u)), double{k_micros} / k_organizations, 2.0) << "turn " << turn;
    }
  }
  EXPECT_GT(of_absent, 0U);
  EXPECT_LE(of_absent, 3 * std::size_t{k_turns}) << "three for a start and an end; they would be six";
}

// Leads change with every scan, and jobs come, start and end, so that labels behind the part that is put in order are
// those of earlier lines. Nevertheless no job of an organization has a greater label than one before it.
TEST(Places, WithinAnOrganizationLabelsNeverRise) {
  constexpr std::uint32_t k_organizations = 3;
  Cluster cluster(k_organizations, 64);
  std::mt19937 random(11);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (int i = 0; i < 150; ++i) cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
  cluster.scan();
  for (int i = 0; i < 64; ++i) cluster.start(cluster.first());
  for (int turn = 0; turn < 300; ++turn) {
    cluster.acknowledge();
    for (Contender& contender : cluster.contenders()) contender.lead += static_cast<std::int64_t>(draw(40)) * k_micro;
    if (draw(2) == 0) {
      const auto ending =
          std::next(cluster.running().begin(), static_cast<std::ptrdiff_t>(draw(cluster.running().size())));
      cluster.end(ending->first);
      cluster.start(cluster.first());
    }
    cluster.submit(static_cast<std::uint32_t>(draw(k_organizations)));
    cluster.scan();
    std::vector<std::uint32_t> least(k_organizations, SHAPLEY_NO_LABEL);
    for (const auto& [job, waiting] : cluster.waiting()) {
      std::uint32_t& before = least[waiting.organization];
      ASSERT_LE(waiting.label, before) << "turn " << turn << ", job " << job;
      before = waiting.label;
    }
  }
}

// Leads change all the time, and nothing starts or ends. The first place is right after every scan; the whole line ever
// more seldom, so that few labels are written, and at least twice a minute.
TEST(Places, TheWholeLineIsCorrectedEverMoreSeldomWhileNothingHappens) {
  Cluster cluster(2, 64);
  for (int i = 0; i < 64; ++i) cluster.start(cluster.submit(0));
  for (int i = 0; i < 200; ++i) cluster.submit(static_cast<std::uint32_t>(i % 2));
  cluster.scan();
  std::vector<std::int64_t> corrected_ms;
  const std::int64_t began_ms = cluster.now();
  for (int i = 0; i < 1'200; ++i) {
    cluster.contenders()[1].lead += k_micro / 4;
    const Places::Decisions& decisions = cluster.scan(100);
    if (decisions.looked_at == decisions.in_line) corrected_ms.push_back(cluster.now() - began_ms);
    EXPECT_EQ(cluster.organization_of(cluster.first()), 1U);
  }
  ASSERT_GE(corrected_ms.size(), 4U);
  EXPECT_LE(corrected_ms.size(), 9U) << "after 2, 4, 8, 16 and 32 seconds, and every 30 from then on";
  EXPECT_LE(corrected_ms.front(), 2'100) << "for the first time";
  for (std::size_t i = 1; i < corrected_ms.size(); ++i) {
    EXPECT_LE(corrected_ms[i] - corrected_ms[i - 1], 30'100);
  }
}

// Every three seconds four runs end one after the other, and each time the next job starts. Three seconds are no
// silence then in which the whole line is to be corrected.
TEST(Places, WhereRunsEndAFewAtATimeTheWholeLineIsNotCorrectedBetweenThem) {
  Cluster cluster(2, 64);
  for (int i = 0; i < 64; ++i) cluster.start(cluster.submit(0));
  for (int i = 0; i < 600; ++i) cluster.submit(static_cast<std::uint32_t>(i % 2));
  cluster.scan();
  int corrected = 0;
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 4; ++i) {
      cluster.end(cluster.running().begin()->first);
      cluster.scan(20);
      cluster.start(cluster.first());
      cluster.scan(50);
    }
    for (int i = 0; i < 30; ++i) {
      cluster.contenders()[1].lead += k_micro / 4;
      const Places::Decisions& decisions = cluster.scan(100);
      if (turn >= 10 && decisions.looked_at == decisions.in_line) ++corrected;
    }
  }
  EXPECT_EQ(corrected, 0);
}

shapley_waiting_t array_of(std::uint32_t tasks, std::uint32_t label) {
  return {.job_id = 1,
          .organization = 0,
          .tasks = tasks,
          .own_order = 0,
          .tie = 1,
          .label = label,
          .startable = true,
          .hindrance = SHAPLEY_HINDRANCE_NONE,
          .splittable = tasks - 1};
}

// The decisions for an array of the first organization and single jobs of the second one.
class Array {
 public:
  Array(std::int64_t lead, std::int64_t reach) : contenders_(2), reach_(reach) {
    contenders_[0] = {.rank = 0, .lead = lead * k_micro};
    contenders_[1] = {.rank = 1};
  }
  const Places::Decisions& decide(const shapley_waiting_t& array, std::uint32_t others) {
    places_.begin(1, {1, contenders_}, k_labels, reach_, 1'000);
    places_.add(array);
    for (std::uint32_t i = 0; i < others; ++i) {
      shapley_waiting_t other = array_of(1, SHAPLEY_NO_LABEL);
      other.job_id = 200 + i;
      other.tie = other.job_id;
      other.organization = 1;
      places_.add(other);
    }
    return places_.end(true);
  }
  [[nodiscard]] std::uint32_t label_of(std::uint32_t job) const {
    for (const shapley_place_t& place : places_.decisions().labels) {
      if (place.job_id == job) return place.label;
    }
    return SHAPLEY_NO_LABEL;
  }

 private:
  static std::pair<bool, std::uint32_t> rank_of(const shapley_waiting_t& waiting) {
    return {waiting.hindrance == SHAPLEY_HINDRANCE_NONE, waiting.label};
  }

  std::vector<Contender> contenders_;
  std::int64_t reach_;
  Requests requests_;
  Places places_{requests_};
};

TEST(Places, AnArrayThatWaitsAloneStaysWhole) {
  Array scene(0, 8);
  EXPECT_TRUE(scene.decide(array_of(100, SHAPLEY_NO_LABEL), 0).splits.empty());
}

TEST(Places, AnArrayBetweenOthersIsSplit) {
  Array scene(0, 8);
  const auto& splits = scene.decide(array_of(100, 50'000), 1).splits;
  ASSERT_EQ(splits.size(), 1U);
  EXPECT_EQ(splits[0].job_id, 1U);
  ASSERT_EQ(splits[0].tasks, 7U) << "as many as stand in line";
  EXPECT_GT(splits[0].labels[0], scene.label_of(200));
  EXPECT_LT(splits[0].labels[1], scene.label_of(200));
  EXPECT_TRUE(std::is_sorted(splits[0].labels, splits[0].labels + 7, std::greater<>()));
  EXPECT_LT(splits[0].rest_label, 2U) << "what is left is not in line, whatever place the record had";
  EXPECT_EQ(scene.label_of(1), splits[0].rest_label);
}

// Only its first task comes into line, because the others lead by more than the cluster has.
TEST(Places, AnArrayOfWhichOneTaskIsInLineIsSplit) {
  Array scene(-100, 8);
  shapley_waiting_t array = array_of(40, SHAPLEY_NO_LABEL);
  const auto& none = scene.decide(array, 20).splits;
  EXPECT_TRUE(none.empty()) << "none of its tasks is in line";
  EXPECT_LT(scene.label_of(1), 2U);
  Array led(7, 8);
  array.tasks = 5;
  array.splittable = 4;
  EXPECT_TRUE(led.decide(array, 20).splits.empty()) << "all of its tasks go before all others";
}

TEST(Places, WhatIsLeftOfAnArrayHasThePlaceOfItsLastTask) {
  Array scene(0, 8);
  const auto& splits = scene.decide(array_of(2, SHAPLEY_NO_LABEL), 3).splits;
  ASSERT_EQ(splits.size(), 1U);
  ASSERT_EQ(splits[0].tasks, 1U);
  EXPECT_GT(splits[0].labels[0], scene.label_of(200));
  EXPECT_LT(splits[0].rest_label, scene.label_of(200));
  EXPECT_GT(splits[0].rest_label, scene.label_of(201));
}

// Tasks that depend on others, for example.
TEST(Places, AnArrayThatCannotBeSplitHasThePlaceOfItsFirstTask) {
  Array scene(0, 8);
  shapley_waiting_t array = array_of(2, SHAPLEY_NO_LABEL);
  array.splittable = 0;
  EXPECT_TRUE(scene.decide(array, 3).splits.empty());
  EXPECT_GT(scene.label_of(1), scene.label_of(200));
}

// Eight of sixteen processors are away, and come back in a scan that the leads do not include.
TEST(Places, NodesThatCameBackCountBeforeTheDaemonSaysSo) {
  Requests requests;
  Places places(requests);
  const std::vector<Contender> contenders{{.rank = 0, .lead = 100 * k_micro},
                                          {.rank = 1, .lacking = 0, .returning = 4 * k_micro}};
  const auto note = [&](bool is_back) {
    requests.note(protocol::NodeRecord{.name = "n1", .cpus = 8, .usable = true});
    requests.note(protocol::NodeRecord{.name = "n2", .cpus = 8, .usable = is_back});
  };
  std::map<std::uint32_t, std::uint32_t> labels;
  const auto scan = [&](std::uint64_t number) {
    places.begin(number, {1, contenders}, k_labels, 16, static_cast<std::int64_t>(number) * 10'000);
    for (std::uint32_t job = 1; job <= 32; ++job) {
      shapley_waiting_t waiting = array_of(1, labels.contains(job) ? labels[job] : SHAPLEY_NO_LABEL);
      waiting.job_id = job;
      waiting.tie = job;
      waiting.organization = job % 2;
      places.add(waiting);
    }
    for (const shapley_place_t& place : places.end(true).labels) labels[place.job_id] = place.label;
  };
  note(false);
  scan(1);
  places.reflect(1);
  EXPECT_GT(labels[4], labels[1]) << "its nodes are away";
  note(true);
  scan(2);
  EXPECT_GT(labels[7], labels[2]) << "four of its tasks go first";
  EXPECT_GT(labels[2], labels[9]);
}

// The third organization runs on the first one's node, and four of its eight processors come free in a scan that the
// leads do not include. The first one gave four processors more than it gives now, and gives one again with each that
// starts there. So two jobs of the second one go before it; when the second one has bought the node, its own goes
// first.
TEST(Places, WhatIsGivenCountsBeforeTheDaemonSaysSo) {
  Requests requests;
  Places places(requests);
  const auto owners = [](std::uint32_t of_n1) {
    const std::vector<protocol::OwnedNodes> owned{{{"n1"}, {{"of n1", 1'000'000}}}, {{"n2"}, {{"b", 1'000'000}}}};
    return std::make_shared<const NodeOwners>(owned, [=](const std::string& name) { return name == "b" ? 1U : of_n1; });
  };
  for (const char* name : {"n1", "n2"}) requests.note(protocol::NodeRecord{.name = name, .cpus = 8, .usable = true});
  for (std::uint32_t run = 101; run <= 116; ++run) {
    protocol::JobUpdate job;
    job.job_id = run;
    job.state = protocol::JobState::running;
    job.nodes = {{run <= 108 ? "n1" : "n2", 1, 0, {}}};
    requests.note(job);
  }
  const std::vector<Contender> contenders{{.rank = 0}, {.rank = 1}, {.rank = 2, .lead = -1000 * k_micro}};
  std::map<std::uint32_t, std::uint32_t> labels;
  const auto scan = [&](std::uint64_t number, std::uint32_t first_run, std::shared_ptr<const NodeOwners> of) {
    places.begin(number, {1, contenders, std::move(of)}, k_labels, 16, static_cast<std::int64_t>(number) * 10'000);
    for (std::uint32_t job = 1; job <= 20; ++job) {
      shapley_waiting_t waiting = array_of(1, labels.contains(job) ? labels[job] : SHAPLEY_NO_LABEL);
      waiting.job_id = job;
      waiting.tie = job;
      waiting.own_order = -static_cast<std::int64_t>(job);
      waiting.organization = job % 2;
      places.add(waiting);
    }
    for (std::uint32_t run = first_run; run <= 116; ++run) places.hold(run, 2, 0);
    for (const shapley_place_t& place : places.end(true).labels) labels[place.job_id] = place.label;
  };
  const auto of_first = owners(0);
  scan(1, 101, of_first);
  places.reflect(1);
  EXPECT_GT(labels[2], labels[1]) << "the better rank first";
  for (std::uint32_t run = 101; run <= 104; ++run) requests.forget(run);
  scan(2, 105, of_first);
  EXPECT_GT(labels[1], labels[2]);
  EXPECT_GT(labels[3], labels[2]) << "two of the second one before the first one's first";
  scan(3, 105, owners(1));
  EXPECT_GT(labels[2], labels[1]) << "the leads count as the second one's what runs on its new node";
}

TEST(Places, AScanThatWasCutShortDecidesNothing) {
  Cluster cluster(1, 8);
  cluster.submit(0);
  cluster.places().begin(1, {1, cluster.contenders()}, k_labels, 8, 1'000);
  EXPECT_TRUE(cluster.places().end(false).labels.empty());
}

}  // namespace
}  // namespace shapley::client
