#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/controllers/addresses.hpp"
#include "daemon/controllers/peer_connection.hpp"
#include "daemon/controllers/sealed.hpp"

namespace shapley::daemon {

namespace {

using Clock = TimedStream::Clock;

Expected<std::string> make_nonce() {
  std::array<std::uint64_t, 2> bits{};
  if (::getrandom(bits.data(), sizeof bits, 0) != sizeof bits) return away(std::strerror(errno));
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

class TcpConnection : public PeerConnection {
 public:
  TcpConnection(TimedStream stream, Munge munge) : stream_(std::move(stream)), munge_(std::move(munge)) {}

  Expected<std::string> ask(const std::string& request, Clock::time_point until) override {
    SHAPLEY_TRY_ASSIGN(const std::string nonce, make_nonce());
    SHAPLEY_TRY(send_sealed(stream_, munge_, Sealed::question, nonce, request, until));
    SHAPLEY_TRY_ASSIGN(SealedMessage answer,
                       receive_sealed(stream_, munge_, Sealed::answer, k_most_answer_parts, until));
    if (answer.nonce != nonce) return away("its answer is to another question");
    if (answer.uid != 0 && answer.uid != ::geteuid()) {
      return away(fmt::format("who answers there has uid {}, neither root nor this daemon's user", answer.uid));
    }
    return std::move(answer.text);
  }

 private:
  TimedStream stream_;
  Munge munge_;
};

}  // namespace

Expected<std::unique_ptr<PeerConnection>> connect_by_tcp(const config::Endpoint& endpoint,
                                                         const std::filesystem::path& munge, int wake_up,
                                                         Clock::time_point until) {
  auto addresses = resolve(endpoint);
  if (!addresses) return away(addresses.error().what);
  Error last{Errc::unavailable, "it has no address"};
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    Descriptor descriptor(
        ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol));
    if (!descriptor.is_open()) return away(std::strerror(errno));
    const int on = 1;
    ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    TimedStream stream(std::move(descriptor), wake_up);
    const auto connected = stream.connect_to(address->ai_addr, address->ai_addrlen, until);
    if (connected) return std::make_unique<TcpConnection>(std::move(stream), Munge(munge));
    last = connected.error();
  }
  return tl::unexpected<Error>(last);
}

}  // namespace shapley::daemon
