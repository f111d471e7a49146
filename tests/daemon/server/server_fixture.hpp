// A server over a real socket, its loop on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/server/server.hpp"
#include "tests/daemon/records.hpp"
#include "tests/daemon/test_client.hpp"
#include "tests/support/must.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {

inline constexpr const char* k_all_jobs = R"({"request":"jobs","all":true,"since":0})";

// Limits that no slow machine reaches; a test sets the one that it is about.
inline Server::Limits no_hurry() {
  Server::Limits limits;
  constexpr std::chrono::hours k_long{1};
  limits.timeouts = {.handshake = k_long, .write = k_long, .request = k_long};
  return limits;
}

class ServerTest : public testing::Test {
 protected:
  void SetUp() override { start(no_hurry()); }
  void TearDown() override { stop(); }

  void start(Server::Limits limits) {
    auto started = must(Service::start(site, {}, Instant{now}));
    service = std::move(started);
    server = std::make_unique<Server>(
        io.emplace(1), *service, [this] { return Instant{now.load()}; }, limits);
    must(server->open());
    thread = std::thread([this] { io->run(); });
  }
  void stop() {
    if (!thread.joinable()) return;
    boost::asio::post(*io, [this] { server->close(); });
    const test::Deadline deadline("the server's thread");
    thread.join();
    server.reset();
    service.reset();
  }

  void reload(const Site& changed) {
    std::promise<bool> done;
    boost::asio::post(*io, [&] {
      done.set_value(service->reload(changed, Instant{now}).has_value());
      server->push();
    });
    const test::Deadline deadline("the server's reload");
    EXPECT_TRUE(done.get_future().get());
  }

  // A feeder that was welcomed. It has `backlog` messages to send again.
  std::unique_ptr<TestClient> feeder(std::uint64_t instance = 1, std::uint64_t backlog = 0) {
    auto client = std::make_unique<TestClient>(site.configuration.socket);
    protocol::Hello hello = feeder_hello(instance);
    hello.backlog = backlog;
    client->send(hello);
    welcome = client->expect<protocol::Welcome>();
    return client;
  }
  std::unique_ptr<TestClient> reader() {
    auto client = std::make_unique<TestClient>(site.configuration.socket);
    protocol::Hello hello;
    hello.program = "test reader";
    client->send(hello);
    client->expect<protocol::Welcome>();
    return client;
  }
  // Connects as another user. Linux keeps users per thread, and a connection has that of the thread that called
  // connect(): the server's thread, in this same process, stays what it is. REQUIRES: root.
  std::unique_ptr<TestClient> client_of(uid_t uid) const {
    std::unique_ptr<TestClient> client;
    std::thread([&] {
      EXPECT_EQ(::syscall(SYS_setresuid, uid, uid, uid), 0);
      client = std::make_unique<TestClient>(site.configuration.socket);
    }).join();
    return client;
  }
  // The same, welcomed as a reader.
  std::unique_ptr<TestClient> reader_of(uid_t uid) const {
    auto client = client_of(uid);
    client->send(protocol::Hello{});
    client->expect<protocol::Welcome>();
    return client;
  }
  // What the daemon says of readers' questions; the one that asks this is counted once it is answered.
  static nlohmann::json queries(TestClient& client) {
    return client.ask(R"({"request":"status"})")["daemon"]["queries"];
  }
  // The server's loop stands still while this lives.
  class Standstill {
   public:
    explicit Standstill(boost::asio::io_context& io) {
      boost::asio::post(io, [state = state_] {
        state->reached.set_value();
        state->over.get_future().wait();
      });
      const test::Deadline deadline("the server's loop");
      state_->reached.get_future().wait();
    }
    ~Standstill() { state_->over.set_value(); }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

   private:
    struct State {
      std::promise<void> reached;
      std::promise<void> over;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
  };
  protocol::Observations observations(std::uint64_t sequence, std::vector<protocol::JobUpdate> jobs) const {
    protocol::Observations o;
    o.sequence = sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.privacy = {protocol::Privacy{}};  // nothing is private
    return o;
  }

  TempDirectory directory;
  Site site = site_in(directory);
  std::atomic<std::int64_t> now = k_begin;
  std::optional<boost::asio::io_context> io;
  std::unique_ptr<Service> service;
  std::unique_ptr<Server> server;
  std::thread thread;
  protocol::Welcome welcome;
};

}  // namespace shapley::daemon
