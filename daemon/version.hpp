// Who we are, for the protocol, --version and the log.
#pragma once

#include <string_view>

namespace shapley::daemon {

extern const std::string_view k_version_text;  // "0.1.0"
extern const std::string_view k_program;       // "shapleyd 0.1.0"

}  // namespace shapley::daemon
