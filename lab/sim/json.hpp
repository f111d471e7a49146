// JSON as the simulator reads and writes it: members stay in the order in which they were written.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"

namespace shapley::sim {

using Json = nlohmann::ordered_json;

// The value of `name`, which the error names (Errc::invalid_argument) when it is no integer.
[[nodiscard]] inline Expected<std::int64_t> integer(const Json& value, const std::string& name) {
  if (!value.is_number_integer())
    return fail(Errc::invalid_argument, name + ": expected an integer, found " + value.dump());
  return value.get<std::int64_t>();
}

}  // namespace shapley::sim
