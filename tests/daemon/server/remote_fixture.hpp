// A server with a listener for TCP, a munged of its own, and askers that are any user.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "daemon/server/remote_listener.hpp"
#include "remote/addresses.hpp"
#include "remote/sealed_connection.hpp"
#include "server_fixture.hpp"
#include "tests/support/private_munge.hpp"

namespace shapley::daemon {

constexpr uid_t k_alice = 61001;
constexpr uid_t k_bystander = 61002;

// Linux keeps users per thread; who connects to munged's socket is the thread's.
inline void as_user(uid_t uid, const std::function<void()>& act) {
  const test::Deadline deadline("what another user does");
  std::thread([&] {
    EXPECT_EQ(::syscall(SYS_setresuid, uid, uid, uid), 0);
    act();
  }).join();
}

inline remote::TimedStream::Clock::time_point soon() {
  return remote::TimedStream::Clock::now() + test::k_timeout;
}

class RemoteTest : public ServerTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
    ServerTest::SetUp();
    munge = std::make_unique<test::PrivateMunge>(directory / "munge");
    listen({});
  }
  void TearDown() override {
    listener.reset();
    munge.reset();
    ServerTest::TearDown();
  }

  void listen(RemotePlaces::Limits places, std::chrono::milliseconds patience = test::k_timeout) {
    listener.reset();
    auto opened = RemoteListener::open({.at = {.host = "127.0.0.1", .port = free_port()},
                                        .socket = site.configuration.socket,
                                        .munge = munge->socket(),
                                        .slurm_uid = 0,
                                        .places = std::move(places),
                                        .first_question = patience,
                                        .next_question = patience,
                                        .answer = test::k_timeout,
                                        .report = test::k_timeout});
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    listener = std::move(*opened);
  }

  [[nodiscard]] config::Endpoint at() const { return {.host = "127.0.0.1", .port = port_}; }
  [[nodiscard]] remote::SealedConnection::Options options() const {
    return {.endpoint = at(), .munge = munge->socket(), .trusted = {0}};
  }
  // Asked once, over a connection of its own; what the error says, if there is one.
  [[nodiscard]] std::string ask(const remote::SealedConnection::Options& asked,
                                const std::string& request = R"({"request":"ping"})") const {
    auto connection = remote::SealedConnection::open(asked, soon());
    if (!connection) return connection.error().what;
    const auto answer = connection->ask(request, soon());
    return answer ? *answer : answer.error().what;
  }
  static bool is_pong(const std::string& answer) { return answer.find("\"pong\"") != std::string::npos; }

  // A plain connection, by an address of this machine.
  [[nodiscard]] static remote::TimedStream connect_to(const config::Endpoint& place, const char* from = "127.0.0.1") {
    Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &own.sin_addr);
    EXPECT_EQ(::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    remote::TimedStream stream(std::move(descriptor), -1);
    const auto addresses = remote::resolve(place);
    EXPECT_TRUE(addresses.has_value());
    const auto connected = stream.connect_to((*addresses)->ai_addr, (*addresses)->ai_addrlen, soon());
    EXPECT_TRUE(connected.has_value()) << connected.error().what;
    return stream;
  }
  // Whether the other side ends the connection.
  static bool is_ended(const remote::TimedStream& stream) {
    char byte = 0;
    return !stream.receive({&byte, 1}, soon()).has_value();
  }
  std::uint16_t free_port() {
    const Listening probe;
    return port_ = probe.port;
  }

  // What an attacker has: a socket that listens on an address of this machine, who accepts one connection at a time.
  struct Listening {
    Listening() {
      socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in own{};
      own.sin_family = AF_INET;
      own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t length = sizeof own;
      EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), length), 0);
      EXPECT_EQ(::listen(socket.get(), 8), 0);
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length);
      port = ntohs(own.sin_port);
    }
    [[nodiscard]] config::Endpoint at() const { return {.host = "127.0.0.1", .port = port}; }
    [[nodiscard]] remote::TimedStream accept() const {
      return {Descriptor(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)), -1};
    }
    Descriptor socket;
    std::uint16_t port = 0;
  };

  std::unique_ptr<test::PrivateMunge> munge;
  std::unique_ptr<RemoteListener> listener;

 private:
  std::uint16_t port_ = 0;
};

}  // namespace shapley::daemon
