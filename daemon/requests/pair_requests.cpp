#include "daemon/requests/pair_requests.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/controllers/follow_messages.hpp"
#include "daemon/requests/error_answer.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

std::string only_one() {
  return text_of_error(Errc::conflict, "this shapleyd is the only one: its configuration names no peer");
}

Expected<Controller> who(const Service& service) {
  if (service.controllers() != nullptr) return service.controllers()->self();
  SHAPLEY_TRY_ASSIGN(std::string identity, service.books().ledger().identity());
  return Controller{
      .host = service.options().host, .identity = std::move(identity), .role = Role::active, .promotion = std::nullopt};
}

std::string progress(const Controllers& controllers, Instant now) {
  const json report = controllers.report(now);
  return json{
      {"role", report["role"]}, {"state", report["state"]}, {"epoch", report["epoch"]}, {"fault", report["fault"]}}
      .dump();
}

}  // namespace

Answer follow(const Service& service, const json& request) {
  const auto question = parse_question(request);
  if (!question) return text_of_error(question.error());
  auto self = who(service);
  if (!self) return text_of_error(self.error());
  return
      [asked = *question, self = *std::move(self)](ReadingThread::Connection& connection, ledger::QueryBudget budget) {
        const Expected<ledger::Ledger>& ledger = connection.ledger();
        if (!ledger) return text_of_error(ledger.error());
        auto part = ledger::chain_after(*ledger, asked.position, {.rows = asked.rows}, budget);
        if (!part) return text_of_error(part.error());
        return text_of(FollowAnswer{.controller = self, .part = *std::move(part)});
      };
}

Answer promote(Service& service, const Question& question) {
  Controllers* controllers = service.controllers();
  if (controllers == nullptr) return only_one();
  const auto by = question.request.find("by");
  const bool is_named = by != question.request.end() && by->is_string();
  controllers->want_promotion(is_named ? by->get<std::string>() : "nobody named", question.now);
  return progress(*controllers, question.now);
}

Answer demote(Service& service, const Question& question) {
  Controllers* controllers = service.controllers();
  if (controllers == nullptr) return only_one();
  const auto force = question.request.find("force");
  const bool is_forced = force != question.request.end() && force->is_boolean() && force->get<bool>();
  const bool is_fed = service.feeder() && service.feeder()->connected;
  if (is_fed && !is_forced) {
    return text_of_error(Errc::conflict,
                         "slurmctld's plugin feeds this one: slurmctld is primary here; shapleyctl demote --force all "
                         "the same");
  }
  if (const auto demoted = controllers->demote(question.now); !demoted) return text_of_error(demoted.error());
  return progress(*controllers, question.now);
}

json controller_object(const Service& service, Instant now) {
  return service.controllers() == nullptr ? json(nullptr) : service.controllers()->report(now);
}

}  // namespace shapley::daemon
