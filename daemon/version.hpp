// Name and version of the program, for the protocol, --version and the log.
#pragma once

#include <string_view>

namespace shapley::daemon {

extern const std::string_view k_version_text;  // "1.0.0"
extern const std::string_view k_program;       // "shapleyd 1.0.0"

}  // namespace shapley::daemon
