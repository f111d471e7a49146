// The addresses of a host and port, and of the two ends of a connection.
#pragma once

#include <memory>
#include <string>

#include <netdb.h>

#include "base/error.hpp"
#include "config/endpoint.hpp"

namespace shapley::remote {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// At least one. Blocks as long as the resolver does. Errc::unavailable.
[[nodiscard]] Expected<Addresses> resolve(const config::Endpoint& endpoint);

// As numbers, without a zone; an IPv4 address is written as one, however the socket holds it.
struct Place {
  std::string host;  // "10.0.0.1", "fd00::2"
  std::string port;
  std::string network;  // of which one host may have all addresses: the host's own one of IPv4, 64 bits of IPv6
  [[nodiscard]] std::string text() const { return '[' + host + "]:" + port; }
};
// Of a connected socket. Errc::unavailable.
[[nodiscard]] Expected<Place> own_end(int socket);
[[nodiscard]] Expected<Place> other_end(int socket);
[[nodiscard]] Place place_of(const sockaddr_storage& address);

}  // namespace shapley::remote
