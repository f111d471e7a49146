// Who ordered something, for the ledger.
#pragma once

#include <cstdint>
#include <string>

namespace shapley::daemon {

// "uid 0 (root)"; without a name where this host has none for it.
[[nodiscard]] std::string author_of(std::uint32_t uid);

}  // namespace shapley::daemon
