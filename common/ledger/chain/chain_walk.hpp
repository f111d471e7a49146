// Rows of events read from the file, and going along their hash chain without taking the events apart.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

// What a statement selects whose rows the next two take apart. The row's texts last until the statement's next step.
inline constexpr std::string_view k_event_columns = "seq, key, at, received, kind, payload, hash";
[[nodiscard]] EventRow event_row_of(const Statement& row);
[[nodiscard]] std::span<const unsigned char> stored_hash_of(const Statement& row);

// What of a row's columns is not what its event says; empty if nothing is.
[[nodiscard]] std::string row_fault(const EventRow& row, const accounting::Event& event);

struct Link {
  std::int64_t sequence = 0;  // as the row says
  std::int64_t place = 0;     // where it stands: after + 1, after + 2, ...
  Digest computed{};          // from the content of this row and of those before
  bool fits = false;          // the row's own hash is the same
};

// Visits the events after number `after`, whose hash is `previous`, in order. The hash that a row stores has no say in
// what is computed for later ones.
[[nodiscard]] Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                                        const std::function<Expected<void>(const Link&)>& visit);

// All of it, or its end: Errc::corrupt names the first event after `after` that does not fit.
[[nodiscard]] Expected<void> check_chain(const Database& database, std::int64_t after, const Digest& previous);

}  // namespace shapley::ledger
