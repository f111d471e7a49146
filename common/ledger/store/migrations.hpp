// The numbered files of sql/, embedded at build time. Entry i leads from schema version i to i + 1; version 0 is an
// empty file. A file that was released is never edited: ledgers in the field have its schema.
#pragma once

#include <span>
#include <string_view>

namespace shapley::ledger {

[[nodiscard]] std::span<const std::string_view> migrations();

}  // namespace shapley::ledger
