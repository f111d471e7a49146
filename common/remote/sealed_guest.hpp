// The listening side of a conversation over TCP (sealed.hpp): whoever connected is greeted, then asks. A question
// counts only in its own place: in this conversation (challenge), after the last one (number), by the same author, here
// (addressee).
#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"
#include "remote/munge.hpp"
#include "remote/sealed.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

class SealedGuest {
 public:
  // Greets. `stream` must outlive it.
  [[nodiscard]] static Expected<SealedGuest> greet(const TimedStream& stream, Munge munge,
                                                   TimedStream::Clock::time_point until);

  // The next question. After an error the conversation is over: Errc::unavailable, the asker is gone or silent; another
  // code: what came is refused, and the text says why.
  [[nodiscard]] Expected<SealedMessage> next(TimedStream::Clock::time_point until);
  // To the last question, for its author alone.
  [[nodiscard]] Expected<void> answer(const SealedMessage& question, std::string_view text,
                                      TimedStream::Clock::time_point until) const;

 private:
  SealedGuest(const TimedStream& stream, Munge munge, SealedMessage last)
      : stream_(&stream), munge_(std::move(munge)), last_(std::move(last)) {}

  const TimedStream* stream_;
  Munge munge_;
  SealedMessage last_;  // without its text
};

}  // namespace shapley::remote
