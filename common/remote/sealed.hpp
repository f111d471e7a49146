// Messages over TCP: a greeting by the listener, then questions and answers, each sealed by munge for its reader alone.
// Each is a block behind its length (four bytes, the highest first); a text of any length comes in parts, each a
// credential.
//
// The greeting is not sealed: "shapley-tcp-2 CHALLENGE UID", the listener's random number, new for each connection, and
// the user for whom questions are to be sealed. A credential begins with a line: what it is for, so that none that was
// made for something else is taken for one; whether it is a question or an answer; the heading (below), which an answer
// repeats; the number of the part, and of how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "remote/munge.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

enum class Sealed : char { question = 'q', answer = 'a' };

// What binds a question to one place in one conversation, and its answer to it.
struct Heading {
  std::string challenge;     // the listener's: what was recorded in another conversation is none of this one
  std::string nonce;         // the asker's random number, for the same reason on his side
  std::uint64_t number = 0;  // of the question in the conversation, from 1
  std::string addressee;     // address and port to which the asker has connected
  std::string cluster;       // ClusterName of the books that are asked; empty: the asker knows none
  std::string ledger;        // their ledger's identity, likewise
  friend bool operator==(const Heading&, const Heading&) = default;
};

struct SealedMessage {
  Heading heading;
  std::string text;
  uid_t uid = 0;  // of who sealed it, the same for all parts
};

inline constexpr std::size_t k_part_bytes = 256U << 10U;
// More than any answer has.
inline constexpr std::size_t k_most_answer_parts = 256;

struct Greeting {
  std::string challenge;
  uid_t uid = 0;
};

// 128 random bits in hexadecimal digits.
[[nodiscard]] Expected<std::string> random_digits();

[[nodiscard]] Expected<void> send_greeting(const TimedStream& stream, const Greeting& greeting,
                                           TimedStream::Clock::time_point until);
// Errc::denied: it is none.
[[nodiscard]] Expected<Greeting> receive_greeting(const TimedStream& stream, TimedStream::Clock::time_point until);

// Errc::invalid_argument: a name in the heading has a blank.
[[nodiscard]] Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                         const Heading& heading, std::string_view text, uid_t reader,
                                         TimedStream::Clock::time_point until);
// At most so many parts. Errc::denied: not sealed by this cluster's munge for us, or not for this.
[[nodiscard]] Expected<SealedMessage> receive_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                                     std::size_t most_parts, TimedStream::Clock::time_point until);

}  // namespace shapley::remote
