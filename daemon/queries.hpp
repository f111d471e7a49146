// Answers to readers' requests: JSON text in, JSON text out. docs/reference/protocol.md, "Queries", lists them.
//
// Never fails: what cannot be answered is answered with {"error": {"code": ..., "what": ...}}.
#pragma once

#include <string>
#include <string_view>

#include "base/types.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

[[nodiscard]] std::string answer(Service& service, std::string_view request, Instant now);

}  // namespace shapley::daemon
