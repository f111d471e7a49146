// The real shapleyd on a host whose clocks are set to anything: when they are right again, its books lack that time,
// and with an import of it they are those of a shapleyd whose clocks were never touched.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/books/trusted_clock.hpp"
#include "ledger/audit/audit.hpp"
#include "tests/daemon/process.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/world/host_clock.hpp"
#include "tests/daemon/world/true_records.hpp"

namespace shapley::daemon {
namespace {

// The clocks of a process with preloaded_clocks.c preloaded: a file that the test maps and writes to.

class SetClocks {
 public:
  explicit SetClocks(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool is_long_enough = descriptor >= 0 && ftruncate(descriptor, sizeof(Clocks)) == 0;
    void* memory =
        is_long_enough ? mmap(nullptr, sizeof(Clocks), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (descriptor >= 0) close(descriptor);
    if (memory == MAP_FAILED) throw std::runtime_error(file.string() + ": cannot be mapped");
    clocks_ = new (memory) Clocks;
  }
  ~SetClocks() { munmap(clocks_, sizeof(Clocks)); }
  SetClocks(const SetClocks&) = delete;
  SetClocks& operator=(const SetClocks&) = delete;

  // From now on every reading is this one, all of it at once.
  void set(const ClockReading& reading) {
    const std::uint32_t next = 1 - clocks_->current.load();
    clocks_->readings[next] = {.wall = reading.wall.value,
                               .since_boot = reading.since_boot.value,
                               .synchronized = reading.synchronized ? 1 : 0};
    clocks_->current.store(next);
  }

 private:
  // As in preloaded_clocks.c.
  struct Reading {
    std::int64_t wall;
    std::int64_t since_boot;
    std::int64_t synchronized;
  };
  struct Clocks {
    std::atomic<std::uint32_t> current;
    Reading readings[2];
  };

  Clocks* clocks_ = nullptr;
};

using nlohmann::json;
using Lines = std::vector<std::string>;

// A host with shapleyd, and a plugin that knows the wall clock only and keeps what is not acknowledged.
class Host : public ProcessSite {
 public:
  Host() {
    show();
    start_daemon();
  }

  // ---- clocks ----
  void pass(std::int64_t seconds) {
    clock.pass(seconds);
    show();
  }
  void set_wall_by(std::int64_t seconds) {
    clock.set_wall_by(seconds);
    show();
  }
  // A virtual machine stands still, and its host sets its wall clock afterwards.
  void freeze(std::int64_t seconds) {
    clock.booted += seconds;
    pass(seconds);
  }
  void show() {
    clocks_.set(clock.reading());
    if (daemon_) static_cast<void>(status());  // so that it looks
  }

  // ---- shapleyd ----
  void start_daemon() {
    daemon_ = start({"LD_PRELOAD=" PRELOADED_CLOCKS, "SHAPLEY_TEST_CLOCKS=" + (directory / "clocks").string(),
                     "SHAPLEYD_BOOT=boot" + std::to_string(boots_)});
    connect_plugin();
  }
  void kill_daemon() {
    plugin_.reset();
    daemon_.reset();
  }
  void boot() {
    kill_daemon();
    ++boots_;
    clock.booted = clock.truth - 30;
    show();
    start_daemon();
  }
  void signal(int number) const { daemon_->signal(number); }

  // ---- slurmctld and the plugin ----
  void start_job(std::uint32_t id, const std::string& account, const std::string& node) {
    true_records_.start(id, account, node, clock.truth);
    send_record(running({.id = id, .account = account, .node = node, .cpus = 2, .start = clock.wall()}));
  }
  void end(std::uint32_t id) {
    protocol::JobUpdate record = records_.at(id);
    record.state = protocol::JobState::ended;
    record.slurm_state = "COMPLETED";
    record.end_time = clock.wall();
    true_records_.end(id, clock.truth);
    send_record(std::move(record));
  }
  void send_snapshot() {
    protocol::Observations all;
    all.observed_at = clock.wall();
    for (const auto& [id, record] : records_) all.jobs.push_back(record);
    all.nodes = {node_record("n1"), node_record("n2")};
    send(protocol::SnapshotBegin{.observed_at = clock.wall()});
    send(std::move(all));
    send(protocol::SnapshotEnd{.observed_at = clock.wall()});
  }
  // shapleyd ends the connection when it wants a snapshot.
  void send_snapshot_when_asked() {
    while (plugin_->next()) continue;
    connect_plugin();
    send_snapshot();
  }
  void import_records() {
    kill_daemon();
    EXPECT_EQ(true_records_.import_into(directory, directory / "ledger.db", Instant{clock.truth}), "");
    start_daemon();
  }
  // Waits until everything is acknowledged.
  void catch_up() {
    while (!backlog_.empty() && !testing::Test::HasFatalFailure()) {
      const auto acknowledged = plugin_->expect<protocol::Ack>().sequence;
      if (acknowledged == 0) FAIL() << logged();
      forget(acknowledged);
    }
  }
  [[nodiscard]] std::size_t unacknowledged() const { return backlog_.size(); }

  // ---- what is known ----
  [[nodiscard]] json doubt() const { return status().at("daemon").at("clock"); }
  [[nodiscard]] json held() const { return status().at("daemon").at("held_observations"); }
  [[nodiscard]] json dropped() const { return status().at("daemon").at("dropped_observations"); }
  [[nodiscard]] Lines rows(const std::string& sql) const {
    const auto ledger = ledger::Ledger::open(directory / "ledger.db", ledger::OpenMode::read_beside_writer);
    EXPECT_TRUE(ledger.has_value()) << (ledger ? "" : ledger.error().what);
    return ledger ? rows_of(*ledger, sql) : Lines{};
  }
  [[nodiscard]] Lines run_rows() const { return rows(query_of_runs(0)); }
  [[nodiscard]] Lines future_events() const {
    return rows("SELECT key FROM events WHERE at > " + std::to_string(clock.truth));
  }
  // The causes of gaps of observation.
  [[nodiscard]] Lines gaps() const {
    return rows("SELECT json_extract(payload, '$.cause') FROM events WHERE kind = 'observation_gap' ORDER BY seq");
  }
  [[nodiscard]] Lines findings() const {
    const auto ledger = ledger::Ledger::open(directory / "ledger.db", ledger::OpenMode::read_beside_writer);
    const auto report = ledger ? ledger::audit(*ledger) : tl::unexpected(ledger.error());
    if (!report) return {report.error().what};
    Lines lines;
    for (const ledger::Finding& finding : report->findings) lines.push_back(finding.check + ": " + finding.what);
    return lines;
  }
  HostClock clock;

 private:
  void send_record(protocol::JobUpdate record) {
    records_[record.job_id] = record;
    protocol::Observations changes;
    changes.observed_at = clock.wall();
    changes.jobs = {std::move(record)};
    send(std::move(changes));
  }
  template <typename Message>
  void send(Message message) {
    message.sequence = ++sequence_;
    backlog_.emplace_back(sequence_, protocol::Message(message));
    if (plugin_) plugin_->send(backlog_.back().second);
  }
  void connect_plugin() {
    plugin_ = std::make_unique<TestClient>(socket());
    protocol::Hello hello = feeder_hello();
    hello.backlog = backlog_.size();
    plugin_->send(hello);
    forget(plugin_->expect<protocol::Welcome>().acknowledged);
    for (const auto& [sequence, message] : backlog_) plugin_->send(message);
  }
  void forget(std::uint64_t acknowledged) {
    while (!backlog_.empty() && backlog_.front().first <= acknowledged) backlog_.pop_front();
  }

  SetClocks clocks_{directory / "clocks"};
  int boots_ = 0;
  std::unique_ptr<Process> daemon_;
  std::unique_ptr<TestClient> plugin_;
  std::map<std::uint32_t, protocol::JobUpdate> records_;  // slurmctld's
  TrueRecords true_records_;
  std::uint64_t sequence_ = 0;
  std::deque<std::pair<std::uint64_t, protocol::Message>> backlog_;
};

// What happens to the clocks in the life below; nothing happens to those of the other host.
struct Trouble {
  std::function<void(Host&)> begin = [](Host&) {};
  std::function<void(Host&)> amid = [](Host&) {};
  std::function<void(Host&)> end = [](Host&) {};
};

void live(Host& host, const Trouble& trouble) {
  host.start_job(1, "phys", "n2");
  host.start_job(2, "chem", "n1");
  host.send_snapshot();
  host.catch_up();
  host.pass(600);
  trouble.begin(host);
  host.pass(60);
  host.start_job(3, "chem", "n2");
  host.pass(300);
  host.end(1);
  trouble.amid(host);
  host.start_job(4, "phys", "n1");
  host.pass(200);
  host.end(3);
  host.pass(300);
  trouble.end(host);
  host.pass(100);
  host.end(2);
  host.catch_up();
  host.pass(700);
  host.end(4);
  host.catch_up();
  host.pass(3000);
}

void expect_same_books(const Host& host, const Host& right) {
  ASSERT_EQ(host.clock.truth, right.clock.truth);
  EXPECT_EQ(host.run_rows(), right.run_rows()) << host.logged();
  EXPECT_EQ(right.run_rows().size(), 4U) << right.logged();
  const json of_right = right.status();
  EXPECT_EQ(host.status().at("organizations"), of_right.at("organizations"));
  EXPECT_NE(of_right.at("organizations").at(0).at("psi"), 0) << "the comparison compares nothing";
  EXPECT_EQ(host.doubt(), nullptr);
  EXPECT_EQ(host.held(), nullptr);
  EXPECT_EQ(host.unacknowledged(), 0U);
  EXPECT_EQ(host.future_events(), Lines{});
  EXPECT_EQ(host.findings(), Lines{});
}

// A clock that is wrong by `ahead`.
class WrongBy : public testing::TestWithParam<std::int64_t> {
 protected:
  void expect_doubt(const Host& host) const {
    EXPECT_EQ(host.doubt().at("ahead_s"), GetParam()) << host.logged();
    EXPECT_TRUE(test::eventually([&] { return host.held() != nullptr; })) << host.logged();
    EXPECT_EQ(host.status().at("at"), host.clock.truth);
    EXPECT_EQ(host.future_events(), Lines{});
    EXPECT_GT(host.unacknowledged(), 0U);
  }
  static void set_right(Host& host) {
    host.set_wall_by(-GetParam());
    host.send_snapshot_when_asked();
    host.catch_up();  // before time passes: until then the gap goes on
  }
  // Only the run that went on all the time is whole in the books of themselves.
  static void expect_the_gap_to_be_filled(Host& host, const Host& right) {
    EXPECT_EQ(host.gaps(), Lines{"wrong_clock"}) << host.logged();
    const Lines all = right.run_rows();
    ASSERT_EQ(all.size(), 4U) << right.logged();
    const Lines known = host.run_rows();
    ASSERT_FALSE(known.empty()) << host.logged();
    EXPECT_EQ(known.back(), all[1]) << host.logged();
    EXPECT_EQ(std::ranges::count(known, all[0]), 0) << "its end is of the wrong clock";
    host.import_records();
    expect_same_books(host, right);
  }
};

TEST_P(WrongBy, WhileShapleydRuns) {
  Host right;
  live(right, {});
  Host host;
  live(host, {.begin = [](Host& h) { h.set_wall_by(GetParam()); },
              .amid = [this](Host& h) { expect_doubt(h); },
              .end = set_right});
  expect_the_gap_to_be_filled(host, right);
}

TEST_P(WrongBy, WhenShapleydStarts) {
  Host right;
  live(right, {});
  Host host;
  live(host, {.begin =
                  [](Host& h) {
                    h.kill_daemon();
                    h.set_wall_by(GetParam());
                    h.start_daemon();
                  },
              .amid = [this](Host& h) { expect_doubt(h); },
              .end = set_right});
  expect_the_gap_to_be_filled(host, right);
}

TEST_P(WrongBy, AndShapleydIsKilledMeanwhileAndWhenItIsSetRight) {
  Host right;
  live(right, {});
  Host host;
  live(host, {.begin = [](Host& h) { h.set_wall_by(GetParam()); },
              .amid =
                  [this](Host& h) {
                    h.kill_daemon();
                    h.start_daemon();
                    expect_doubt(h);
                  },
              .end =
                  [](Host& h) {
                    h.kill_daemon();
                    h.set_wall_by(-GetParam());
                    h.start_daemon();
                    h.send_snapshot();
                    h.catch_up();
                  }});
  expect_the_gap_to_be_filled(host, right);
}

INSTANTIATE_TEST_SUITE_P(
    Clock, WrongBy, testing::Values(40 * k_day, k_day, std::int64_t{7200}, std::int64_t{-7200}, -k_day, -40 * k_day),
    [](const auto& by) { return (by.param < 0 ? "Behind" : "Ahead") + std::to_string(std::abs(by.param)); });

TEST(ClockProcess, AHostThatSleptIsNothingSpecial) {
  const auto sleep = [](std::int64_t at_once) {
    return Trouble{.begin = [at_once](Host& h) {
      for (std::int64_t slept = 0; slept < 3 * k_day; slept += at_once) {
        h.pass(at_once);
        EXPECT_EQ(h.doubt(), nullptr);
      }
    }};
  };
  Host awake;
  live(awake, sleep(6 * 3600));
  Host host;
  live(host, sleep(3 * k_day));
  expect_same_books(host, awake);
  EXPECT_EQ(host.gaps(), Lines{});
}

TEST(ClockProcess, AVirtualMachineThatStoodStillIsBelievedWhenItsClockIsSynchronized) {
  Host right;
  live(right, {.begin = [](Host& h) { h.pass(3 * k_day); }});
  Host host;
  live(host, {.begin = [](Host& h) {
         h.freeze(3 * k_day);
         h.clock.synchronized = true;
         EXPECT_EQ(h.doubt().at("ahead_s"), 3 * k_day);
       }});
  expect_same_books(host, right);
  EXPECT_EQ(host.gaps(), Lines{});
  EXPECT_NE(host.logged().find("believed again (synchronization)"), std::string::npos) << host.logged();
}

TEST(ClockProcess, AnAdministratorIsBelieved) {
  Host right;
  live(right, {.begin = [](Host& h) { h.pass(3 * k_day); }});
  Host host;
  live(host, {.begin = [](Host& h) { h.freeze(3 * k_day); },
              .amid =
                  [](Host& h) {
                    h.signal(SIGUSR1);
                    EXPECT_TRUE(test::eventually([&] { return h.doubt() == nullptr; })) << h.logged();
                  }});
  expect_same_books(host, right);
  EXPECT_EQ(host.gaps(), Lines{});
}

TEST(ClockProcess, AHostThatBootsAheadKeepsItsRunningJobs) {
  const auto life = [](Host& host, std::int64_t ahead) {
    host.start_job(1, "phys", "n2");
    host.send_snapshot();
    host.catch_up();
    host.pass(600);
    if (ahead != 0) {
      host.clock.set_wall_by(ahead);
      host.boot();
      host.send_snapshot();
      EXPECT_EQ(host.doubt().at("exact"), false) << host.logged();
    }
    host.pass(500);
    if (ahead != 0) host.set_wall_by(-ahead);
    host.pass(100);
    if (ahead != 0) {
      host.send_snapshot_when_asked();
      EXPECT_TRUE(test::eventually([&] { return host.dropped() == 3; })) << host.logged();
    }
    host.pass(10);
    host.end(1);
    host.catch_up();
    host.pass(1000);
  };
  Host right;
  life(right, 0);
  Host host;
  life(host, 40 * k_day);
  EXPECT_EQ(host.run_rows(), right.run_rows()) << host.logged();
  EXPECT_EQ(host.status().at("organizations"), right.status().at("organizations"));
  EXPECT_EQ(host.gaps(), Lines{"wrong_clock"});
  EXPECT_EQ(host.findings(), Lines{});
}

}  // namespace
}  // namespace shapley::daemon
