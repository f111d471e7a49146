#include "ctl/client.hpp"

#include <nlohmann/json.hpp>

namespace shapley::ctl {

using nlohmann::json;

Endpoint endpoint_at(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
  return {.socket = socket,
          .timeout = timeout,
          .program = "shapleyctl " SHAPLEY_VERSION,
          .otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET; without a daemon: --ledger FILE"};
}

Expected<std::filesystem::path> ledger_named_in(const json& status) {
  const auto daemon = status.find("daemon");
  const auto file = daemon == status.end() || !daemon->is_object() ? json() : daemon->value("ledger", json());
  if (!file.is_string() || file.get<std::string>().empty()) {
    return fail(Errc::protocol, "shapleyd: its status does not name a ledger; name the file");
  }
  return file.get<std::string>();
}

Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint) {
  if (!endpoint.missing_here.empty()) {
    return fail(Errc::unavailable, endpoint.missing_here + ", so none says which ledger is its own: name the file");
  }
  if (endpoint.is_remote()) {
    return fail(Errc::unavailable,
                "the ledger is a file on shapleyd's host: run this there, or name a copy of it (--ledger FILE)");
  }
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json status, client.ask({{"request", "status"}}));
  return ledger_named_in(status);
}

void tell_upkeep(const Endpoint& endpoint, Upkeep upkeep, std::int64_t sequence, const std::string& hash) {
  if (endpoint.is_remote()) return;
  auto client = Client::connect(endpoint);
  if (!client) return;
  json request{{"request", "upkeep"}, {"sequence", sequence}, {"hash", hash}};
  request["done"] = upkeep == Upkeep::backup ? "backup" : "audit";
  if (upkeep != Upkeep::backup) request["clean"] = upkeep == Upkeep::clean_audit;
  static_cast<void>(client->ask(request));
}

}  // namespace shapley::ctl
