#include "daemon/requests/cluster_request.hpp"

#include <string>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "daemon/requests/author.hpp"
#include "daemon/requests/error_answer.hpp"
#include "daemon/requests/pair_requests.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

std::string text_in(const json& request, const char* member) {
  const auto found = request.find(member);
  return found != request.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Answer rename_cluster(Service& service, const Question& question) {
  if (const auto takes = takes_orders(service); !takes) {
    return text_of_error(takes.error().code, "rename-cluster: " + takes.error().what);
  }
  const std::string before = service.cluster().name();
  const accounting::ClusterNamed named{question.now, text_in(question.request, "cluster"), author_of(question.user_id),
                                       text_in(question.request, "reason")};
  if (const auto renamed = service.cluster().rename(named); !renamed) {
    return text_of_error(renamed.error().code, "rename-cluster: " + renamed.error().what);
  }
  spdlog::warn("ledger: the cluster is called '{}' from now on, no longer '{}', by {}: {}", named.cluster, before,
               named.author, named.reason);
  return json{{"cluster", named.cluster}, {"before", before}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

json cluster_object(const Service& service) {
  const ClusterName& cluster = service.cluster();
  json object{{"name", cluster.name().empty() ? json(nullptr) : json(cluster.name())},
              {"refused", nullptr},
              {"refusals", cluster.refusals()}};
  if (const auto& refused = cluster.refused()) {
    const std::string& location = refused->state_location;
    object["refused"] = {{"cluster", refused->cluster},
                         {"state_location", location.empty() ? json(nullptr) : json(location)},
                         {"times", refused->times},
                         {"first_at", refused->first.value},
                         {"last_at", refused->last.value}};
  }
  return object;
}

}  // namespace shapley::daemon
