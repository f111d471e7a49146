#include "daemon/requests/error_answer.hpp"

#include <nlohmann/json.hpp>

namespace shapley::daemon {

std::string text_of_error(Errc code, const std::string& what) {
  const nlohmann::json answer{{"error", {{"code", name_of(code)}, {"what", what}}}};
  return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_of_error(const Error& error) {
  return text_of_error(error.code, error.what);
}

}  // namespace shapley::daemon
