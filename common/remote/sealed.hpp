// A conversation over TCP: a greeting by the listener, then questions and answers, one at a time, each sealed by munge
// for its reader alone. Each is a block behind its length (four bytes, the highest first); a text of any length comes
// in parts, each a credential.
//
// The greeting is not sealed: "shapley-tcp-2 CHALLENGE UID", the listener's random number, new for each connection, and
// the user for which questions are to be sealed. A credential begins with a line (docs/reference/protocol.md): its
// purpose, so that a credential made for something else is not accepted; whether it is a question or an answer; the
// heading (below), which an answer repeats; the number of the part, and the number of parts.
//
// A question that is not sealed as it should be is refused by the block "shapley-tcp-2 refused", which is not sealed:
// who asks, and munge with another key or another clock, cannot know it otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "config/values.hpp"
#include "remote/munge.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

enum class Sealed : char { question = 'q', answer = 'a' };

// Binds a question to one place in one conversation, and an answer to its question.
struct Heading {
  std::string challenge;     // the listener's: a recording of another conversation does not match it
  std::string nonce;         // the asker's random number, for the same reason
  std::uint64_t number = 0;  // of the question in the conversation, from 1
  std::string addressee;     // address and port to which the asker has connected
  std::string cluster;       // ClusterName of the books that are asked; empty: not known
  std::string ledger;        // their ledger's identity, likewise
  friend bool operator==(const Heading&, const Heading&) = default;
};
SHAPLEY_DESCRIBE(Heading, challenge, nonce, number, addressee, cluster, ledger);

struct SealedMessage {
  Heading heading;
  std::string text;
  uid_t uid = 0;  // of the user who sealed it, the same for all parts
};

struct Greeting {
  std::string challenge;
  uid_t uid = 0;
};

// 128 random bits in hexadecimal digits.
[[nodiscard]] Expected<std::string> random_digits();

[[nodiscard]] Expected<void> send_greeting(const TimedStream& stream, const Greeting& greeting,
                                           TimedStream::Clock::time_point until);
// Errc::denied: it is no greeting.
[[nodiscard]] Expected<Greeting> receive_greeting(const TimedStream& stream, TimedStream::Clock::time_point until);

[[nodiscard]] Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                         const Heading& heading, std::string_view text, uid_t reader,
                                         TimedStream::Clock::time_point until);
// At most so many parts. Errc::denied: munge does not open it for us, or the listener refuses the question.
// Errc::protocol: it is no credential, or one for another purpose.
[[nodiscard]] Expected<SealedMessage> receive_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                                     std::size_t most_parts, TimedStream::Clock::time_point until);

// The asking side: a connection to a shapleyd that has `listen`, and questions over it.
class SealedConnection {
 public:
  struct Options {
    config::Endpoint endpoint;
    std::filesystem::path munge;  // munged's socket; empty: where libmunge looks for it
    int wake_up = -1;             // becomes readable when everything is to end; -1: no such descriptor
    std::vector<uid_t> trusted;   // users that may be asked, and whose answers count, besides root
    bool trusts_any = false;      // every user may: what is asked is no secret, and the answer is signed otherwise
    std::string cluster = {};     // ClusterName and ledger's identity that the other side must have; empty: any
    std::string ledger = {};
  };
  // Tries again as long as the other side has no place for us. Errors: Errc::unavailable, it cannot be reached, or it
  // runs as an untrusted user, and nothing was sent; the text says why.
  [[nodiscard]] static Expected<SealedConnection> open(const Options& options, TimedStream::Clock::time_point until);

  // After an error the connection is unusable. Errc::unavailable: there is no answer, or none to this question by the
  // user who greeted; Errc::denied: the listener refuses the question, or munge the answer.
  [[nodiscard]] Expected<std::string> ask(std::string_view request, TimedStream::Clock::time_point until);

 private:
  SealedConnection(TimedStream stream, Munge munge, uid_t other, Heading heading)
      : stream_(std::move(stream)), munge_(std::move(munge)), other_(other), heading_(std::move(heading)) {}
  [[nodiscard]] static Expected<SealedConnection> meet(TimedStream stream, const Options& options,
                                                       TimedStream::Clock::time_point until);

  TimedStream stream_;
  Munge munge_;
  uid_t other_;
  Heading heading_;  // of the last question
};

// The listening side: a client that connects is greeted, then asks. A question counts only in its own place: in this
// conversation (challenge), after the last one (number), by the same author, here (addressee).
class SealedGuest {
 public:
  // Greets. `stream` must outlive it.
  [[nodiscard]] static Expected<SealedGuest> greet(const TimedStream& stream, Munge munge,
                                                   TimedStream::Clock::time_point until);

  // The next question. After an error the conversation is over: Errc::unavailable, the asker is gone or silent; with
  // another code the question is refused, and the text says why.
  [[nodiscard]] Expected<SealedMessage> next(TimedStream::Clock::time_point until);
  // Answers the last question, for its author alone.
  [[nodiscard]] Expected<void> answer(std::string_view text, TimedStream::Clock::time_point until) const {
    return send_sealed(*stream_, munge_, Sealed::answer, heading_, text, uid_, until);
  }

 private:
  SealedGuest(const TimedStream& stream, Munge munge, Heading heading)
      : stream_(&stream), munge_(std::move(munge)), heading_(std::move(heading)) {}

  const TimedStream* stream_;
  Munge munge_;
  Heading heading_;  // of the last question, as is
  uid_t uid_ = 0;    // its author
};

}  // namespace shapley::remote
