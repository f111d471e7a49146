#include "remote/sealed_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "remote/addresses.hpp"
#include "remote/sealed.hpp"

namespace shapley::remote {

namespace {

using Clock = TimedStream::Clock;

// 128 random bits in hexadecimal digits.
Expected<std::string> make_nonce() {
  constexpr std::string_view k_digits = "0123456789abcdef";
  constexpr unsigned k_bits = 4;
  constexpr unsigned k_low = 0xF;
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return away(std::strerror(errno));
  }
  std::string nonce;
  for (const unsigned char byte : bytes) nonce += {k_digits[byte >> k_bits], k_digits[byte & k_low]};
  return nonce;
}

}  // namespace

Expected<SealedConnection> SealedConnection::open(const Options& options, Clock::time_point until) {
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
    if (connected) return SealedConnection(std::move(stream), Munge(options.munge), options.trusted);
    last = connected.error();
  }
  return tl::unexpected<Error>(last);
}

Expected<std::string> SealedConnection::ask(const std::string& request, Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(const std::string nonce, make_nonce());
  SHAPLEY_TRY(send_sealed(stream_, munge_, Sealed::question, nonce, request, until));
  SHAPLEY_TRY_ASSIGN(SealedMessage answer, receive_sealed(stream_, munge_, Sealed::answer, k_most_answer_parts, until));
  if (answer.nonce != nonce) return away("its answer is to another question");
  if (answer.uid != 0 && std::ranges::find(trusted_, answer.uid) == trusted_.end()) {
    return away("who answers there has uid " + std::to_string(answer.uid) + ", which is not trusted to");
  }
  return std::move(answer.text);
}

}  // namespace shapley::remote
