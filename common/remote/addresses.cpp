#include "remote/addresses.hpp"

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

}  // namespace shapley::remote
