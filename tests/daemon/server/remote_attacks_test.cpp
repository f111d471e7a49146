// Attacks on the conversation over TCP: real sockets, a real munged, several users.
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/server/remote_listener.hpp"
#include "remote/sealed.hpp"
#include "rpc_client/client.hpp"
#include "server_fixture.hpp"
#include "tests/support/private_munge.hpp"

namespace shapley::daemon {
namespace {

// A server with a listener for TCP, a munged of its own, and askers that are any user.

constexpr uid_t k_alice = 61001;
constexpr uid_t k_bystander = 61002;

// Linux keeps users per thread; who connects to munged's socket is the thread's.
void as_user(uid_t uid, const std::function<void()>& act) {
  const test::Deadline deadline("what another user does");
  std::thread([&] {
    EXPECT_EQ(::syscall(SYS_setresuid, uid, uid, uid), 0);
    act();
  }).join();
}

remote::TimedStream::Clock::time_point soon() {
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

  // On a free port; another process may have taken it by then, so that it is tried again.
  void listen(const RemotePlaces::Limits& places, std::chrono::milliseconds patience = test::k_timeout) {
    std::string fault;
    ASSERT_TRUE(test::eventually([&] {
      listener.reset();
      auto opened = RemoteListener::open({.at = {.host = "127.0.0.1", .port = free_port()},
                                          .socket = site.configuration.socket,
                                          .munge = munge->socket(),
                                          .slurm_uid = 0,
                                          .places = places,
                                          .first_question = patience,
                                          .next_question = patience,
                                          .answer = test::k_timeout,
                                          .report = test::k_timeout});
      if (opened) {
        listener = std::move(*opened);
      } else {
        fault = opened.error().what;
      }
      return opened.has_value();
    })) << fault;
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
    EXPECT_TRUE(connected) << connected.error().what;
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

using remote::Heading;
using remote::Munge;
using remote::Sealed;
using remote::SealedConnection;
using remote::TimedStream;

constexpr const char* k_ping = R"({"request":"ping"})";

// A block as it goes over the wire, with its length.
std::string receive_block(const TimedStream& stream) {
  std::array<char, 4> length{};
  if (!stream.receive_all(length, soon())) return {};
  std::size_t size = 0;
  for (const char byte : length) size = size << 8U | static_cast<unsigned char>(byte);
  std::string block(length.data(), length.size());
  block.resize(length.size() + size);
  EXPECT_TRUE(stream.receive_all({block.data() + length.size(), size}, soon()).has_value());
  return block;
}
std::string credential_in(const std::string& block) {
  return block.substr(4);
}

class RemoteAttack : public RemoteTest {
 protected:
  // A question as its author would send it, which the listener never gets.
  std::string kept_question(uid_t author, const Heading& heading) {
    std::string question;
    as_user(author, [&] {
      const Listening wire;
      const TimedStream near = connect_to(wire.at());
      const Munge own(munge->socket());
      ASSERT_TRUE(remote::send_sealed(near, own, Sealed::question, heading, k_ping, 0, soon()).has_value());
      question = receive_block(wire.accept());
    });
    return question;
  }

  // As an asker that writes the given heading. nullopt: the listener hangs up.
  std::optional<std::string> answer_to(const TimedStream& stream, const Heading& heading) {
    EXPECT_TRUE(
        remote::send_sealed(stream, Munge(munge->socket()), Sealed::question, heading, k_ping, 0, soon()).has_value());
    auto answer = remote::receive_sealed(stream, Munge(munge->socket()), Sealed::answer, 1, soon());
    if (!answer) return std::nullopt;
    EXPECT_EQ(answer->heading, heading);
    return answer->text;
  }
  Heading heading_of(const TimedStream& stream) {
    const auto greeting = remote::receive_greeting(stream, soon());
    EXPECT_TRUE(greeting.has_value());
    return {.challenge = greeting->challenge,
            .nonce = "0",
            .number = 1,
            .addressee = *remote::other_end(stream.descriptor()),
            .cluster = "",
            .ledger = ""};
  }
};

TEST_F(RemoteAttack, WithoutOneAllAreAnswered) {
  EXPECT_TRUE(is_pong(ask(options())));
  as_user(k_alice, [&] { EXPECT_TRUE(is_pong(ask(options()))); });
  const TimedStream stream = connect_to(at());
  Heading heading = heading_of(stream);
  for (heading.number = 1; heading.number <= 3; ++heading.number) {
    EXPECT_TRUE(is_pong(answer_to(stream, heading).value_or("none"))) << heading.number;
  }
}

// Any user of munge could open recorded questions and answers, root's about others' jobs included.
TEST_F(RemoteAttack, ABystanderOpensNeitherQuestionsNorAnswers) {
  const TimedStream stream = connect_to(at());
  const Heading heading = heading_of(stream);
  const std::string question = kept_question(k_alice, heading);
  ASSERT_TRUE(stream.send(question, soon()).has_value());
  const std::string answer = receive_block(stream);
  // The bystander's munged has opened neither, as another host's has not, nor this one's after a restart.
  const test::PrivateMunge elsewhere(directory / "elsewhere", munge.get());
  for (const std::string& block : {question, answer}) {
    as_user(k_bystander, [&] {
      const auto opened = Munge(elsewhere.socket()).open(credential_in(block));
      ASSERT_FALSE(opened.has_value()) << opened->text;
      EXPECT_NE(opened.error().what.find("Unauthorized"), std::string::npos) << opened.error().what;
    });
  }
  // The test would show nothing if they could not be opened at all.
  EXPECT_TRUE(Munge(elsewhere.socket()).open(credential_in(question)).has_value());
  as_user(k_alice, [&] { EXPECT_TRUE(Munge(elsewhere.socket()).open(credential_in(answer)).has_value()); });
}

// A question that its author sealed and an attacker kept from the listener: munged has never seen it.
TEST_F(RemoteAttack, AQuestionOfAnotherConversationIsRefused) {
  const TimedStream past = connect_to(at());
  const std::string question = kept_question(k_alice, heading_of(past));
  const TimedStream stream = connect_to(at());
  receive_block(stream);
  ASSERT_TRUE(stream.send(question, soon()).has_value());
  EXPECT_TRUE(is_ended(stream));
}

TEST_F(RemoteAttack, AQuestionThatWasAnsweredIsRefusedTheSecondTime) {
  const TimedStream stream = connect_to(at());
  const Heading heading = heading_of(stream);
  EXPECT_TRUE(answer_to(stream, heading).has_value());
  // Sealed again, so that munged does not know it either.
  EXPECT_FALSE(answer_to(stream, heading).has_value());
}

TEST_F(RemoteAttack, AQuestionOutOfItsTurnIsRefused) {
  const TimedStream stream = connect_to(at());
  Heading heading = heading_of(stream);
  heading.number = 2;
  EXPECT_FALSE(answer_to(stream, heading).has_value());
}

TEST_F(RemoteAttack, AQuestionOfAnotherUserInTheConversationIsRefused) {
  const TimedStream stream = connect_to(at());
  Heading heading = heading_of(stream);
  EXPECT_TRUE(answer_to(stream, heading).has_value());
  ++heading.number;
  as_user(k_bystander, [&] { EXPECT_FALSE(answer_to(stream, heading).has_value()); });
}

// An attacker on the dead controller's address relays questions back to the asker's own listener, which would seal
// an answer by the user who is trusted.
TEST_F(RemoteAttack, AReflectedQuestionIsNotAnswered) {
  const Listening dead;
  std::optional<std::string> answered;
  std::thread relay([&] {
    const TimedStream near = dead.accept();
    const TimedStream far = connect_to(at());
    EXPECT_TRUE(near.send(receive_block(far), soon()).has_value());
    EXPECT_TRUE(far.send(receive_block(near), soon()).has_value());
    answered = receive_block(far);
  });
  auto asked = options();
  asked.endpoint = dead.at();
  const std::string answer = ask(asked);
  relay.join();
  EXPECT_EQ(answered, std::string());
  EXPECT_FALSE(is_pong(answer)) << answer;
}

// The direction: a question that comes back is no answer, though its author may open it and is trusted.
TEST_F(RemoteAttack, AQuestionThatComesBackIsNoAnswer) {
  const Listening mirror;
  std::thread attacker([&] {
    const TimedStream near = mirror.accept();
    EXPECT_TRUE(remote::send_greeting(near, {.challenge = "0", .uid = 0}, soon()).has_value());
    EXPECT_TRUE(near.send(receive_block(near), soon()).has_value());
    is_ended(near);
  });
  auto asked = options();
  asked.endpoint = mirror.at();
  EXPECT_NE(ask(asked).find("not for shapleyd"), std::string::npos);
  attacker.join();
}

// An answer of before, with the greeting of before: munged of another host has not seen it.
TEST_F(RemoteAttack, AnAnswerOfAnotherConversationIsRefused) {
  const Listening wire;
  std::thread attacker([&] {
    const TimedStream near = wire.accept();
    EXPECT_TRUE(remote::send_greeting(near, {.challenge = "0", .uid = 0}, soon()).has_value());
    receive_block(near);
    // What root's shapleyd sealed then, to the question of the same number in a conversation of the same challenge.
    const Heading then{.challenge = "0",
                       .nonce = "0",
                       .number = 1,
                       .addressee = *remote::own_end(near.descriptor()),
                       .cluster = "",
                       .ledger = ""};
    EXPECT_TRUE(remote::send_sealed(near, Munge(munge->socket()), Sealed::answer, then, R"({"pong":"old"})", 0, soon())
                    .has_value());
    is_ended(near);
  });
  auto asked = options();
  asked.endpoint = wire.at();
  EXPECT_NE(ask(asked).find("its answer is to another question"), std::string::npos);
  attacker.join();
}

// A listener whose greeting names its own user, so that questions are sealed for that user, gets no question.
TEST_F(RemoteAttack, AListenerWhoIsNotTrustedIsAskedNothing) {
  const Listening liar;
  std::string told = "something";
  std::thread attacker([&] {
    const TimedStream near = liar.accept();
    EXPECT_TRUE(remote::send_greeting(near, {.challenge = "0", .uid = k_bystander}, soon()).has_value());
    told = receive_block(near);
  });
  auto asked = options();
  asked.endpoint = liar.at();
  EXPECT_NE(ask(asked).find("has uid 61002, which is not trusted to"), std::string::npos);
  attacker.join();
  EXPECT_EQ(told, "");
}

// Over a Unix socket the kernel names the user that listens.
TEST_F(RemoteAttack, AListenerOnASocketWhoIsNotTrustedIsAskedNothing) {
  const std::filesystem::path open_to_all = directory / "open";
  std::filesystem::create_directory(open_to_all);
  std::filesystem::permissions(open_to_all, std::filesystem::perms::all);
  const std::string path = (open_to_all / "sock").string();
  Descriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  as_user(k_bystander, [&] {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening.get(), 1), 0);
  });
  const auto connected = rpc_client::connect({.socket = path, .trusted = {::geteuid()}}, soon());
  ASSERT_FALSE(connected.has_value());
  EXPECT_NE(connected.error().what.find("has uid 61002, which is not trusted to"), std::string::npos)
      << connected.error().what;
  const Descriptor accepted(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  char byte = 0;
  EXPECT_EQ(::recv(accepted.get(), &byte, 1, 0), 0);
}

// A statement of another cluster is signed, and no secret: whatever number that site's user of shapleyd has, it is
// asked.
TEST_F(RemoteAttack, AListenerOfAnyUserIsAskedForWhatIsSigned) {
  const Listening elsewhere;
  std::thread other([&] {
    as_user(k_bystander, [&] {
      const TimedStream stream = elsewhere.accept();
      auto guest = remote::SealedGuest::greet(stream, Munge(munge->socket()), soon());
      ASSERT_TRUE(guest.has_value());
      EXPECT_TRUE(guest->next(soon()).has_value());
      EXPECT_TRUE(guest->answer(R"({"pong":"elsewhere"})", soon()).has_value());
    });
  });
  auto asked = options();
  asked.endpoint = elsewhere.at();
  asked.trusts_any = true;
  as_user(k_alice, [&] { EXPECT_TRUE(is_pong(ask(asked))); });
  other.join();
}

// Two hosts that do not share what munge needs.
TEST_F(RemoteAttack, AnotherKeyAndAnotherClockAreNamedAsTheCause) {
  const test::PrivateMunge other_key(directory / "key");
  const test::PrivateMunge ahead(directory / "ahead", munge.get(), STEPPED_CLOCK, 1000);
  const test::PrivateMunge behind(directory / "behind", munge.get(), STEPPED_CLOCK, -1000);
  for (const test::PrivateMunge* here : {&other_key, &ahead, &behind}) {
    auto asked = options();
    asked.munge = here->socket();
    const std::string said = ask(asked);
    EXPECT_EQ(said,
              "refuses what it is asked: its munge has another key, or its clock differs by a minute or more; its log "
              "says which");
  }
  const auto why = [&](const test::PrivateMunge& here) {
    const auto opened = Munge(munge->socket()).open(Munge(here.socket()).seal("a", 0).value());
    return opened ? std::string("opened") : opened.error().what;
  };
  EXPECT_NE(why(other_key).find("; the other host's munge has another key"), std::string::npos) << why(other_key);
  EXPECT_NE(why(ahead).find("; the clock here is behind the other host's"), std::string::npos) << why(ahead);
  EXPECT_NE(why(behind).find("the clock here is ahead of the other host's"), std::string::npos) << why(behind);
}

// Of two controllers the standby refuses, or does not listen.
TEST_F(RemoteAttack, OfSeveralPlacesTheFirstOneWithAnAnswerCounts) {
  const auto fetched = [&](const std::string& places, const std::string& request) {
    return rpc_client::fetch(places, {{"request", request}},
                             {.socket = {}, .munge = munge->socket(), .trusts_any = true}, 1000);
  };
  const std::string here = "127.0.0.1:" + std::to_string(at().port);
  const auto second = fetched("127.0.0.1:1, " + here, "ping");
  EXPECT_TRUE(second && is_pong(*second)) << second.error().what;
  const auto none = fetched("127.0.0.1:1, " + here, "standing");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().what.find("127.0.0.1:1 "), std::string::npos) << none.error().what;
  EXPECT_NE(none.error().what.find("; shapleyd: "), std::string::npos) << none.error().what;
}

// A listener whose greeting names a trusted user, and whose answers are of its own user.
TEST_F(RemoteAttack, AnAnswerOfAnotherUserIsRefused) {
  const Listening liar;
  std::thread attacker([&] {
    const TimedStream near = liar.accept();
    EXPECT_TRUE(remote::send_greeting(near, {.challenge = "0", .uid = 0}, soon()).has_value());
    auto question = remote::receive_sealed(near, Munge(munge->socket()), Sealed::question, 1, soon());
    ASSERT_TRUE(question.has_value()) << question.error().what;
    as_user(k_bystander, [&] {
      EXPECT_TRUE(remote::send_sealed(near, Munge(munge->socket()), Sealed::answer, question->heading,
                                      R"({"pong":"mine"})", k_alice, soon())
                      .has_value());
    });
    is_ended(near);
  });
  auto asked = options();
  asked.endpoint = liar.at();
  asked.trusted = {0};
  as_user(k_alice, [&] { EXPECT_NE(ask(asked).find("who answers there has uid 61002"), std::string::npos); });
  attacker.join();
}

TEST_F(RemoteAttack, AQuestionToAnotherClusterOrLedgerIsRefused) {
  auto asked = options();
  asked.cluster = "another";
  EXPECT_NE(ask(asked).find("no slurmctld has fed the books here yet, so it is not known whether they are those of "
                            "another"),
            std::string::npos);
  asked.cluster = "";
  EXPECT_TRUE(is_pong(ask(asked)));
  const auto plugin = feeder();
  asked.cluster = "another";
  const std::string other_cluster = ask(asked);
  EXPECT_NE(other_cluster.find("the books here are those of cluster"), std::string::npos) << other_cluster;
  asked.cluster = feeder_hello(1).cluster;
  EXPECT_TRUE(is_pong(ask(asked)));
  asked.ledger = "another";
  EXPECT_NE(ask(asked).find("the ledger here is"), std::string::npos);
  asked.ledger = *ledger::Ledger::open(site.configuration.ledger, ledger::OpenMode::read_only)->identity();
  EXPECT_TRUE(is_pong(ask(asked)));
}

// Over TCP nothing is changed, not by root either.
TEST_F(RemoteAttack, RootOfAnotherHostChangesNothing) {
  for (const char* request : {R"({"request":"adjust","reason":"x","attribute":{"job":1,"into":"physics"}})",
                              R"({"request":"rename_cluster","cluster":"mine","reason":"mine"})",
                              R"({"request":"upkeep","done":"audit","sequence":1,"hash":"00","clean":true})"}) {
    EXPECT_NE(ask(options(), request).find("on shapleyd's own host"), std::string::npos) << request;
  }
}

TEST_F(RemoteAttack, AnOrdinaryUserMayReadTheBooksNotCopyThem) {
  const std::string zero = R"({"sequence":0,"hash":")" + std::string(64, '0') + "\"}";
  const std::string follow =
      R"({"request":"follow","ledger":"","instance":"","rows":1,"position":)" + zero + R"(,"began":)" + zero + "}";
  // Root is past that, and hears that there is no other controller here.
  EXPECT_NE(ask(options(), follow).find("names no peer"), std::string::npos);
  as_user(k_alice, [&] {
    EXPECT_NE(ask(options(), follow).find("only root and slurm_user may ask 'follow'"), std::string::npos);
    EXPECT_NE(ask(options(), R"({"request":"status"})").find("\"organizations\""), std::string::npos);
  });
}

// Eight ordinary users held all 32 connections, and root was refused.
TEST_F(RemoteAttack, UsersWhoHoldAllTheyCanLeaveRootsPlaces) {
  // No connection gives way, and none is too fast.
  const RemotePlaces::Limits k_limits{.strangers_silence = test::k_timeout, .silence = test::k_timeout, .burst = 1000};
  listen(k_limits);
  std::vector<SealedConnection> held;
  constexpr uid_t k_users = 10;
  for (uid_t user = 0; user < k_users; ++user) {
    as_user(k_alice + user, [&] {
      for (int i = 0; i < 8; ++i) {
        auto connection = SealedConnection::open(options(), soon());
        ASSERT_TRUE(connection.has_value()) << connection.error().what;
        std::ignore = connection->ask(k_ping, soon());
        held.push_back(*std::move(connection));
      }
    });
  }
  for (std::size_t i = 0; i < k_limits.known - k_limits.users; ++i) {
    auto connection = SealedConnection::open(options(), soon());
    ASSERT_TRUE(connection.has_value()) << connection.error().what;
    EXPECT_TRUE(is_pong(connection->ask(k_ping, soon()).value_or("none"))) << i;
    held.push_back(*std::move(connection));
  }
}

// Silent connections of one address in any number: another address is served.
TEST_F(RemoteAttack, SilentConnectionsKeepNoOtherHostOut) {
  std::vector<TimedStream> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connect_to(at(), "127.0.0.66"));
  EXPECT_TRUE(is_pong(ask(options())));
  as_user(k_alice, [&] { EXPECT_TRUE(is_pong(ask(options()))); });
}

TEST_F(RemoteAttack, WhatIsNoCredentialEndsTheConnection) {
  for (const std::string& junk :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string("\0\0\0\0", 4), std::string("\xff\xff\xff\xff", 4),
        std::string("\0\0\0\x05junk!", 9), std::string("\0\0\0\x09MUNGE:x:", 12) + ':'}) {
    const TimedStream stream = connect_to(at());
    receive_block(stream);
    ASSERT_TRUE(stream.send(junk, soon()).has_value());
    // Of these only one goes to munge, whose word is passed on.
    if (junk.find("MUNGE:") != std::string::npos) {
      EXPECT_EQ(credential_in(receive_block(stream)), "shapley-tcp-2 refused");
    }
    EXPECT_TRUE(is_ended(stream)) << junk;
  }
  EXPECT_TRUE(is_pong(ask(options())));
}

}  // namespace
}  // namespace shapley::daemon
