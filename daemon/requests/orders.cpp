#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <spdlog/spdlog.h>

#include "base/json.hpp"
#include "daemon/requests/handlers.hpp"
#include "daemon/requests/visibility.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/reports/adjustment_report.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

Expected<Controllers*> controllers_of(Service& service) {
  if (service.controllers() != nullptr) return service.controllers();
  return fail(Errc::conflict, "this shapleyd is the only one: its configuration names no peer");
}

Expected<ledger::AdjustmentPlan> make(Service& service, const ledger::AdjustRequest& request, const Context& context) {
  SHAPLEY_TRY(takes_orders(service));
  SHAPLEY_TRY_ASSIGN(ledger::AdjustmentAsked asked, ledger::adjustment_asked(request));
  asked.author = author_of(context.user_id);
  // Earlier observations are booked first.
  if (!service.process(context.now)) return fail(Errc::io, "the ledger cannot be written; shapleyctl status says more");
  Books& books = service.books();
  SHAPLEY_TRY_ASSIGN(ledger::AdjustmentPlan plan,
                     ledger::plan_adjustment(books.ledger(), books.state(), asked, context.now));
  const std::vector<accounting::Event> events = plan.events();
  // The facts are older than the memory of the books: these are rebuilt, and the earlier figures are kept meanwhile.
  static_cast<void>(books.become_incomplete_by(events, context.now));
  SHAPLEY_TRY(books.commit(events, context.now));
  return plan;
}

Expected<void> rename_to(Service& service, const accounting::ClusterNamed& named) {
  SHAPLEY_TRY(takes_orders(service));
  return service.cluster().rename(named);
}

}  // namespace

Expected<void> takes_orders(const Service& service) {
  if (service.controllers() == nullptr || service.controllers()->takes_orders()) return {};
  return fail(Errc::conflict,
              "this one of two controllers does not write: ask on the host where slurmctld is primary, or, if it is on "
              "neither, where the other one's shapleyd answers (shapleyctl status)");
}

Expected<Answer> adjust(Service& service, const ledger::AdjustRequest& asked, const Context& context) {
  const auto made = make(service, asked, context);
  if (!made) return with_context("adjust", made.error());
  service.process(context.now);
  const accounting::AdjustmentMade& adjustment = made->made;
  spdlog::info("adjustment {}: {} by {}: {}", adjustment.number, adjustment.what, adjustment.author, adjustment.reason);
  const accounting::State& state = service.books().state();
  return reply_of(
      context.visible.show(ledger::AdjustedReport{.adjustment = ledger::adjustment_row(adjustment),
                                                  .core_hours = ledger::core_hours(made->work),
                                                  .rebuild = service.books().incomplete().has_value(),
                                                  .elsewhere = ledger::clusters_with_former_name(state, adjustment),
                                                  .in = ledger::unit_of(state.charges(), state.begin(), context.now)}));
}

Expected<Answer> rename_cluster(Service& service, const ledger::RenameClusterRequest& asked, const Context& context) {
  const std::string before = service.cluster().name();
  const accounting::ClusterNamed named{context.now, asked.cluster, author_of(context.user_id), asked.reason};
  if (const auto renamed = rename_to(service, named); !renamed) return with_context("rename-cluster", renamed.error());
  spdlog::warn("ledger: the cluster is called '{}' from now on, no longer '{}', by {}: {}", named.cluster, before,
               named.author, named.reason);
  return shapley::text_of(json{{"cluster", named.cluster}, {"before", before}});
}

Expected<Answer> accept_line(Service& service, const ledger::AcceptLineRequest& asked, const Context& context) {
  const auto accepted = [&]() -> Expected<ledger::LineReport> {
    SHAPLEY_TRY(takes_orders(service));
    return service.consortium().accept_line(asked, author_of(context.user_id), context.now);
  }();
  if (!accepted) return with_context("standing --accept", accepted.error());
  if (accepted->booked) {
    service.process(context.now);
    spdlog::warn("consortium: {}: statements of the ledger {} count from event {} on, accepted by {}: {}",
                 accepted->cluster, accepted->ledger, accepted->event, accepted->author, accepted->reason);
  }
  return shapley::text_of(shapley::json_of(*accepted));
}

Expected<Answer> note_upkeep(Service& service, const ledger::UpkeepRequest& asked, const Context& context) {
  if (asked.sequence <= 0) return fail(Errc::invalid_argument, "upkeep: sequence is above 0");
  const bool is_of_papers = asked.done == ledger::UpkeepDone::papers;
  const bool is_ended_month =
      asked.until.value > 0 && asked.until <= context.now && asked.until == period_begin(Period::monthly, asked.until);
  if (is_of_papers && !is_ended_month)
    return fail(Errc::invalid_argument, "upkeep: until is the end of a month (UTC) that has ended");
  SHAPLEY_TRY_ASSIGN(const auto own, ledger::hash_at(service.books().ledger(), asked.sequence));
  if (!own || ledger::to_hex(*own) != asked.hash) {
    return fail(Errc::conflict, fmt::format("upkeep: event {} of this hash is not in the ledger: that was another one",
                                            asked.sequence));
  }
  if (is_of_papers) {
    SHAPLEY_TRY_ASSIGN(const auto next,
                       ledger::chain_after(service.books().ledger(), {asked.sequence, *own}, {.rows = 1}));
    if (!next.rows.empty() && next.rows.front().received < asked.until) {
      return fail(
          Errc::conflict,
          fmt::format("upkeep: the report was made of a copy that ends at event {}, before the end of that month",
                      asked.sequence));
    }
  }
  Upkeep upkeep = service.upkeep();
  if (asked.done == ledger::UpkeepDone::backup) {
    upkeep.backup = Upkeep::Backup{.at = context.now, .sequence = asked.sequence};
  } else if (!is_of_papers) {
    upkeep.audit = Upkeep::Audit{.at = context.now, .sequence = asked.sequence, .clean = asked.clean};
  } else if (!upkeep.papers || upkeep.papers->until <= asked.until) {
    upkeep.papers = Upkeep::Papers{.at = context.now, .sequence = asked.sequence, .until = asked.until};
  }
  SHAPLEY_TRY(service.note_upkeep(upkeep));
  return shapley::text_of(shapley::json_of(upkeep));
}

Expected<Answer> begin(Service& service, const ledger::NoMembers& /*asked*/, const Context& context) {
  SHAPLEY_TRY_ASSIGN(Controllers * controllers, controllers_of(service));
  SHAPLEY_TRY(controllers->allow_beginning(author_of(context.user_id)));
  return shapley::text_of(json{{"allowed", true}});
}

// Answered from memory and the end of the ledger, in the serving thread: a feeder waits for a follower's next question,
// which must therefore not wait for long reads.
Expected<Answer> follow(Service& service, const FollowQuestion& asked, const Context& /*context*/) {
  SHAPLEY_TRY(check(asked));
  SHAPLEY_TRY_ASSIGN(Controllers * controllers, controllers_of(service));
  controllers->note_question(asked);
  FollowAnswer answer;
  SHAPLEY_TRY_ASSIGN(answer.controller, controllers->self());
  SHAPLEY_TRY_ASSIGN(answer.part, ledger::chain_after(service.books().ledger(), asked.position, {.rows = asked.rows}));
  SHAPLEY_TRY_ASSIGN(answer.holds_began, controllers->holds(asked.began));
  if (answer.controller.ledger != asked.ledger) {
    answer.part.holds = answer.holds_began = false;
    answer.part.rows.clear();
  }
  return text_of(answer);
}

std::string said_alone(const std::string& answer) {
  json object = parse_json(answer);
  if (!object.is_object() || object.contains("error")) return answer;
  object["alone"] = true;
  return shapley::text_of(object);
}

std::string author_of(std::uint32_t uid) {
  std::array<char, 16384> room{};
  passwd entry{};
  passwd* found = nullptr;
  std::string author = "uid " + std::to_string(uid);
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    author += fmt::format(" ({})", entry.pw_name);
  }
  return author;
}

}  // namespace shapley::daemon
