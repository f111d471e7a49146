// Kept facts as lines of a checkpoint, by their description (base/description.hpp).
//
// A fact is one line: its word (`kept_as`), then its members in order. A list within a line is its length, then its
// items; a list of records of the fact itself is one line for each record, beginning with the name of the record's
// description.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/events/event.hpp"
#include "accounting/events/event_check.hpp"

namespace shapley::accounting {

template <typename T>
inline constexpr bool k_is_list_of_records = false;
template <Described Record>
inline constexpr bool k_is_list_of_records<std::vector<Record>> = true;

template <Described T>
void write_value(TextWriter& out, const T& record);

inline void write_value(TextWriter& out, const std::string& text) {
  out.word(text);
}
template <std::integral T>
void write_value(TextWriter& out, T number) {
  out.number(number);
}
template <typename T>
requires std::is_enum_v<T>
void write_value(TextWriter& out, T word) {
  out.word(name_of(word));
}
// An integer with a meaning (base/types.hpp); of 128 bits, too, which std::integral leaves out.
template <typename T>
concept Numeric = std::integral<decltype(T::value)> || std::same_as<decltype(T::value), Int128>;
template <Numeric T>
void write_value(TextWriter& out, T quantity) {
  out.number(quantity.value);
}
template <typename T>
void write_value(TextWriter& out, const std::optional<T>& value) {
  out.number(value ? 1 : 0);
  if (value) write_value(out, *value);
}
template <typename T>
void write_value(TextWriter& out, const std::vector<T>& list) {
  out.number(static_cast<Int128>(list.size()));
  for (const T& item : list) write_value(out, item);
}
template <Described T>
void write_value(TextWriter& out, const T& record) {
  for_each_member(record, [&](std::string_view, const auto& value, auto) { write_value(out, value); });
}

// One line for each record, which begins with the name of its description.
template <Described Record>
void write_records(TextWriter& out, const std::vector<Record>& records) {
  for (const Record& record : records) {
    out.line(k_description<Record>.name);
    write_value(out, record);
  }
}

template <typename Fact>
void write_fact(TextWriter& out, const Fact& fact) {
  out.line(k_description<Fact>.kept_as);
  for_each_member(fact, [&](std::string_view, const auto& value, auto) {
    if constexpr (!k_is_list_of_records<std::remove_cvref_t<decltype(value)>>) write_value(out, value);
  });
  for_each_member(fact, [&](std::string_view, const auto& value, auto) {
    if constexpr (k_is_list_of_records<std::remove_cvref_t<decltype(value)>>) write_records(out, value);
  });
}

template <Described T>
void read_value(TextReader& in, T& record);

inline void read_value(TextReader& in, std::string& text) {
  text = in.word();
}
template <std::integral T>
void read_value(TextReader& in, T& number) {
  number = static_cast<T>(in.number(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <typename T>
requires std::is_enum_v<T>
void read_value(TextReader& in, T& word) {
  const auto known = parse_word<T>(in.word());
  if (!known) return in.fault("no such word");
  word = *known;
}
template <Numeric T>
void read_value(TextReader& in, T& quantity) {
  using Number = decltype(T::value);
  if constexpr (std::same_as<Number, Int128>) {
    constexpr Int128 k_most = ~(static_cast<Int128>(1) << 127);
    quantity.value = in.number(-k_most, k_most);
  } else {
    read_value(in, quantity.value);
  }
}
template <typename T>
void read_value(TextReader& in, std::optional<T>& value) {
  if (in.number(0, 1) == 1) read_value(in, value.emplace());
}
template <typename T>
void read_value(TextReader& in, std::vector<T>& list) {
  for (auto left = in.small(0, std::numeric_limits<std::int32_t>::max()); left > 0 && in.ok(); --left) {
    read_value(in, list.emplace_back());
  }
}
template <Described T>
void read_value(TextReader& in, T& record) {
  for_each_member(record, [&](std::string_view, auto& value, auto) { read_value(in, value); });
}

template <Described Record>
void read_records(TextReader& in, std::vector<Record>& records) {
  while (in.next(k_description<Record>.name)) read_value(in, records.emplace_back());
}

// Whether the books may have read this fact: it is well-formed, and no time in it is later than `now`. Otherwise the
// reader is set to a fault.
inline bool accept(TextReader& in, const Event& fact, Instant now) {
  if (const auto verdict = check(fact); !verdict) in.fault(verdict.error().what);
  if (time_of(fact) > now) in.fault("a fact from the future");
  return in.ok();
}

// REQUIRES: in.next(kept_as). The fact that is read need not be valid (event_check.hpp); after a fault it is arbitrary.
// `missing`: a member that texts of this version do not have; it stays as it is. (Flattened members have no name.)
template <typename Fact>
void read_fact(TextReader& in, Fact& fact, std::optional<std::string_view> missing = std::nullopt) {
  for_each_member(fact, [&](std::string_view member, auto& value, auto) {
    if constexpr (!k_is_list_of_records<std::remove_cvref_t<decltype(value)>>) {
      if (member != missing) read_value(in, value);
    }
  });
  for_each_member(fact, [&]<typename Value>(std::string_view, Value& value, auto) {
    if constexpr (k_is_list_of_records<Value>) read_records(in, value);
  });
}

}  // namespace shapley::accounting
