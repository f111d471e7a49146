// A report's rows by their names.
#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

// The row of an array whose `name` is this; without one it throws, which ends the test.
inline const nlohmann::json& named(const nlohmann::json& rows, const std::string& name) {
  for (const nlohmann::json& row : rows) {
    if (row["name"] == name) return row;
  }
  throw std::runtime_error("no row of " + name);
}

}  // namespace shapley::ctl
