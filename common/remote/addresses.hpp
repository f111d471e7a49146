// The addresses of a host and port.
#pragma once

#include <memory>

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

}  // namespace shapley::remote
