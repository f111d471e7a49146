// The spool file: torn, flipped, foreign, full. What is intact survives, nothing crashes, and one line says what was
// lost.
#include "plugin/client/spool/spool.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include "support.hpp"

namespace shapley::client::testing {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void overwrite(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

struct Reading {
  std::vector<std::string> bodies;
  std::string damage;
};

Reading read_all(const std::string& path) {
  Reading reading;
  Spool spool(path);
  const auto damage = spool.open([&](Spool::Place place, std::string_view body) {
    EXPECT_EQ(place.length, body.size());
    reading.bodies.emplace_back(body);
    return true;
  });
  EXPECT_TRUE(damage.has_value()) << damage.error().what;
  reading.damage = damage.value_or("");
  return reading;
}

void write_all(const std::string& path, const std::vector<std::string>& bodies) {
  Spool spool(path);
  ASSERT_TRUE(spool.open([](Spool::Place, std::string_view) { return true; }));
  for (const auto& body : bodies) ASSERT_TRUE(spool.append(body));
  ASSERT_TRUE(spool.sync());
}

class SpoolTest : public ::testing::Test {
 protected:
  TempDirectory directory;
  std::string path = directory / "spool";
};

TEST_F(SpoolTest, WhatIsAppendedIsReadBack) {
  write_all(path, {"one", std::string(100'000, 'x'), "three"});
  const Reading reading = read_all(path);
  EXPECT_EQ(reading.bodies, (std::vector<std::string>{"one", std::string(100'000, 'x'), "three"}));
  EXPECT_EQ(reading.damage, "");
}

TEST_F(SpoolTest, ATornTailIsCutOffAndWritingGoesOn) {
  write_all(path, {"one", "two", "three"});
  const std::string whole = slurp(path);
  const std::string two_frames = whole.substr(0, whole.size() - 12 - 5);
  for (std::size_t torn = 1; torn < 12 + 5; ++torn) {
    overwrite(path, two_frames + whole.substr(two_frames.size(), torn));
    const Reading reading = read_all(path);
    EXPECT_EQ(reading.bodies, (std::vector<std::string>{"one", "two"})) << torn;
    EXPECT_NE(reading.damage, "") << torn;
    EXPECT_EQ(slurp(path), two_frames) << torn;
    write_all(path, {"four"});
    EXPECT_EQ(read_all(path).bodies, (std::vector<std::string>{"one", "two", "four"})) << torn;
  }
}

TEST_F(SpoolTest, AHeaderCutShortIsANewFile) {
  write_all(path, {"one"});
  const std::string whole = slurp(path);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}}) {
    overwrite(path, whole.substr(0, bytes));
    EXPECT_TRUE(read_all(path).bodies.empty());
    write_all(path, {"one"});
    EXPECT_EQ(slurp(path), whole);
  }
}

TEST_F(SpoolTest, AForeignFileIsMovedAsideAndNotDestroyed) {
  overwrite(path, "shapley-spool 9 protocol 4\nwhatever that may be");
  const Reading reading = read_all(path);
  EXPECT_TRUE(reading.bodies.empty());
  EXPECT_NE(reading.damage.find(".rejected"), std::string::npos);
  EXPECT_EQ(slurp(path + ".rejected"), "shapley-spool 9 protocol 4\nwhatever that may be");
  write_all(path, {"one"});
  EXPECT_EQ(read_all(path).bodies, std::vector<std::string>{"one"});
}

TEST_F(SpoolTest, CompactionKeepsTheRestAndItsPlaces) {
  Spool spool(path);
  ASSERT_TRUE(spool.open([](Spool::Place, std::string_view) { return true; }));
  std::vector<Spool::Place> places;
  for (const std::string body : {"one", "two", "three"}) places.push_back(*spool.append(body));
  const auto shift = spool.compact(places[1]);
  ASSERT_TRUE(shift);
  EXPECT_EQ(*shift, 12U + 3U);
  EXPECT_EQ(spool.bytes(), 12U + 3U + 12U + 5U);
  EXPECT_EQ(*spool.read({places[2].offset - *shift, places[2].length}), "three");
  ASSERT_TRUE(spool.append("four"));
  EXPECT_EQ(read_all(path).bodies, (std::vector<std::string>{"two", "three", "four"}));
}

TEST_F(SpoolTest, AFullDiskLeavesWholeFramesOnly) {
  Spool spool(path);
  ASSERT_TRUE(spool.open([](Spool::Place, std::string_view) { return true; }));
  ASSERT_TRUE(spool.append("one"));
  // The kernel's file size limit stands for the full disk: the write stops in the middle.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = spool.append(std::string(5000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::io);
  ASSERT_TRUE(spool.append("two"));
  EXPECT_EQ(read_all(path).bodies, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(read_all(path).damage, "");
}

// Whatever is flipped: every frame that the damage did not touch is read, in order, and nothing else is.
RC_GTEST_PROP(SpoolProperty, DamageCostsOnlyTheFramesItTouches, ()) {
  const TempDirectory directory;
  const std::string path = directory / "spool";
  const auto count = *rc::gen::inRange<std::size_t>(1, 8);
  std::vector<std::string> bodies;
  std::vector<std::size_t> ends;
  std::size_t end = std::string("shapley-spool 1 protocol 1\n").size();
  for (std::size_t i = 0; i < count; ++i) {
    // Bodies that hold the magic themselves, to lead the search for the next frame astray.
    bodies.push_back(std::to_string(i) +
                     *rc::gen::element<std::string>("SHPL", "SHPLSHPL\1\2\3", "xyz", std::string(50, 'S')));
    end += 12 + bodies.back().size();
    ends.push_back(end);
  }
  write_all(path, bodies);
  std::string content = slurp(path);
  const std::size_t at = *rc::gen::inRange<std::size_t>(ends.front() - 12 - bodies.front().size(), content.size());
  content[at] = static_cast<char>(content[at] ^ *rc::gen::inRange(1, 255));
  overwrite(path, content);
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = ends[i] - 12 - bodies[i].size();
    if (at < begin || at >= ends[i]) expected.push_back(bodies[i]);
  }
  const Reading reading = read_all(path);
  RC_ASSERT(reading.bodies == expected);
  RC_ASSERT(!reading.damage.empty());
}

class DamagedSpool : public ClientTest {
 protected:
  // Leaves the spool of a life that saw jobs 1, 2 and 3 start, one message each.
  void leave_a_spool() {
    start();
    for (std::uint32_t id = 1; id <= 3; ++id) {
      jobs[id] = {.id = id, .account = "account of job " + std::to_string(id)};
      scan();
    }
    stop();
    jobs.clear();
    log_lines::clear();
  }
  std::vector<std::uint32_t> jobs_before_the_snapshot() {
    start();
    daemon.listen();
    std::vector<std::uint32_t> ids;
    for (const auto& message : connect_and_take_snapshot().before) {
      for (const auto& job : message.jobs) ids.push_back(job.job_id);
    }
    return ids;
  }
};

TEST_F(DamagedSpool, ATornTailCostsOneMessageAndOneLine) {
  leave_a_spool();
  std::string content = slurp(spool_path);
  const std::size_t last = content.find("account of job 3");
  ASSERT_NE(last, std::string::npos);
  content.resize(last + 3);
  overwrite(spool_path, content);
  EXPECT_EQ(jobs_before_the_snapshot(), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(log_lines::count("damaged"), 1);
}

TEST_F(DamagedSpool, AFlippedByteInTheMiddleCostsOneMessageAndOneLine) {
  leave_a_spool();
  std::string content = slurp(spool_path);
  const std::size_t at = content.find("account of job 2");
  ASSERT_NE(at, std::string::npos);
  content[at] = 'A';
  overwrite(spool_path, content);
  EXPECT_EQ(jobs_before_the_snapshot(), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(log_lines::count("damaged"), 1);
}

TEST_F(DamagedSpool, ADamageDuringTheOutageIsNoticedWhenItIsSent) {
  leave_a_spool();
  start();
  ASSERT_TRUE(eventually([&] { return counters().spooled_bytes > 0; }));
  std::string content = slurp(spool_path);
  content[content.find("account of job 2")] = 'A';
  std::fstream(spool_path, std::ios::binary | std::ios::in | std::ios::out) << content;
  daemon.listen();
  std::vector<std::uint32_t> ids;
  for (const auto& message : connect_and_take_snapshot().before) {
    for (const auto& job : message.jobs) ids.push_back(job.job_id);
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(log_lines::count("is lost"), 1);
}

}  // namespace
}  // namespace shapley::client::testing
