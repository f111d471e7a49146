// The days (UTC) whose standings are recorded (Ledger::record_standings).
#pragma once

#include <optional>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// The begin of the last such day; nullopt: there is none. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::optional<Instant>> last_recorded_day(const Ledger& ledger);

}  // namespace shapley::ledger
