#include "daemon/requests/pair_requests.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/controllers/follow_messages.hpp"
#include "daemon/requests/author.hpp"
#include "daemon/requests/error_answer.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

Expected<Controllers*> controllers_of(Service& service) {
  if (service.controllers() != nullptr) return service.controllers();
  return fail(Errc::conflict, "this shapleyd is the only one: its configuration names no peer");
}

// From memory and the end of the ledger, in the daemon's own thread: a feeder waits for a follower's next question, so
// it must not wait behind those that read much.
Expected<FollowAnswer> answer_to(Service& service, const FollowQuestion& question) {
  SHAPLEY_TRY_ASSIGN(Controllers * controllers, controllers_of(service));
  controllers->note_question(question);
  FollowAnswer answer;
  SHAPLEY_TRY_ASSIGN(answer.controller, controllers->self());
  SHAPLEY_TRY_ASSIGN(answer.part,
                     ledger::chain_after(service.books().ledger(), question.position, {.rows = question.rows}));
  if (answer.controller.identity == question.ledger) return answer;
  answer.part.holds = false;
  answer.part.rows.clear();
  return answer;
}

}  // namespace

Answer follow(Service& service, const json& request) {
  const auto question = parse_question(request);
  if (!question) return text_of_error(question.error());
  const auto answer = answer_to(service, *question);
  return answer ? text_of(*answer) : text_of_error(answer.error());
}

Answer begin(Service& service, const Question& question) {
  const auto allowed = [&]() -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(Controllers * controllers, controllers_of(service));
    return controllers->allow_beginning(author_of(question.user_id));
  }();
  return allowed ? json{{"allowed", true}}.dump() : text_of_error(allowed.error());
}

Expected<void> takes_orders(const Service& service) {
  if (service.controllers() == nullptr || service.controllers()->takes_orders()) return {};
  return fail(Errc::conflict,
              "this one of two controllers does not write: ask on the host where slurmctld is primary, or, if it is on "
              "neither, where the other one's shapleyd answers (shapleyctl status)");
}

json controller_object(const Service& service) {
  return service.controllers() == nullptr ? json(nullptr) : service.controllers()->report();
}

}  // namespace shapley::daemon
