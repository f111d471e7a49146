// A start that takes long: what the socket and the supervisor hear meanwhile.
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/start.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/test_client.hpp"

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
        if (stop_when_told) raise(SIGTERM);
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
  bool stop_when_told = false;  // set before start()
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

  ASSERT_FALSE(told().empty());
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
  stop_when_told = true;
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

}  // namespace
}  // namespace shapley::daemon
