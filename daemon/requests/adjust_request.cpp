#include "daemon/requests/adjust_request.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "daemon/requests/author.hpp"
#include "daemon/requests/error_answer.hpp"
#include "daemon/requests/pair_requests.hpp"
#include "daemon/requests/reports.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

Expected<ledger::AdjustmentPlan> make(Service& service, const Question& question) {
  SHAPLEY_TRY(takes_orders(service));
  SHAPLEY_TRY_ASSIGN(ledger::AdjustmentAsked asked, ledger::parse_adjustment(question.request));
  asked.author = author_of(question.user_id);
  // What was observed before is booked before.
  if (!service.process(question.now))
    return fail(Errc::io, "the ledger cannot be written; shapleyctl status says more");
  Books& books = service.books();
  SHAPLEY_TRY_ASSIGN(ledger::AdjustmentPlan plan,
                     ledger::plan_adjustment(books.ledger(), books.state(), asked, question.now));
  const std::vector<accounting::Event> events = plan.events();
  // Older than the books remember: they are rebuilt, and what they knew is held meanwhile.
  static_cast<void>(books.become_incomplete_by(events, question.now));
  SHAPLEY_TRY(books.commit(events, question.now));
  return plan;
}

}  // namespace

Answer adjust(Service& service, const Question& question) {
  const auto made = make(service, question);
  if (!made) return text_of_error(made.error().code, "adjust: " + made.error().what);
  service.process(question.now);
  const accounting::AdjustmentMade& adjustment = made->made;
  spdlog::info("adjustment {}: {} by {}: {}", adjustment.number, adjustment.what, adjustment.author, adjustment.reason);
  return json{{"adjustment", ledger::adjustment_object(adjustment)},
              {"core_hours", ledger::core_hours(made->work)},
              {"rebuild", service.books().incomplete().has_value()}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

Answer adjust_preview(const Service& service, const Question& question) {
  const auto asked = ledger::parse_adjustment(question.request);
  if (!asked) return text_of_error(asked.error());
  json request = question.request;
  request["now"] = question.now.value;
  request["author"] = author_of(question.user_id);
  return report_of(service, "adjust", {"--request", request.dump(-1, ' ', false, json::error_handler_t::replace)},
                   question.visible);
}

Answer adjustments(const Service& service, const Question& question) {
  json report = ledger::adjustments_report(service.books().state());
  hide_adjusted_runs(report, question.visible);
  return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace shapley::daemon
