#include "daemon/requests/upkeep_request.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "daemon/requests/error_answer.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

template <typename T>
T told_or(const json& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  if constexpr (std::is_same_v<T, bool>) {
    return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  } else if constexpr (std::is_integral_v<T>) {
    return found != object.end() && found->is_number_integer() ? found->get<T>() : otherwise;
  } else {
    return found != object.end() && found->is_string() ? found->get<T>() : otherwise;
  }
}

}  // namespace

Answer note_upkeep(Service& service, const Question& question) {
  const auto done = told_or(question.request, "done", std::string());
  const auto sequence = told_or(question.request, "sequence", std::int64_t{0});
  const auto hash = told_or(question.request, "hash", std::string());
  if ((done != "backup" && done != "audit") || sequence <= 0 || hash.empty()) {
    return text_of_error(Errc::invalid_argument,
                         "upkeep: done is \"backup\" or \"audit\", sequence above 0, hash that of this event");
  }
  const auto own = ledger::hash_at(service.books().ledger(), sequence);
  if (!own) return text_of_error(own.error().code, own.error().what);
  if (!*own || ledger::to_hex(**own) != hash) {
    return text_of_error(Errc::conflict, "upkeep: event " + std::to_string(sequence) +
                                             " of this hash is not in the ledger: that was another one");
  }
  Upkeep upkeep = service.upkeep();
  if (done == "backup") {
    upkeep.backup = Upkeep::Backup{.at = question.now, .sequence = sequence};
  } else {
    upkeep.audit =
        Upkeep::Audit{.at = question.now, .sequence = sequence, .clean = told_or(question.request, "clean", false)};
  }
  if (const auto kept = service.note_upkeep(upkeep); !kept) return text_of_error(kept.error().code, kept.error().what);
  return json{{"backup", backup_object(upkeep)}, {"audit", audit_object(upkeep)}}.dump();
}

json backup_object(const Upkeep& upkeep) {
  if (!upkeep.backup) return nullptr;
  return {{"at", upkeep.backup->at.value}, {"sequence", upkeep.backup->sequence}};
}

json audit_object(const Upkeep& upkeep) {
  if (!upkeep.audit) return nullptr;
  return {{"at", upkeep.audit->at.value}, {"sequence", upkeep.audit->sequence}, {"clean", upkeep.audit->clean}};
}

}  // namespace shapley::daemon
