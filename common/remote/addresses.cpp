#include "remote/addresses.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace shapley::remote {

Expected<Addresses> resolve(const config::Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int error = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return fail(Errc::unavailable, endpoint.host + ": " + ::gai_strerror(error));
  return Addresses(found);
}

namespace {

std::string host_text(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

}  // namespace

Place place_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    const std::string host = host_text(AF_INET, &v4.sin_addr);
    return {.host = host, .port = std::to_string(ntohs(v4.sin_port)), .network = host};
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  const std::string port = std::to_string(ntohs(v6.sin6_port));
  auto* const bytes = v6.sin6_addr.s6_addr;
  constexpr std::size_t k_v4_at = 12;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    const std::string host = host_text(AF_INET, bytes + k_v4_at);
    return {.host = host, .port = port, .network = host};
  }
  std::string host = host_text(AF_INET6, bytes);
  constexpr std::size_t k_network_bytes = 8;
  std::memset(bytes + k_network_bytes, 0, sizeof v6.sin6_addr - k_network_bytes);
  return {.host = std::move(host), .port = port, .network = host_text(AF_INET6, bytes)};
}

namespace {

Expected<Place> end_of(int socket, int (*name)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (name(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return system_failure("address of a connection", errno, Errc::unavailable);
  }
  return place_of(address);
}

}  // namespace

Expected<Place> own_end(int socket) {
  return end_of(socket, ::getsockname);
}

Expected<Place> other_end(int socket) {
  return end_of(socket, ::getpeername);
}

}  // namespace shapley::remote
