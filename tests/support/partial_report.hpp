// A report of the members that a test is about: the others have their default values.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace shapley {

template <Described T>
void fill(nlohmann::json& object);

template <typename T>
void fill_value(nlohmann::json& value) {
  if constexpr (detail::HasJsonValue<T>) {
    return;
  } else if constexpr (Described<T>) {
    if (value.is_object()) fill<T>(value);
  } else if constexpr (detail::is_optional<T>) {
    if (!value.is_null()) fill_value<typename T::value_type>(value);
  } else if constexpr (detail::is_list<T>) {
    for (nlohmann::json& item : value) fill_value<typename T::value_type>(item);
  }
}

template <Described T>
void fill(nlohmann::json& object) {
  T record{};
  for_each_member(record, [&]<typename Value>(std::string_view member_name, const Value&, auto role) {
    const std::string name(member_name);
    if constexpr (Described<Value> && !detail::HasJsonValue<Value>) {
      if (name.empty()) return fill<Value>(object);
    }
    if constexpr (std::same_as<Value, Dated>) {
      // One of the two says it.
      if (!object.contains(name) && object.contains(name + "_utc") && object[name + "_utc"].is_string())
        object[name] = parse_instant(object[name + "_utc"].template get<std::string>()).value_or(Instant{0}).value;
      if (object.contains(name) && object[name].is_number())
        object[name + "_utc"] = format_instant(Instant{object[name].template get<std::int64_t>()});
    }
    if (!is_supplement(role) || object.contains(name)) {
      if (const auto found = object.find(name); found != object.end()) fill_value<Value>(*found);
    }
  });
  const nlohmann::json others = json_of(record);
  for (const auto& [name, value] : others.items()) {
    if (!object.contains(name)) object[name] = value;
  }
}

template <Described T>
T partial(nlohmann::json object) {
  fill<T>(object);
  auto report = from_json<T>(object);
  EXPECT_TRUE(report) << report.error().what << ": " << object.dump(1);
  return report ? *std::move(report) : T{};
}

}  // namespace shapley
