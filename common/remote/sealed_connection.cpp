#include "remote/sealed_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "remote/addresses.hpp"

namespace shapley::remote {

namespace {

using Clock = TimedStream::Clock;

}  // namespace

// Who is not trusted is asked nothing: the question, which is sealed for the user that the greeting names, would tell
// him what it is.
Expected<SealedConnection> SealedConnection::meet(TimedStream stream, const Options& options, Clock::time_point until) {
  auto greeting = receive_greeting(stream, until);
  if (!greeting && greeting.error().code == Errc::unavailable) {
    return fail(Errc::limit, "does not answer: it hangs up; its log may say why");
  }
  if (!greeting) return away(greeting.error().what);
  if (greeting->uid != 0 && std::ranges::find(options.trusted, greeting->uid) == options.trusted.end()) {
    return away("who answers there has uid " + std::to_string(greeting->uid) + ", which is not trusted to");
  }
  SHAPLEY_TRY_ASSIGN(std::string nonce, random_digits());
  SHAPLEY_TRY_ASSIGN(const Place there, other_end(stream.descriptor()));
  return SealedConnection(std::move(stream), Munge(options.munge), greeting->uid,
                          {.challenge = std::move(greeting->challenge),
                           .nonce = std::move(nonce),
                           .number = 0,
                           .addressee = there.text(),
                           .cluster = options.cluster,
                           .ledger = options.ledger});
}

Expected<SealedConnection> SealedConnection::connect(const Options& options, Clock::time_point until) {
  auto addresses = resolve(options.endpoint);
  if (!addresses) return away(addresses.error().what);
  Error last{Errc::unavailable, "it has no address"};
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    Descriptor descriptor(
        ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol));
    if (!descriptor.is_open()) return away(std::strerror(errno));
    const int on = 1;
    ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    TimedStream stream(std::move(descriptor), options.wake_up);
    const auto connected = stream.connect_to(address->ai_addr, address->ai_addrlen, until);
    if (connected) return meet(std::move(stream), options, until);
    last = connected.error();
  }
  return tl::unexpected<Error>(last);
}

Expected<SealedConnection> SealedConnection::open(const Options& options, Clock::time_point until) {
  constexpr std::chrono::milliseconds k_pause{200};
  while (true) {
    auto connection = connect(options, until);
    if (connection || connection.error().code != Errc::limit) return connection;
    if (Clock::now() + k_pause >= until) return fail(Errc::unavailable, connection.error().what);
    SHAPLEY_TRY(wait_for(-1, 0, options.wake_up, Clock::now() + k_pause));
  }
}

Expected<std::string> SealedConnection::ask(const std::string& request, Clock::time_point until) {
  ++heading_.number;
  SHAPLEY_TRY(send_sealed(stream_, munge_, Sealed::question, heading_, request, other_, until));
  SHAPLEY_TRY_ASSIGN(SealedMessage answer, receive_sealed(stream_, munge_, Sealed::answer, k_most_answer_parts, until));
  if (answer.heading != heading_) return away("its answer is to another question");
  if (answer.uid != other_) {
    return away("who answers there has uid " + std::to_string(answer.uid) + ", not uid " + std::to_string(other_) +
                " who greeted");
  }
  return std::move(answer.text);
}

}  // namespace shapley::remote
