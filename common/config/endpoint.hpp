// HOST:PORT, as the configuration names where to listen or connect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley::config {

struct Endpoint {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// An IPv6 address stands in brackets: [::1]:7020. Errc::invalid_argument, with the remedy.
[[nodiscard]] Expected<Endpoint> parse_endpoint(std::string_view text);

}  // namespace shapley::config
