#include "config/endpoint.hpp"

#include <charconv>

namespace shapley::config {

Expected<Endpoint> parse_endpoint(std::string_view text) {
  const auto wrong = [] {
    return fail(Errc::invalid_argument, "write HOST:PORT, such as 10.0.0.2:7020 or [fd00::2]:7020");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  if (host.empty() || host.find_first_of(" \t\r\n/[]") != std::string_view::npos) return wrong();
  Endpoint endpoint{.host = std::string(host), .port = 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || endpoint.port == 0) return wrong();
  return endpoint;
}

}  // namespace shapley::config
