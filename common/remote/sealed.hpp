// Messages over TCP, each sealed by munge: a text of any length in parts, each part a
// credential behind its length (four bytes, the highest first). A part's text begins with a line: what these
// credentials are for, so that none that was made for something else is taken for one; whether it is a question or an
// answer; the question's nonce, which its answer repeats; the number of the part, and of how many.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "remote/munge.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

enum class Sealed : char { question = 'q', answer = 'a' };

struct SealedMessage {
  std::string nonce;
  std::string text;
  uid_t uid = 0;  // of who sealed it, the same for all parts
};

inline constexpr std::size_t k_part_bytes = 256U << 10U;
// More than any answer has.
inline constexpr std::size_t k_most_answer_parts = 256;

[[nodiscard]] Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                         std::string_view nonce, std::string_view text,
                                         TimedStream::Clock::time_point until);
// At most so many parts. Errc::denied: not sealed by this cluster's munge, or not for this.
[[nodiscard]] Expected<SealedMessage> receive_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                                     std::size_t most_parts, TimedStream::Clock::time_point until);

}  // namespace shapley::remote
