// Events as JSON, the payload of the ledger's rows. docs/reference/ledger.md lists the members of every kind.
//
// One event has one text (members in alphabetical order, no spaces), so equal events have equal payloads and a hash
// over them means something. decode(kind, encode(e)) == e for every well-formed event. Decoding refuses unknown
// members, missing members, wrong types and values out of range: a payload is either exactly what was meant or an
// error.
//
// Text that is not valid UTF-8 (job names may hold any byte) is stored as {"hex": "..."} instead of a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// As the ledger has it.
struct StoredEvent {
  std::int64_t sequence = 0;  // 1, 2, 3, ... without holes
  Instant received;
  accounting::Event event;
};

// Whether the books accept the event by itself (accounting/events/event_check.hpp); Errc::invalid_argument with what is
// wrong.
[[nodiscard]] Expected<void> well_formed(const accounting::Event& event);

// What this gives for an event that is not well formed is refused by decode().
[[nodiscard]] std::string encode(const accounting::Event& event);

// A text, or the resources of a node, as they stand in payloads; and back: nullopt if payloads never have that.
[[nodiscard]] std::string encode(const std::string& text);
[[nodiscard]] std::string encode(const std::vector<accounting::Resource>& gres);
[[nodiscard]] std::optional<std::string> decode_text(std::string_view text);
[[nodiscard]] std::optional<std::vector<accounting::Resource>> decode_resources(std::string_view text);

// Errc::corrupt on anything that encode would not write for a well-formed event.
[[nodiscard]] Expected<accounting::Event> decode(std::string_view kind, std::string_view payload);

// Well-formed UTF-8 (base/text.hpp).
[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace shapley::ledger
