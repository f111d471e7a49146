// Scenes of scenes.txt: records of slurmctld as the observer sees them, one after the other, and what it makes of each.
//
// The file says how a scene is written. With SHAPLEY_WRITE_SCENES=FILE the scenes are written there as they turn out.
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobState;
using protocol::JobUpdate;
using protocol::WaitReason;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::int64_t number_in(const std::string& text) {
  std::istringstream in(text);
  std::int64_t number = 0;
  if (!(in >> number) || in.peek() != EOF) ADD_FAILURE() << "no number: " << text;
  return number;
}

WaitReason reason_of(const std::string& word) {
  const std::vector<std::pair<std::string, WaitReason>> reasons{{"startable", WaitReason::startable},
                                                                {"held", WaitReason::held},
                                                                {"dependency", WaitReason::dependency},
                                                                {"begin_time", WaitReason::begin_time},
                                                                {"nice", WaitReason::nice},
                                                                {"array_limit", WaitReason::array_limit},
                                                                {"account_limit", WaitReason::account_limit},
                                                                {"other", WaitReason::other}};
  for (const auto& [name, reason] : reasons) {
    if (name == word) return reason;
  }
  ADD_FAILURE() << "no reason: " << word;
  return WaitReason::other;
}

decltype(JobUpdate::nodes) nodes_of(const std::string& text) {
  decltype(JobUpdate::nodes) nodes;
  std::istringstream in(text);
  for (std::string node; std::getline(in, node, ',');) {
    const std::size_t colon = node.find(':');
    nodes.push_back({node.substr(0, colon), static_cast<std::uint32_t>(number_in(node.substr(colon + 1)))});
  }
  return nodes;
}

void set_member(JobUpdate& r, const std::string& name, const std::string& value) {
  const auto to = [&](auto& member) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(number_in(value));
  };
  if (name == "job") return to(r.job_id);
  if (name == "array") return to(r.array_job_id);
  if (name == "task") return to(r.array_task_id);
  if (name == "tasks") return to(r.pending_tasks);
  if (name == "cpus") return to(r.requested_cpus);
  if (name == "submit") return to(r.submit_time);
  if (name == "eligible") return to(r.eligible_time);
  if (name == "start") return to(r.start_time);
  if (name == "end") return to(r.end_time);
  if (name == "flip") return to(r.suspend_time);
  if (name == "ran") return to(r.pre_suspend_run_s);
  if (name == "slept") return to(r.total_suspended_s);
  if (name == "resize") return to(r.resize_time);
  if (name == "restarts") return to(r.restart_count);
  if (name == "account")
    r.account = value;
  else if (name == "name")
    r.name = value;
  else if (name == "partition")
    r.partition = value;
  else if (name == "asks")
    r.required_nodes = value;
  else if (name == "word")
    r.slurm_state = value;
  else if (name == "why")
    r.wait = reason_of(value);
  else if (name == "on")
    r.nodes = nodes_of(value);
  else
    ADD_FAILURE() << "no member: " << name;
}

// "running 120 flip=150", "ended 120-160": the state, start and end, and what else is not as record_of() has it.
JobUpdate record_in(const std::vector<std::string>& words, std::size_t first) {
  const std::string& state = words.at(first);
  JobUpdate r = record_of(state == "waiting"     ? JobState::pending
                          : state == "running"   ? JobState::running
                          : state == "suspended" ? JobState::suspended
                                                 : JobState::ended);
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (words[i] == "completing") {
      r.completing = true;
    } else if (equals == std::string::npos) {
      const std::size_t dash = words[i].find('-');
      r.start_time = number_in(words[i].substr(0, dash));
      if (dash != std::string::npos) r.end_time = number_in(words[i].substr(dash + 1));
    } else {
      set_member(r, words[i].substr(0, equals), words[i].substr(equals + 1));
    }
  }
  return r;
}

ReadingRules rules_of_partitions() {
  return {protocol::Classifier(
              {{"physics", RuleKind::partition, "phys", 0}, {"chemistry", RuleKind::partition, "chem", 0}}),
          Charging({config::Charge::weights, {{"cpu", 1}}, {}})};
}

// Plays one line of a scene; what comes of it, in words. Empty: the line only sets the scene.
std::string play(Bench& bench, const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (words[0] == "memory") {
    bench.state = accounting::State({.memory_horizon = Duration{number_in(words.at(1))}});
    return {};
  }
  if (words[0] == "time") {
    bench.state.advance(Instant{number_in(words.at(1))});
    bench.state.compact();
    return {};
  }
  const std::int64_t at = number_in(words[0]);
  if (words.at(1) == "gone") return in_words(bench.see_gone(7, at), at);
  if (words.at(1) == "forgotten") return in_words(bench.see_gone(7, at, Departure::forgotten), at);
  if (words.at(1) == "after") return in_words(bench.see(record_in(words, 3), at, number_in(words.at(2))), at);
  if (words.at(1) == "lost") return in_words(bench.see_back(record_in(words, 3), at, number_in(words.at(2))), at);
  return in_words(bench.see(record_in(words, 1), at), at);
}

// The scene with what comes of each record behind "->".
std::string played(const std::vector<std::string>& lines, const std::string& each, const std::string& value) {
  constexpr std::size_t k_column = 46;
  const bool has_partitions = !lines.empty() && lines.front() == "  partitions";
  std::optional<Bench> bench;
  has_partitions ? bench.emplace(rules_of_partitions()) : bench.emplace();
  std::string text;
  for (const std::string& line : lines) {
    std::string left = line.substr(0, line.find(" ->"));
    while (left.ends_with(' ')) left.pop_back();
    text += left;
    if (left == "  again") bench.emplace();
    const bool plays = left.starts_with("  ") && left.find_first_of("0123456789mt") == 2;
    if (plays) {
      std::string record = left;
      if (const std::size_t hole = record.find('$'); hole != std::string::npos) {
        record.replace(hole, each.size() + 1, value);
      }
      const std::string comes_of_it = play(*bench, record);
      if (!comes_of_it.empty()) {
        text += std::string(left.size() < k_column ? k_column - left.size() : 1, ' ') + "-> " + comes_of_it;
      }
    }
    text += '\n';
  }
  return text;
}

struct Scene {
  std::string head;
  std::vector<std::string> lines;  // as they are in the file
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }
};

// What is before the first scene, and the scenes.
std::pair<std::string, std::vector<Scene>> read_scenes() {
  std::ifstream in(SHAPLEY_SOURCE_DIR "/tests/daemon/observer/scenes.txt");
  std::string preface;
  std::vector<Scene> scenes;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) {
      preface += line + '\n';
    } else if (!line.empty() && line.front() != ' ') {
      scenes.push_back({line, {}});
    } else if (!line.empty()) {
      scenes.back().lines.push_back(line);
    }
  }
  return {preface, scenes};
}

// "  each why: held nice": the scene is played for each of them, and comes out alike.
TEST(ObserverScenes, TurnOutAsTheyAreWritten) {
  auto [written, scenes] = read_scenes();
  ASSERT_GT(scenes.size(), 100U);
  for (const Scene& scene : scenes) {
    SCOPED_TRACE(scene.head);
    std::vector<std::string> each = words_of(scene.lines.front());
    if (each.front() != "each") each = {"each", " ", ""};
    std::string turned_out;
    for (std::size_t i = 2; i < each.size(); ++i) {
      turned_out = played(scene.lines, each[1].substr(0, each[1].size() - 1), each[i]);
      EXPECT_EQ(turned_out, scene.text()) << each[i];
    }
    written += '\n' + scene.head + '\n' + turned_out;
  }
  if (const char* file = std::getenv("SHAPLEY_WRITE_SCENES")) std::ofstream(file) << written;
}

// What scenes.txt cannot say: other weights, all that a description carries, and nodes.

TEST(Observer, OtherWeightsDoNotRewriteARunningSegment) {
  Bench bench;
  JobUpdate r = running(120);
  bench.see(r, 121);
  Bench reweighted({protocol::Classifier(), Charging({config::Charge::weights, {{"cpu", 5}}, {}})});
  for (const accounting::Event& e : bench.history) ASSERT_TRUE(reweighted.state.apply(e));
  EXPECT_TRUE(reweighted.see(r, 130).events.empty());
  // Not even when the segment began with a resize.
  r.resize_time = 120;
  EXPECT_TRUE(reweighted.see(r, 131).events.empty());
}

TEST(Observer, ARunThatIsResumedKeepsItsCharge) {
  Bench bench;
  JobUpdate r = running(120);
  bench.see(r, 121);
  const std::string before = bench.runs();
  r.state = protocol::JobState::suspended;
  r.suspend_time = 130;
  r.pre_suspend_run_s = 10;
  bench.see(r, 131);
  Bench reweighted({protocol::Classifier(), Charging({config::Charge::weights, {{"cpu", 5}}, {}})});
  for (const accounting::Event& e : bench.history) ASSERT_TRUE(reweighted.state.apply(e));
  r.state = protocol::JobState::running;
  r.suspend_time = 140;
  r.total_suspended_s = 10;
  reweighted.see(r, 141);
  const std::string whole = before.substr(before.find(' '));  // " n1:2 n2:1"
  EXPECT_EQ(reweighted.runs(), "[120,130)" + whole + "; [140,...)" + whole);
}

TEST(Observer, ADescriptionCarriesWhatAuditorsNeed) {
  Bench bench;
  JobUpdate r = running(120);
  r.array_job_id = 5;
  r.array_task_id = 3;
  r.name = "fit";
  r.qos = "normal";
  r.partition = "batch";
  const Observation seen = bench.see(r, 121);
  const auto& d = std::get<accounting::JobDescribed>(seen.events.at(0));
  EXPECT_EQ(d.submit.value, 100);
  EXPECT_EQ(d.organization, "physics");
  EXPECT_EQ(d.array_job, 5U);
  EXPECT_EQ(d.array_task, 3U);
  EXPECT_EQ(d.name, "fit");
  EXPECT_EQ(d.qos, "normal");
  EXPECT_EQ(d.partition, "batch");
  EXPECT_EQ(d.user_id, 1000U);
}

// The clock was wrong from 1000 to 2000.

JobUpdate ended_at(std::int64_t start, std::int64_t end) {
  JobUpdate r = record_of(protocol::JobState::ended);
  r.start_time = start;
  r.end_time = end;
  return r;
}

bool is_refused(const Observation& seen) {
  return seen.mistimed && seen.events.empty();
}

TEST(ObserverAfterWrongClock, ARunThatTheBooksLackAndThatBeganBeforeIsNotBooked) {
  Bench bench;
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(1500), 2010, 2000)));
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(500), 2010, 2000)));
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(2071), 2010, 2000))) << "in the future";
  EXPECT_TRUE(bench.see_after_wrong_clock(running(2011), 2010, 2000).unsettled);
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(2011), 2010, 2010))) << "in the first scan";

  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(1500, 2100), 2110, 2000)));
  EXPECT_EQ(bench.runs(), "");
  bench.see_after_wrong_clock(running(2099), 2100, 2000);
  EXPECT_EQ(bench.runs(), "[2099,...) n1:1");
}

TEST(ObserverAfterWrongClock, ARunOfTheBooksGoesOnAndItsEndBeforeIsNotBelieved) {
  Bench bench;
  bench.see(running(120), 121);
  EXPECT_FALSE(bench.see_after_wrong_clock(running(120), 2010, 2000).mistimed);
  for (const std::int64_t end : {200, 1500, 2000, 3000})
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, end), 2010, 2000))) << end;
  JobUpdate suspended = record_of(protocol::JobState::suspended);
  suspended.start_time = 120;
  for (const std::int64_t at : {1500, 3000}) {
    suspended.suspend_time = at;
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(suspended, 2010, 2000))) << at;
  }
  bench.see_after_wrong_clock(ended_at(120, 2005), 2010, 2000);
  EXPECT_EQ(bench.runs(), "[120,2005) n1:1");
}

TEST(ObserverAfterWrongClock, ARunWhoseEndIsNotBelievedEndsWhereTheClockWentWrong) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  Bench bench;
  bench.see(running(120), 121);
  EXPECT_EQ(in_words(bench.see_mistimed(ended_at(120, 1500), 2010, clock), 2010),
            "run 120 ends at 1000 (vanished); a warning");
  EXPECT_EQ(in_words(bench.see_mistimed(ended_at(120, 1500), 2011, clock), 2011), "a warning");
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, 1500), 2012, 2000))) << "nor is it later";
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, 2500), 2600, 2000))) << "when its time has come";
}

TEST(ObserverAfterWrongClock, ARunThatWasRequeuedUnderAClockBehindIsNotRetracted) {
  Bench bench;
  bench.see(running(120), 121);
  JobUpdate requeued = record_of(protocol::JobState::pending);
  requeued.restart_count = 1;
  requeued.submit_time = requeued.eligible_time = 50;
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(requeued, 2010, 2000)));
  bench.see_mistimed(requeued, 2010, {Instant{1000}, Instant{2000}});
  EXPECT_EQ(bench.runs(), "[120,1000) n1:1");
  EXPECT_FALSE(bench.see_after_wrong_clock(requeued, 2011, 2000).mistimed);
  EXPECT_EQ(bench.runs(), "[120,1000) n1:1");
}

TEST(ObserverAfterWrongClock, ARunThatWasSuspendedBeforeAndWentOnUnderItHasNoKnownEnd) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  for (const auto state : {protocol::JobState::running, protocol::JobState::suspended}) {
    Bench bench;
    bench.see(running(120), 121);
    JobUpdate record = record_of(protocol::JobState::suspended);
    record.start_time = 120;
    record.suspend_time = 500;
    record.pre_suspend_run_s = 380;
    bench.see(record, 501);
    EXPECT_FALSE(bench.see_after_wrong_clock(record, 2010, 2000).mistimed) << "it is suspended still";
    record.state = state;
    record.suspend_time = 1500;
    record.pre_suspend_run_s = state == protocol::JobState::suspended ? 400 : 380;
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(record, 2010, 2000)));
    for (int times = 0; times < 2; ++times) {
      bench.see_mistimed(record, 2010, clock);
      EXPECT_EQ(bench.runs(), "[120,500) n1:1; [1000,1000) n1:1") << times;
    }
  }
}

TEST(ObserverAfterWrongClock, AnImportedRunEndsWithItsRecord) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  Bench bench;
  bench.see(running(1300), 1300);  // Slurm says 800
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(800), 2010, 2000)));
  bench.see_mistimed(running(800), 2010, clock);
  EXPECT_EQ(bench.runs(), "[1300,...) n1:1");
  bench.see_mistimed(ended_at(800, 2500), 2501, clock);
  EXPECT_EQ(bench.runs(), "[1300,2500) n1:1");
}

TEST(ObserverAfterWrongClock, AWaitThatEndedInItEndsWhereTheClockWentWrong) {
  Bench bench;
  bench.see(record_of(protocol::JobState::pending), 101);
  EXPECT_EQ(in_words(bench.see_mistimed(running(1500), 2010, {Instant{1000}, Instant{2000}}), 2010),
            "wait 100 ends at 1000 (started); a warning");
}

TEST(ObserverAfterWrongClock, AJobWaitsSinceTheFirstScan) {
  Bench bench;
  JobUpdate pending = record_of(protocol::JobState::pending);
  pending.submit_time = pending.eligible_time = 1500;
  EXPECT_EQ(in_words(bench.see_after_wrong_clock(pending, 2010, 2000), 2010), "described; wait [2010,...) 1");
}

TEST(ObserverNode, CapacityChangesWithCpusAndUsability) {
  Bench bench;
  const ReadingRules rules = physics_and_guests();
  protocol::NodeRecord node{.name = "n1", .cpus = 16, .usable = true, .tres = {{"cpu", 16}}};
  const auto see = [&](std::int64_t at, std::optional<Instant> last = std::nullopt) {
    const Observation seen = observe_node(bench.state, node, Instant{at}, last, rules);
    for (const accounting::Event& e : seen.events) EXPECT_TRUE(bench.state.apply(e));
    return seen;
  };
  EXPECT_EQ(see(100).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), ProcessorMillionths{16 * k_micro});
  EXPECT_TRUE(see(105).events.empty());
  node.usable = false;
  EXPECT_EQ(see(110).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), ProcessorMillionths{0});
  node.usable = true;
  EXPECT_TRUE(see(110, Instant{110}).unsettled);
  EXPECT_TRUE(see(109, Instant{110}).events.empty());
  EXPECT_EQ(see(111, Instant{110}).events.size(), 1U);
  const Observation gone = observe_gone_node(bench.state, "n1", Instant{120}, Instant{111});
  ASSERT_EQ(gone.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(gone.events[0]).processors.value, 0);
}

TEST(ObserverNode, AnUnknownNodeIsNewsIfItIsWorthSomething) {
  Bench bench;
  protocol::NodeRecord node{.name = "n1", .cpus = 0, .usable = false, .tres = {}};
  EXPECT_TRUE(observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests()).events.empty());
  // It drains, and may have runs: what they are charged depends on it.
  node.cpus = 16;
  const Observation drains = observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests());
  ASSERT_EQ(drains.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).processors.value, 0);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).whole.value, 16 * k_micro);
}

}  // namespace
}  // namespace shapley::daemon
