// A start that takes long: what the socket and the supervisor hear meanwhile.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/process.hpp"
#include "daemon/start.hpp"
#include "daemon/task_thread.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/test_client.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::daemon {
namespace {

using test::eventually;

class StartTest : public testing::Test {
 protected:
  // Starts the service in a thread; its books are ready when the test says so, or the start is to end.
  void start(std::chrono::milliseconds patience, std::int64_t few_events = 199) {
    starter_ = std::thread([this, patience, few_events] {
      const auto make = [this](ledger::ReplayWatch& watch) -> Expected<std::unique_ptr<Service>> {
        watch.total = 200;
        watch.done = 75;
        while (!ready && !watch.stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (watch.stop) return fail(Errc::unavailable, "the replay was ended");
        return Service::start(site, {}, Instant{1'700'000'000}, &watch);
      };
      const auto notify = [this](const std::string& state) {
        {
          const std::lock_guard lock(mutex_);
          told_.push_back(state);
        }
        if (stop_on_report) raise(SIGTERM);
      };
      auto made = start_service(
          make,
          {.socket = site.configuration.socket, .patience = patience, .few_events = few_events, .notify = notify});
      failed = !made.has_value();
      if (made) service = std::move(*made);
    });
  }
  void join() {
    const test::Deadline deadline("the start");
    starter_.join();
  }
  void TearDown() override {
    ready = true;
    if (starter_.joinable()) join();
  }

  [[nodiscard]] std::unique_ptr<TestClient> connect() const {
    std::unique_ptr<TestClient> client;
    EXPECT_TRUE(eventually([&] {
      client = std::make_unique<TestClient>(site.configuration.socket);
      return client->is_connected();
    }));
    return client;
  }

  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  TempDirectory directory;
  Site site = site_in(directory);
  std::atomic<bool> ready = false;
  bool stop_on_report = false;  // set before start()
  bool failed = false;
  std::unique_ptr<Service> service;

 private:
  std::thread starter_;
  std::mutex mutex_;
  std::vector<std::string> told_;  // guarded by mutex_
};

TEST_F(StartTest, ReadersHearHowFarItIsAndFeedersAreRefused) {
  start(std::chrono::milliseconds(0));
  const auto reader = connect();
  reader->send(protocol::Hello{});
  EXPECT_NE(reader->expect<protocol::Welcome>().program, "");
  for (const char* request : {R"({"request":"status"})", R"({"request":"ping"})", "nonsense"}) {
    const auto answer = reader->ask(request);
    EXPECT_EQ(answer["error"]["code"], "unavailable");
    EXPECT_EQ(answer["error"]["what"].get<std::string>().find("rebuilding, 37 %"), 0U) << answer.dump();
    EXPECT_EQ(answer["rebuilding"]["percent"], 37);
  }
  const auto feeder = connect();
  feeder->send(feeder_hello());
  EXPECT_NE(feeder->read_refusal().find("try again later"), std::string::npos);
  const auto stranger = connect();
  protocol::Hello other;
  other.version = protocol::k_version + 1;
  stranger->send(other);
  EXPECT_NE(stranger->read_refusal().find("install the same release"), std::string::npos);
  const auto rude = connect();
  rude->send(protocol::Query{1, "{}"});
  EXPECT_NE(rude->read_refusal(), "");
  const auto pushy = connect();
  pushy->send(protocol::Hello{});
  pushy->expect<protocol::Welcome>();
  pushy->send(protocol::SnapshotEnd{});
  static_cast<void>(pushy->read_refusal());

  ASSERT_TRUE(eventually([&] { return !told().empty(); }));
  EXPECT_EQ(told().front(), "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=rebuilding the books, 37 %");
  ready = true;
  EXPECT_FALSE(reader->next().has_value()) << "the service's own server takes the socket over";
  join();
  ASSERT_TRUE(service);
  EXPECT_FALSE(std::filesystem::exists(site.configuration.socket));
}

TEST_F(StartTest, AQuickStartOpensNoSocketOfItsOwn) {
  start(test::k_timeout);
  ready = true;
  join();
  EXPECT_TRUE(service);
  EXPECT_TRUE(told().empty());
}

TEST_F(StartTest, AStartThatReplaysLittleOpensNoneHoweverSlowTheMachine) {
  start(std::chrono::milliseconds(0), 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a fault would be seen by now; shorter would see less
  EXPECT_FALSE(std::filesystem::exists(site.configuration.socket));
  ready = true;
  join();
  EXPECT_TRUE(service);
  EXPECT_TRUE(told().empty());
}

TEST_F(StartTest, ASignalEndsIt) {
  stop_on_report = true;
  start(std::chrono::milliseconds(0));
  join();
  EXPECT_FALSE(service);
  EXPECT_FALSE(failed);
  EXPECT_FALSE(std::filesystem::exists(site.configuration.socket));
}

TEST_F(StartTest, ASocketThatIsTakenDoesNotKeepItFromStarting) {
  std::filesystem::create_directory(site.configuration.socket);
  start(std::chrono::milliseconds(0));
  EXPECT_TRUE(eventually([&] { return !told().empty(); }));
  ready = true;
  join();
  EXPECT_TRUE(service);
}

// What the supervisor hears while a thread hangs.

class WatchdogTest : public testing::Test {
 protected:
  WatchdogTest() : supervisor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const std::string path = (directory_ / "notify").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(supervisor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "300000000", 1);
  }
  ~WatchdogTest() override {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
  }
  // What was said since the last time; empty: nothing.
  std::string heard() {
    std::string text(100, '\0');
    const ssize_t size = ::recv(supervisor_.get(), text.data(), text.size(), 0);
    return text.substr(0, size < 0 ? 0 : static_cast<std::size_t>(size));
  }

 private:
  TempDirectory directory_;
  Descriptor supervisor_;
};

TEST_F(WatchdogTest, hears_nothing_while_a_thread_hangs_and_the_log_names_it) {
  std::promise<void> begun;
  std::promise<void> released;
  std::optional<TaskThread<int>> thread(std::in_place, "long questions", [&](int& /*task*/) {
    begun.set_value();
    released.get_future().wait();
  });
  boost::asio::io_context io;
  auto later = std::chrono::minutes(0);
  Watchdog watchdog(io, [&] { return Watchdog::Clock::now() + later; });
  // One that waits for work for however long is alive.
  later = std::chrono::hours(48);
  watchdog.start();
  EXPECT_EQ(heard(), k_watchdog_ping);
  thread->give(1);
  begun.get_future().wait();
  later = std::chrono::minutes(0);
  testing::internal::CaptureStdout();
  watchdog.start();
  EXPECT_EQ(heard(), k_watchdog_ping);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  later = std::chrono::minutes(6);
  testing::internal::CaptureStdout();
  watchdog.start();
  EXPECT_EQ(heard(), "");
  const std::string log = testing::internal::GetCapturedStdout();
  EXPECT_NE(log.find("daemon: the thread of long questions hangs"), std::string::npos) << log;
  released.set_value();
  thread.reset();
  watchdog.start();
  EXPECT_EQ(heard(), k_watchdog_ping);
}

TEST_F(WatchdogTest, a_long_piece_of_work_has_a_longer_bound) {
  const PieceOfWork checkpoint("the checkpoint", PieceOfWork::k_long_bound);
  const auto now = PieceOfWork::Clock::now();
  EXPECT_TRUE(PieceOfWork::overdue(now + std::chrono::minutes(59)).empty());
  EXPECT_EQ(PieceOfWork::overdue(now + std::chrono::minutes(61)), std::vector<std::string>{"the checkpoint"});
}

}  // namespace
}  // namespace shapley::daemon
