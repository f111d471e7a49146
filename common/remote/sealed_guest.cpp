#include "remote/sealed_guest.hpp"

#include <unistd.h>

#include "remote/addresses.hpp"

namespace shapley::remote {

Expected<SealedGuest> SealedGuest::greet(const TimedStream& stream, Munge munge, TimedStream::Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(std::string challenge, random_digits());
  SHAPLEY_TRY_ASSIGN(const Place here, own_end(stream.descriptor()));
  SHAPLEY_TRY(send_greeting(stream, {.challenge = challenge, .uid = ::geteuid()}, until));
  SealedMessage last;
  last.heading.challenge = std::move(challenge);
  last.heading.addressee = here.text();
  return SealedGuest(stream, std::move(munge), std::move(last));
}

Expected<SealedMessage> SealedGuest::next(TimedStream::Clock::time_point until) {
  constexpr std::size_t k_parts = 1;  // a part is far more than a question may have
  SHAPLEY_TRY_ASSIGN(SealedMessage question, receive_sealed(*stream_, munge_, Sealed::question, k_parts, until));
  const Heading& told = question.heading;
  Heading& last = last_.heading;
  if (told.challenge != last.challenge) return fail(Errc::denied, "a question of another conversation");
  if (told.addressee != last.addressee) {
    return fail(Errc::denied, "a question to " + told.addressee + ", and this is " + last.addressee +
                                  "; with translated addresses or forwarded ports between them nothing is answered");
  }
  if (told.number != last.number + 1) return fail(Errc::denied, "a question out of its turn");
  if (last.number == 0) {
    last = told;
    last_.uid = question.uid;
  }
  if (question.uid != last_.uid) return fail(Errc::denied, "questions of different users over one connection");
  if (told.nonce != last.nonce || told.cluster != last.cluster || told.ledger != last.ledger) {
    return fail(Errc::denied, "questions of different askers over one connection");
  }
  last.number = told.number;
  return question;
}

Expected<void> SealedGuest::answer(const SealedMessage& question, std::string_view text,
                                   TimedStream::Clock::time_point until) const {
  return send_sealed(*stream_, munge_, Sealed::answer, question.heading, text, question.uid, until);
}

}  // namespace shapley::remote
