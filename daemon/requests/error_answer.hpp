// How a request is answered that cannot be: {"error": {"code": ..., "what": ...}} as text.
#pragma once

#include <string>

#include "base/error.hpp"

namespace shapley::daemon {

// Valid UTF-8, whatever `what` holds.
[[nodiscard]] std::string text_of_error(Errc code, const std::string& what);
[[nodiscard]] std::string text_of_error(const Error& error);

}  // namespace shapley::daemon
