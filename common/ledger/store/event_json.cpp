#include "ledger/store/event_json.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/events/event_check.hpp"
#include "ledger/store/text.hpp"

namespace shapley::ledger {

namespace {

using accounting::Described;
using accounting::Event;
using nlohmann::json;

// An integer with a meaning (base/types.hpp): stored as its number.
template <typename T>
concept Strong = std::integral<decltype(T::value)>;

// --- encoding ---

json json_of(const std::string& text) {
  return is_utf8(text) ? json(text) : json{{"hex", to_hex(text)}};
}

template <std::integral T>
json json_of(T number) {
  return number;
}

template <Strong T>
json json_of(T quantity) {
  return quantity.value;
}

template <typename T>
requires std::is_enum_v<T> json json_of(T word) {
  return name_of(word);
}

template <Described T>
json json_of(const T& record);

template <typename T>
json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : json(nullptr);
}

template <typename T>
json json_of(const std::vector<T>& list) {
  json array = json::array();
  for (const T& item : list) array.push_back(json_of(item));
  return array;
}

template <Described T>
void put_members(json& object, const T& record) {
  for_each_member(record, [&]<typename Value>(std::string_view name, const Value& value, auto role) {
    if constexpr (Described<Value>) {
      put_members(object, value);
    } else if (!accounting::is_supplement(role) || value != Value{}) {
      object[std::string(name)] = json_of(value);
    }
  });
}

template <Described T>
json json_of(const T& record) {
  json object = json::object();
  put_members(object, record);
  return object;
}

// --- decoding ---

// Reads the members of one object and remembers the first thing that is wrong with it.
class Reader {
 public:
  Reader(const json& object, std::string& fault) : object_(object), fault_(fault) {
    if (!object.is_object()) complain("not an object");
  }

  template <Described T>
  void members(T& record) {
    for_each_member(record, [&]<typename Value>(std::string_view name, Value& value, auto role) {
      if constexpr (Described<Value>) {
        members(value);
      } else if constexpr (accounting::is_supplement(role)) {
        supplement(name, value);
      } else {
        member(name, value);
      }
    });
  }

  template <typename T>
  void member(std::string_view name, T& value) {
    if (const json* found = find(name); found != nullptr) take(*found, name, value);
  }

  void finish() {
    if (object_.is_object() && read_ != object_.size()) complain("unknown members");
  }

 private:
  template <std::integral T>
  void take(const json& value, std::string_view name, T& number) {
    // A value above the signed range would wrap in get<int64_t>.
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())) &&
                      std::in_range<T>(value.get<std::int64_t>());
    if (!fits) return complain(std::string(name) + " is no integer in range");
    number = static_cast<T>(value.get<std::int64_t>());
  }

  template <Strong T>
  void take(const json& value, std::string_view name, T& quantity) {
    take(value, name, quantity.value);
  }

  template <typename T>
  void take(const json& value, std::string_view name, std::optional<T>& optional) {
    if (!value.is_null()) take(value, name, optional.emplace());
  }

  // A string, or {"hex": ...} for bytes that are no UTF-8 and only for them: one text must have one encoding.
  void take(const json& value, std::string_view name, std::string& text) {
    if (value.is_string()) {
      text = value.get<std::string>();
      return;
    }
    if (value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string()) {
      auto bytes = from_hex(value["hex"].get_ref<const std::string&>());
      if (bytes && !is_utf8(*bytes)) {
        text = *std::move(bytes);
        return;
      }
    }
    complain(std::string(name) + " is no text");
  }

  // A word of a fixed vocabulary.
  template <typename T>
  requires std::is_enum_v<T>
  void take(const json& value, std::string_view name, T& word) {
    std::string text;
    take(value, name, text);
    const auto known = accounting::parse_word<T>(text);
    if (!known) return complain(std::string(name) + " is no known word");
    word = *known;
  }

  template <Described T>
  void take(const json& value, std::string_view /*name*/, T& record) {
    Reader inner(value, fault_);
    inner.members(record);
    inner.finish();
  }

  template <typename T>
  void take(const json& value, std::string_view name, std::vector<T>& list) {
    if (!value.is_array()) return complain(std::string(name) + " is no array");
    for (const json& item : value) take(item, name, list.emplace_back());
  }

  // One fact must have one encoding: a default value is not written down.
  template <typename Value>
  void supplement(std::string_view name, Value& value) {
    if (!object_.is_object() || !object_.contains(name)) return;
    take(*find(name), name, value);
    if (value == Value{}) complain(std::string(name) + " is written though it says nothing");
  }

  const json* find(std::string_view name) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) {
      complain(std::string(name) + " is missing");
      return nullptr;
    }
    ++read_;
    return &*found;
  }

  void complain(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }

  const json& object_;
  std::string& fault_;
  std::size_t read_ = 0;
};

// Finds the alternative whose kind has this name and reads it; nullopt for an unknown kind.
template <std::size_t Index = 0>
std::optional<Event> read_kind(std::string_view kind, Reader& in) {
  if constexpr (Index == std::variant_size_v<Event>) {
    return std::nullopt;
  } else {
    std::variant_alternative_t<Index, Event> fact;
    if (accounting::k_description<decltype(fact)>.name != kind) return read_kind<Index + 1>(kind, in);
    in.members(fact);
    in.finish();
    return fact;
  }
}

// One member's value, read by itself.
template <typename T>
std::optional<T> decode_value(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  const json object{{"value", std::move(value)}};
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
  return std::visit([](const auto& e) { return json_of(e).dump(); }, event);
}

std::string encode(const std::string& text) {
  return json_of(text).dump();
}

std::string encode(const std::vector<accounting::Resource>& gres) {
  return json_of(gres).dump();
}

std::optional<std::string> decode_text(std::string_view text) {
  return decode_value<std::string>(text);
}

std::optional<std::vector<accounting::Resource>> decode_resources(std::string_view text) {
  return decode_value<std::vector<accounting::Resource>>(text);
}

Expected<Event> decode(std::string_view kind, std::string_view payload) {
  const json object = json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return fail(Errc::corrupt, "the payload is no JSON");
  std::string fault;
  Reader in(object, fault);
  std::optional<Event> event = read_kind(kind, in);
  if (!event) return fail(Errc::corrupt, "unknown kind '" + std::string(kind) + "'");
  if (!fault.empty()) return fail(Errc::corrupt, std::string(kind) + ": " + fault);
  if (auto verdict = well_formed(*event); !verdict) return fail(Errc::corrupt, std::move(verdict).error().what);
  return *std::move(event);
}

}  // namespace shapley::ledger
