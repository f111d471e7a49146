#include "reader/client.hpp"

#include <string_view>

namespace shapley::reader {

namespace {

using nlohmann::json;

// The code travels by name; one that a newer daemon made up is still an error.
Errc code_named(std::string_view name) {
  for (const Errc code : {Errc::invalid_argument, Errc::not_found, Errc::conflict, Errc::corrupt, Errc::io,
                          Errc::protocol, Errc::denied, Errc::limit, Errc::unavailable, Errc::no_space}) {
    if (name == name_of(code)) return code;
  }
  return Errc::protocol;
}

std::string member(const json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Expected<json> parse_reply(const std::string& text) {
  json reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) return fail(Errc::protocol, "shapleyd: its answer is no JSON object");
  const auto error = reply.find("error");
  if (error == reply.end()) return reply;
  return fail(code_named(member(*error, "code")), "shapleyd: " + member(*error, "what"));
}

}  // namespace

Expected<Client> Client::connect(const Endpoint& endpoint) {
  const Deadline until = std::chrono::steady_clock::now() + endpoint.timeout;
  SHAPLEY_TRY_ASSIGN(std::unique_ptr<Transport> transport,
                     endpoint.is_remote() ? connect_by_tcp(endpoint, until) : connect_by_socket(endpoint, until));
  return Client(std::move(transport), endpoint.timeout);
}

Expected<json> Client::ask(const json& request) {
  const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace);
  SHAPLEY_TRY_ASSIGN(const std::string answer, transport_->ask(text, std::chrono::steady_clock::now() + timeout_));
  return parse_reply(answer);
}

}  // namespace shapley::reader
