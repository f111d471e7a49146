// Reports as JSON text for people and programs.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

// Indented, with a newline at the end. Text that is not UTF-8 (a job's name may hold any byte) has U+FFFD in the places
// that cannot be read.
[[nodiscard]] inline std::string json_text(const nlohmann::json& report) {
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace shapley::ctl
