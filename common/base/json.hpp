// Described records (description.hpp) as JSON, and back. Reading accepts what was written, and else returns an error
// that names the member: it is missing, of another type or out of range. A member that the record does not have is
// skipped: a later release may have added it.
//
// JSON comes from files and from other processes, so parse_json bounds how deep it nests: the library parses any depth,
// but copies and writes a value with one stack frame a level.
//
// null is an optional without a value; a list and a pair are an array, a map from names and a ByName are objects, an
// enumeration is its word, an array of bytes its hexadecimal digits. Amounts of 128 bits (Utility, CpuTime) are exact
// decimal text; other quantities and instants are their number. A Dated instant has two members, NAME in seconds since
// the epoch and NAME_utc as text. A type with a form of its own has two functions beside it: `json json_value(const
// T&)` and `bool take_json_value(const json&, T&)`, false for what it would not write.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/types.hpp"

namespace shapley {

// Values by name, in an order that nlohmann's ordered_json keeps.
template <typename T>
using ByName = std::vector<std::pair<std::string, T>>;

// Deeper than anything that this project writes.
inline constexpr int k_max_json_depth = 16;

namespace detail {

// Whether the brackets of a JSON text nest deeper than `most`; those within strings do not count.
[[nodiscard]] inline bool nests_deeper(std::string_view text, int most) {
  // Every event of a ledger passes here, and few have so many brackets in all; counting those is ten times as fast.
  int brackets = 0;
  for (const char bracket : {'[', '{'}) {
    for (std::size_t i = text.find(bracket); i != text.npos && brackets <= most; i = text.find(bracket, i + 1))
      ++brackets;
  }
  if (brackets <= most) return false;

  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_string) {
      if (c == '\\') ++i;
      is_string = c != '"';
    } else if (c == '"') {
      is_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace detail

// Discarded (is_discarded) if the text is no JSON or nests deeper than `most_depth`. `Json`: nlohmann's json or
// ordered_json.
template <typename Json = nlohmann::json>
[[nodiscard]] Json parse_json(std::string_view text, int most_depth = k_max_json_depth) {
  if (detail::nests_deeper(text, most_depth)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// An instant that is written for people, too (NAME_utc). One that is not known, or never comes, is null.
struct Dated : Instant {
  constexpr Dated() : Instant(k_end_of_time) {}
  constexpr Dated(Instant t) : Instant(t) {}
  constexpr Dated(std::optional<Instant> t) : Instant(t.value_or(k_end_of_time)) {}
  [[nodiscard]] constexpr bool is_known() const { return *this > k_beginning_of_time && *this < k_end_of_time; }
  [[nodiscard]] std::string utc() const { return is_known() ? format_instant(*this) : std::string(); }
};

namespace detail {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_list = false;
template <typename T>
inline constexpr bool is_list<std::vector<T>> = true;
template <typename T, std::size_t n>
inline constexpr bool is_list<std::array<T, n>> = true;
template <typename T>
inline constexpr bool is_pair = false;
template <typename A, typename B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <typename T>
inline constexpr bool is_by_name = false;
template <typename T>
inline constexpr bool is_by_name<ByName<T>> = true;
template <typename T>
inline constexpr bool is_map = false;
template <typename K, typename T, typename Less>
inline constexpr bool is_map<std::map<K, T, Less>> = true;

template <typename T>
inline constexpr bool is_bytes = false;
template <std::size_t n>
inline constexpr bool is_bytes<std::array<unsigned char, n>> = true;

// An integer with a meaning (types.hpp).
template <typename T>
concept Strong = requires(const T& quantity) {
  quantity.value;
};
template <typename T>
concept Exact = std::same_as<T, Utility> || std::same_as<T, CpuTime>;
template <typename T>
concept HasJsonValue = requires(const T& value) {
  json_value(value);
};
template <typename T>
concept HasJsonMembers = requires(T& value) {
  for_each_json_member(std::string_view(), value, [](const std::string&, const auto&) {});
};

template <typename T>
bool is_default(const T& value) {
  if constexpr (is_optional<T>) {
    return !value.has_value();
  } else if constexpr (is_list<T> || is_map<T>) {
    return value.empty();
  } else {
    return value == T{};
  }
}

// `Json`: nlohmann's json, whose objects are sorted by name, or ordered_json, whose members stay in the record's order.
template <typename Json>
class JsonWriter {
 public:
  template <typename T>
  static Json json_of(const T& value) {
    if constexpr (HasJsonValue<T>) {
      return json_value(value);
    } else if constexpr (Described<T>) {
      Json object = Json::object();
      put_members(object, value);
      return object;
    } else if constexpr (is_optional<T>) {
      return value ? json_of(*value) : Json(nullptr);
    } else if constexpr (is_bytes<T>) {
      return to_hex({reinterpret_cast<const char*>(value.data()), value.size()});
    } else if constexpr (is_map<T> || is_by_name<T>) {
      Json object = Json::object();
      for (const auto& [name, item] : value) object[name] = json_of(item);
      return object;
    } else if constexpr (is_pair<T>) {
      return Json::array({json_of(value.first), json_of(value.second)});
    } else if constexpr (is_list<T>) {
      Json array = Json::array();
      for (const auto& item : value) array.push_back(json_of(item));
      return array;
    } else if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else if constexpr (Exact<T>) {
      return format_micro(value.value);
    } else if constexpr (Strong<T>) {
      return value.value;
    } else {
      return value;
    }
  }

 private:
  template <Described T>
  static void put_members(Json& object, const T& record) {
    for_each_member(record, [&]<typename Value>(std::string_view name, const Value& value, auto role) {
      if constexpr (is_supplement(role)) {
        if (is_default(value)) return;
      }
      if constexpr (std::same_as<Value, Dated>) {
        object[std::string(name)] = value.is_known() ? Json(value.value) : Json(nullptr);
        object[std::string(name) + "_utc"] = value.is_known() ? Json(value.utc()) : Json(nullptr);
      } else if constexpr (HasJsonMembers<const Value>) {
        for_each_json_member(name, value,
                             [&](const std::string& each, const auto& item) { object[each] = json_of(item); });
      } else {
        if constexpr (Described<Value>) {
          if (name.empty()) return put_members(object, value);
        }
        object[std::string(name)] = json_of(value);
      }
    });
  }
};

// How reports are read. Texts are strings; what is not valid UTF-8 was replaced where the JSON became text.
struct ReportForm {
  using Json = nlohmann::json;
  static constexpr bool k_skips_unknown = true;
  static constexpr bool k_is_request = false;
  static bool take(const Json& value, std::string& text) {
    if (value.is_string()) text = value.get<std::string>();
    return value.is_string();
  }
};

// The last instant that can be written as a time.
inline constexpr Instant k_last_written{253'402'300'799};  // 9999-12-31T23:59:59Z

// How requests are read, which people write, too: a supplement may have its default value, or be null, and an instant
// is one from 1970 on that can be written as a time.
struct RequestForm : ReportForm {
  static constexpr bool k_is_request = true;
};

// Reads the members of one object and remembers the first fault. `Form`: as ReportForm.
template <typename Form>
class JsonReader {
 public:
  using json = typename Form::Json;

  JsonReader(const json& object, std::string& fault) : object_(object), fault_(fault) {
    if (!object.is_object()) complain("it is not an object");
  }

  template <Described T>
  void members(T& record) {
    for_each_member(record, [&]<typename Value>(std::string_view name, Value& value, auto role) {
      if constexpr (is_supplement(role)) {
        if (!has(name) || (Form::k_is_request && object_.find(name)->is_null())) return;
        if constexpr (is_optional<Value>) {
          if (!is_optional<typename Value::value_type> && object_.find(name)->is_null())
            complain(std::string(name) + " is written though it says nothing");
          member(name, value.emplace());
        } else {
          member(name, value);
          if (!Form::k_is_request && is_default(value))
            complain(std::string(name) + " is written though it says nothing");
        }
      } else if constexpr (HasJsonMembers<Value>) {
        for_each_json_member(name, value, [&](const std::string& each, auto& item) { member(each, item); });
      } else {
        if constexpr (Described<Value>) {
          if (name.empty()) return members(value);
        }
        member(name, value);
      }
    });
  }

  template <typename T>
  void member(std::string_view name, T& value) {
    const json* found = find(name);
    if (found == nullptr) return;
    take(*found, name, value);
    if constexpr (std::same_as<T, Dated>) {
      const json* text = find(std::string(name) + "_utc");
      if (text != nullptr && *text != (value.is_known() ? json(value.utc()) : json(nullptr)))
        complain(std::string(name) + "_utc is another instant than " + std::string(name));
    }
  }

  // For objects in which no unknown member is allowed: call it after all members were read.
  void finish() {
    if (!Form::k_skips_unknown && object_.is_object() && read_ != object_.size()) complain("unknown members");
  }

  template <typename T>
  void take(const json& value, std::string_view name, T& out) {
    if constexpr (HasJsonValue<T>) {
      if (!take_json_value(value, out)) complain(std::string(name) + " is not what it must be");
    } else if constexpr (Described<T>) {
      JsonReader inner(value, fault_);
      inner.members(out);
      inner.finish();
    } else if constexpr (is_optional<T>) {
      if (!value.is_null()) take(value, name, out.emplace());
    } else if constexpr (is_map<T>) {
      if (!value.is_object()) return complain(std::string(name) + " is no object");
      for (const auto& [key, item] : value.items()) take(item, name, out[key]);
    } else if constexpr (is_bytes<T>) {
      if (!take_bytes(value, out)) complain(std::string(name) + " is not of the right number of hexadecimal digits");
    } else if constexpr (is_by_name<T>) {
      if (!value.is_object()) return complain(std::string(name) + " is no object");
      for (const auto& [key, item] : value.items())
        take(item, name, out.emplace_back(key, typename T::value_type::second_type()).second);
    } else if constexpr (is_pair<T>) {
      if (!value.is_array() || value.size() != 2) return complain(std::string(name) + " is no pair");
      take(value[0], name, out.first);
      take(value[1], name, out.second);
    } else if constexpr (is_list<T>) {
      take_list(value, name, out);
    } else if constexpr (std::is_enum_v<T>) {
      const auto known = value.is_string() ? parse_word<T>(value.template get<std::string>()) : std::nullopt;
      if (!known) return complain(std::string(name) + (Form::k_is_request ? words<T>() : " is no known word"));
      out = *known;
    } else {
      take_plain(value, name, out);
    }
  }

 private:
  template <typename Word>
  static std::string words() {
    std::string text;
    for (const Word word : k_values<Word>)
      text.append(text.empty() ? " is one of " : word == k_values<Word>.back() ? " or " : ", ").append(name_of(word));
    return text;
  }

  template <typename T>
  void take_plain(const json& value, std::string_view name, T& out) {
    if constexpr (std::same_as<T, json>) {
      out = value;
    } else if constexpr (std::same_as<T, std::string>) {
      if (!Form::take(value, out)) complain(std::string(name) + " is no text");
    } else if constexpr (std::same_as<T, bool>) {
      if (!value.is_boolean()) return complain(std::string(name) + " is neither true nor false");
      out = value.template get<bool>();
    } else if constexpr (std::integral<T>) {
      // A value above the signed range would wrap in get<int64_t>.
      const bool fits =
          value.is_number_integer() &&
          !(value.is_number_unsigned() && !std::in_range<std::int64_t>(value.template get<std::uint64_t>())) &&
          std::in_range<T>(value.template get<std::int64_t>());
      if (!fits) return complain(std::string(name) + " is no integer in range");
      out = static_cast<T>(value.template get<std::int64_t>());
    } else if constexpr (std::floating_point<T>) {
      if (!value.is_number()) return complain(std::string(name) + " is no number");
      out = value.template get<T>();
    } else if constexpr (std::same_as<T, Dated>) {
      std::optional<Instant> t;
      take(value, name, t);
      out = Dated(t);
    } else if constexpr (Exact<T>) {
      const auto micro = value.is_string() ? parse_micro(value.template get_ref<const std::string&>()) : std::nullopt;
      if (!micro) return complain(std::string(name) + " is no exact amount");
      out.value = *micro;
    } else if constexpr (std::same_as<T, Instant> && Form::k_is_request) {
      const double seconds = value.is_number_integer() ? value.template get<double>() : -1;
      if (seconds < 0 || seconds > static_cast<double>(k_last_written.value))
        return complain(std::string(name) + " is an instant in seconds since 1970-01-01 UTC");
      out.value = value.template get<std::int64_t>();
    } else {
      take_plain(value, name, out.value);
    }
  }

  template <typename Bytes>
  static bool take_bytes(const json& value, Bytes& bytes) {
    const auto* digits = value.template get_ptr<const std::string*>();
    const auto read = digits == nullptr ? std::nullopt : from_hex(*digits);
    if (!read || read->size() != bytes.size()) return false;
    std::ranges::copy(*read, bytes.begin());
    return true;
  }

  template <typename List>
  void take_list(const json& value, std::string_view name, List& list) {
    if (!value.is_array()) return complain(std::string(name) + " is no array");
    if constexpr (requires { list.emplace_back(); }) {
      for (const json& item : value) take(item, name, list.emplace_back());
    } else {
      if (value.size() != list.size()) return complain(std::string(name) + " has another length");
      for (std::size_t i = 0; i < list.size(); ++i) take(value[i], name, list[i]);
    }
  }

  [[nodiscard]] bool has(std::string_view name) const { return object_.is_object() && object_.contains(name); }

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
  std::size_t read_ = 0;  // members that were looked up
};

}  // namespace detail

template <typename Json = nlohmann::json, typename T>
[[nodiscard]] Json json_of(const T& value) {
  return detail::JsonWriter<Json>::json_of(value);
}

// Errc::protocol names the first member that is wrong.
template <Described T, typename Form = detail::ReportForm>
[[nodiscard]] Expected<T> from_json(const nlohmann::json& object) {
  T record{};
  std::string fault;
  detail::JsonReader<Form>(object, fault).members(record);
  if (!fault.empty()) return fail(Errc::protocol, std::move(fault));
  return record;
}

// What a request asks for. Errc::invalid_argument names the first member that is wrong.
template <Described T>
[[nodiscard]] Expected<T> request_from(const nlohmann::json& object) {
  auto record = from_json<T, detail::RequestForm>(object);
  if (!record) return fail(Errc::invalid_argument, std::move(record.error().what));
  return record;
}

// Names of jobs and organizations may hold any bytes, and so may a trace's comments; JSON as text is valid UTF-8
// nevertheless, with U+FFFD in the places that cannot be read. indent -1: on one line.
template <typename Json>
requires nlohmann::detail::is_basic_json<Json>::value [[nodiscard]] std::string text_of(const Json& value,
                                                                                        int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// The reply to a request that failed: {"error": {"code": ..., "what": ...}}.
[[nodiscard]] inline nlohmann::json error_reply(const Error& error) {
  return {{"error", {{"code", name_of(error.code)}, {"what", error.what}}}};
}
// The error that this reply carries, if any. A code that a later release may have added becomes Errc::protocol.
[[nodiscard]] inline std::optional<Error> error_of_reply(const nlohmann::json& reply) {
  struct Said {
    static std::string text(const nlohmann::json& error, const char* name) {
      const auto found = error.is_object() ? error.find(name) : error.end();
      return error.is_object() && found != error.end() && found->is_string() ? found->get<std::string>() : "";
    }
  };
  const auto error = reply.is_object() ? reply.find("error") : reply.end();
  if (!reply.is_object() || error == reply.end()) return std::nullopt;
  Error found{Errc::protocol, Said::text(*error, "what")};
  const std::string code = Said::text(*error, "code");
  for (const Errc known : {Errc::invalid_argument, Errc::not_found, Errc::conflict, Errc::corrupt, Errc::io,
                           Errc::protocol, Errc::denied, Errc::limit, Errc::unavailable, Errc::no_space}) {
    if (code == name_of(known)) found.code = known;
  }
  return found;
}

}  // namespace shapley
