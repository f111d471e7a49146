#include "ledger/encoding/event_json.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/events/event_check.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using nlohmann::json;

// An integer with a meaning (base/types.hpp): stored as its number.
template <typename T>
concept Strong = std::integral<decltype(T::value)>;

// --- encoding ---
//
// Written without a tree of the library's values: every event of a ledger is encoded when it is appended and when it is
// audited.

std::string encoded(const std::string& text) {
  if (!is_utf8(text)) return R"({"hex":")" + to_hex(text) + "\"}";
  const bool is_plain =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\'; });
  return is_plain ? '"' + text + '"' : json(text).dump();
}

template <std::integral T>
std::string encoded(T number) {
  return std::to_string(number);
}

template <Strong T>
std::string encoded(T quantity) {
  return encoded(quantity.value);
}

// Of 128 bits: exact decimal text, as the reports have them.
template <shapley::detail::Exact T>
std::string encoded(T amount) {
  return '"' + format_micro(amount.value) + '"';
}

template <typename T>
requires std::is_enum_v<T> std::string encoded(T word) {
  return encoded(std::string(name_of(word)));
}

template <Described T>
std::string encoded(const T& record);

template <typename T>
std::string encoded(const std::optional<T>& value) {
  return value ? encoded(*value) : "null";
}

template <typename T>
std::string encoded(const std::vector<T>& list) {
  std::string array = "[";
  for (const T& item : list) array += (array.size() > 1 ? "," : "") + encoded(item);
  return array + "]";
}

using Members = std::vector<std::pair<std::string_view, std::string>>;

template <Described T>
void put_members(Members& members, const T& record) {
  for_each_member(record, [&]<typename Value>(std::string_view name, const Value& value, auto role) {
    if constexpr (Described<Value>) {
      put_members(members, value);
    } else if (!is_supplement(role) || value != Value{}) {
      members.emplace_back(name, encoded(value));
    }
  });
}

// Members ascend by name.
template <Described T>
std::string encoded(const T& record) {
  Members members;
  put_members(members, record);
  std::sort(members.begin(), members.end());
  std::string object = "{";
  for (const auto& [name, value] : members) {
    if (object.size() > 1) object += ',';
    object += '"';
    object += name;
    object += "\":";
    object += value;
  }
  return object + '}';
}

// --- decoding ---

// One fact has one encoding, so no member may be unknown. Objects are lists: of a dozen members the right one is found
// sooner so than in a tree.
struct EventForm {
  using Json = nlohmann::ordered_json;
  static constexpr bool k_skips_unknown = false;
  static constexpr bool k_is_request = false;
  // A string, or {"hex": ...} for bytes that are no UTF-8 and only for them: one text must have one encoding.
  static bool take(const Json& value, std::string& text) {
    if (value.is_string()) {
      text = value.get<std::string>();
      return true;
    }
    const bool is_hex = value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string();
    if (!is_hex) return false;
    auto bytes = from_hex(value["hex"].get_ref<const std::string&>());
    if (!bytes || is_utf8(*bytes)) return false;
    text = *std::move(bytes);
    return true;
  }
};
using Parsed = EventForm::Json;
using Reader = detail::JsonReader<EventForm>;

// Finds the alternative whose kind has this name and reads it; nullopt for an unknown kind.
template <std::size_t Index = 0>
std::optional<Event> read_kind(std::string_view kind, Reader& in) {
  if constexpr (Index == std::variant_size_v<Event>) {
    return std::nullopt;
  } else {
    std::variant_alternative_t<Index, Event> fact;
    if (k_description<decltype(fact)>.name != kind) return read_kind<Index + 1>(kind, in);
    in.members(fact);
    in.finish();
    return fact;
  }
}

// One member's value, read by itself.
template <typename T>
std::optional<T> decode_value(std::string_view text) {
  Parsed value = parse_json<Parsed>(text);
  if (value.is_discarded()) return std::nullopt;
  const Parsed object{{"value", std::move(value)}};
  std::string fault;
  T result;
  Reader(object, fault).member("value", result);
  return fault.empty() ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

Expected<void> well_formed(const Event& event) {
  return accounting::check(event);
}

std::string encode(const Event& event) {
  return std::visit([](const auto& e) { return encoded(e); }, event);
}

std::string encode(const std::string& text) {
  return encoded(text);
}

std::string encode(const std::vector<accounting::Resource>& gres) {
  return encoded(gres);
}

std::optional<std::string> decode_text(std::string_view text) {
  return decode_value<std::string>(text);
}

std::optional<std::vector<accounting::Resource>> decode_resources(std::string_view text) {
  return decode_value<std::vector<accounting::Resource>>(text);
}

Expected<Event> decode(std::string_view kind, std::string_view payload) {
  const Parsed object = parse_json<Parsed>(payload);
  if (object.is_discarded()) return fail(Errc::corrupt, "the payload is no JSON, or nests too deep");
  std::string fault;
  Reader in(object, fault);
  std::optional<Event> event = read_kind(kind, in);
  if (!event) return fail(Errc::corrupt, fmt::format("unknown kind '{}'", kind));
  if (!fault.empty()) return fail(Errc::corrupt, fmt::format("{}: {}", kind, fault));
  if (auto verdict = well_formed(*event); !verdict) return fail(Errc::corrupt, std::move(verdict).error().what);
  return *std::move(event);
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Character character = first_character(bytes);
    if (character.kind != Utf8Character::Kind::whole) return false;
    bytes.remove_prefix(character.bytes);
  }
  return true;
}

}  // namespace shapley::ledger
