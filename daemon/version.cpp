#include "daemon/version.hpp"

namespace shapley::daemon {

const std::string_view k_version_text = SHAPLEY_VERSION;
const std::string_view k_program = "shapleyd " SHAPLEY_VERSION;

}  // namespace shapley::daemon
