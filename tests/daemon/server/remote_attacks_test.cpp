// Attacks on the conversation over TCP: real sockets, a real munged, several users.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "remote/sealed.hpp"
#include "remote_fixture.hpp"

namespace shapley::daemon {
namespace {

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

  // As an asker who is told what to write in his heading. nullopt: the listener hangs up.
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
            .addressee = remote::other_end(stream.descriptor())->text(),
            .cluster = "",
            .ledger = ""};
  }
};

TEST_F(RemoteAttack, WithoutOneEverybodyIsAnswered) {
  EXPECT_TRUE(is_pong(ask(options())));
  as_user(k_alice, [&] { EXPECT_TRUE(is_pong(ask(options()))); });
  const TimedStream stream = connect_to(at());
  Heading heading = heading_of(stream);
  for (heading.number = 1; heading.number <= 3; ++heading.number) {
    EXPECT_TRUE(is_pong(answer_to(stream, heading).value_or("none"))) << heading.number;
  }
}

// Whoever has munge could open recorded questions and answers, root's about others' jobs included.
TEST_F(RemoteAttack, ABystanderOpensNeitherQuestionsNorAnswers) {
  const TimedStream stream = connect_to(at());
  const Heading heading = heading_of(stream);
  const std::string question = kept_question(k_alice, heading);
  ASSERT_TRUE(stream.send(question, soon()).has_value());
  const std::string answer = receive_block(stream);
  // His munged has opened neither, as another host's has not, nor this one's after a restart.
  const test::PrivateMunge elsewhere(directory / "elsewhere", munge.get());
  for (const std::string& block : {question, answer}) {
    as_user(k_bystander, [&] {
      const auto opened = Munge(elsewhere.socket()).open(credential_in(block));
      ASSERT_FALSE(opened.has_value()) << opened->text;
      EXPECT_NE(opened.error().what.find("Unauthorized"), std::string::npos) << opened.error().what;
    });
  }
  // The attack is none if nobody could open them.
  EXPECT_TRUE(Munge(elsewhere.socket()).open(credential_in(question)).has_value());
  as_user(k_alice, [&] { EXPECT_TRUE(Munge(elsewhere.socket()).open(credential_in(answer)).has_value()); });
}

// A question that its author sealed and somebody kept from the listener: munged has never seen it.
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
  // Sealed anew, so that munged does not know it either.
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

// Whoever listens on the dead controller's address relays questions back to the asker's own listener, which would seal
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
                       .addressee = remote::own_end(near.descriptor())->text(),
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

// Who names himself in the greeting, so that questions are sealed for him, is told none.
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

// Or who names a trusted one, and answers himself.
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
  const auto plugin = feeder();
  auto asked = options();
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
  const std::string follow =
      R"({"request":"follow","ledger":"","instance":"","sequence":0,"rows":1,"hash":")" + std::string(64, '0') + "\"}";
  // Root is past that, and hears that there is no other controller here.
  EXPECT_NE(ask(options(), follow).find("names no peer"), std::string::npos);
  as_user(k_alice, [&] {
    EXPECT_NE(ask(options(), follow).find("only root and slurm_user may ask 'follow'"), std::string::npos);
    EXPECT_NE(ask(options(), R"({"request":"status"})").find("\"organizations\""), std::string::npos);
  });
}

// Eight ordinary users held all 32 connections, and root was refused.
TEST_F(RemoteAttack, UsersWhoHoldAllTheyCanLeaveRootsPlaces) {
  // Nobody gives way, and nobody is too fast.
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
    EXPECT_TRUE(is_ended(stream)) << junk;
  }
  EXPECT_TRUE(is_pong(ask(options())));
}

}  // namespace
}  // namespace shapley::daemon
