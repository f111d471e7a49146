// Events as JSON, the payload of the ledger's rows. docs/reference/ledger.md lists the members of every kind.
//
// One event has one text (members in alphabetical order, no spaces), so equal events have equal payloads and equal
// hashes. decode(kind, encode(e)) == e for every well-formed event. Decoding refuses unknown members, missing members,
// wrong types and values out of range: it returns exactly what was encoded, or an error.
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

// An event with its number in the ledger.
struct StoredEvent {
  std::int64_t sequence = 0;  // 1, 2, 3, ... without holes
  Instant received;
  accounting::Event event;
};

// Whether the books accept the event by itself (accounting/events/event_check.hpp); Errc::invalid_argument names the
// fault.
[[nodiscard]] Expected<void> well_formed(const accounting::Event& event);

// For an event that is not well-formed the result is one that decode() refuses.
[[nodiscard]] std::string encode(const accounting::Event& event);

// A text, or the resources of a node, in the form of payloads; and back: nullopt if payloads never have that form.
[[nodiscard]] std::string encode(const std::string& text);
[[nodiscard]] std::string encode(const std::vector<accounting::Resource>& gres);
[[nodiscard]] std::optional<std::string> decode_text(std::string_view text);
[[nodiscard]] std::optional<std::vector<accounting::Resource>> decode_resources(std::string_view text);

// Errc::corrupt on anything that encode would not write for a well-formed event.
[[nodiscard]] Expected<accounting::Event> decode(std::string_view kind, std::string_view payload);

// Well-formed UTF-8 (base/text.hpp).
[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace shapley::ledger
