// JSON as the simulator reads and writes it: members stay in the order in which they were written.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace shapley::sim {

using Json = nlohmann::ordered_json;

// As text; indent -1: on one line. Text that is not UTF-8 (in a trace's comments, say) has U+FFFD in the places that
// cannot be read.
[[nodiscard]] inline std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// The value of `name`, which the error names (Errc::invalid_argument) when it is no integer.
[[nodiscard]] inline Expected<std::int64_t> integer(const Json& value, const std::string& name) {
  if (!value.is_number_integer())
    return fail(Errc::invalid_argument, name + ": expected an integer, found " + value.dump());
  return value.get<std::int64_t>();
}

}  // namespace shapley::sim
