#include "daemon/requests/reports.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "accounting/estimators/estimator.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "config/values.hpp"
#include "daemon/requests/handlers.hpp"
#include "daemon/requests/visibility.hpp"
#include "ledger/reports/adjustment_report.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool k_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool k_sanitized = true;
#else
constexpr bool k_sanitized = false;
#endif
#else
constexpr bool k_sanitized = false;
#endif
// Sanitizers reserve terabytes of addresses.
constexpr std::size_t k_memory_bytes = k_sanitized ? 0 : 2UL << 30U;

constexpr const char* k_without_limits =
    ", the daemon's limit; read the ledger or a copy of it (shapleyctl backup) with --ledger FILE";

template <typename Report>
Expected<std::string> reply_to(const ledger::Reading& reading, const Visibility& visible, const ChildLimits& limits) {
  SHAPLEY_TRY_ASSIGN(const json reply,
                     ask_program({reading_program().native(), "--answer"}, shapley::json_of(reading), limits));
  auto report = from_json<Report>(reply);
  if (!report) return fail(Errc::io, "report: what shapleyctl replied is no such report: " + report.error().what);
  return reply_of(visible.show(*std::move(report)));
}

template <typename Report>
Answer report_by_program(const Service& service, json request, const Context& context) {
  ledger::Reading reading{.ledger = service.site().configuration.ledger.native(),
                          .now = context.now,
                          .author = author_of(context.user_id),
                          .request = std::move(request)};
  return [reading = std::move(reading), visible = context.visible](ReadingThread::Connection& /*connection*/,
                                                                   ledger::QueryBudget budget) {
    const ChildLimits limits{.memory_bytes = k_memory_bytes, .ended = budget.ended};
    const auto reply = reply_to<Report>(reading, visible, limits);
    return reply ? *reply : text_of_error(reply.error());
  };
}

Expected<void> check_interval(const ledger::IntervalRequest& asked, Instant now) {
  if (asked.since && *asked.since > now) return fail(Errc::invalid_argument, "since lies in the future");
  if (asked.since && asked.until && *asked.since >= *asked.until)
    return fail(Errc::invalid_argument, "until is not after since");
  return check_contribution(asked.contribution);
}

}  // namespace

Expected<json> ask_program(const std::vector<std::string>& words, const json& request, const ChildLimits& limits) {
  const auto run = run_child(words, {.time = limits.time,
                                     .memory_bytes = limits.memory_bytes,
                                     .output_bytes = limits.output_bytes,
                                     .ended = limits.ended,
                                     .is_dispensable = true,
                                     .input = shapley::text_of(request),
                                     .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "LC_ALL=C"}});
  if (!run) return fail(Errc::io, "report: " + run.error().what);
  switch (run->end) {
    case ChildEnd::late:
      return fail(Errc::limit,
                  fmt::format("report: it took more than {} s{}", limits.time.count() / 1000, k_without_limits));
    case ChildEnd::overlong:
      return fail(Errc::limit, fmt::format("report: its answer has more than {} MiB{}", limits.output_bytes >> 20U,
                                           k_without_limits));
    case ChildEnd::unwanted:
      return fail(Errc::limit, "report: the client disconnected");
    case ChildEnd::exited:
    case ChildEnd::signalled:
      break;
  }
  json reply = parse_json(run->output);
  if (auto error = error_of_reply(reply)) return tl::unexpected(*std::move(error));
  const auto report = reply.is_object() ? reply.find("report") : reply.end();
  if (reply.is_object() && report != reply.end()) return std::move(*report);
  const std::string why = run->errors.substr(0, run->errors.find('\n'));
  return fail(Errc::io, fmt::format("report: the program ended with code {} and no reply{}", run->exit_code,
                                    why.empty() ? "" : ": " + why));
}

std::filesystem::path reading_program() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path directory = own.parent_path();
  const std::filesystem::path beside = directory / "shapleyctl";
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  return directory.parent_path() / "bin" / "shapleyctl";
}

Expected<void> check_contribution(const std::string& name) {
  if (name.empty() || accounting::parse_estimator(name)) return {};
  return fail(Errc::invalid_argument,
              fmt::format("contribution is {}, not \"{}\"", config::join(accounting::estimator_names(), " or "), name));
}

Expected<Answer> status_at(Service& service, const ledger::StatusAtRequest& asked, const Context& context) {
  if (asked.at > context.now) return fail(Errc::invalid_argument, "at lies in the future");
  SHAPLEY_TRY(check_contribution(asked.of.contribution));
  return report_by_program<ledger::StatusReport>(service, ledger::request_of(asked), context);
}

Expected<Answer> statement(Service& service, const ledger::StatementRequest& asked, const Context& context) {
  SHAPLEY_TRY(check_interval(asked.of, context.now));
  return report_by_program<ledger::AccountReport>(service, ledger::request_of(asked), context);
}

Expected<Answer> history(Service& service, const ledger::HistoryRequest& asked, const Context& context) {
  SHAPLEY_TRY(check_interval(asked.of, context.now));
  return report_by_program<ledger::HistoryReport>(service, ledger::request_of(asked), context);
}

Expected<Answer> adjust_preview(Service& service, const ledger::AdjustRequest& asked, const Context& context) {
  SHAPLEY_TRY(ledger::adjustment_asked(asked));
  return report_by_program<ledger::PreviewReport>(service, ledger::request_of("adjust_preview", asked), context);
}

}  // namespace shapley::daemon
