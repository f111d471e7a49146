#include "daemon/requests/reports.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "accounting/estimators/estimator.hpp"
#include "base/calendar.hpp"
#include "config/values.hpp"
#include "daemon/requests/child_process.hpp"
#include "daemon/requests/error_answer.hpp"
#include "ledger/reports/statement.hpp"

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
// The last instant that can be written as a time.
constexpr Instant k_end_of_year_9999{253402300799};
// Sanitizers reserve terabytes of addresses.
constexpr std::size_t k_memory_bytes = k_sanitized ? 0 : 2UL << 30U;

// shapleyctl's words without its name, which the asker's own will put before them again.
std::string told_by(const ChildResult& result) {
  constexpr std::string_view k_name = "shapleyctl: ";
  std::string text = result.errors;
  if (text.starts_with(k_name)) text.erase(0, k_name.size());
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "the report ended with code " + std::to_string(result.exit_code) : text;
}

// The documented exit codes of shapleyctl: 2 is said of the options, 4 of what may not be, 5 of the ledger.
Errc code_of(int exit_code) {
  constexpr int k_usage = 2;
  constexpr int k_refused = 4;
  if (exit_code == k_refused) return Errc::denied;
  return exit_code == k_usage ? Errc::invalid_argument : Errc::io;
}

// Findings are told by the report itself.
std::string answer_of(const Expected<ChildResult>& result, const Visibility& visible) {
  constexpr int k_findings = 1;
  if (!result) return text_of_error(result.error().code, "report: " + result.error().what);
  if (result->exit_code != 0 && (result->exit_code != k_findings || result->output.empty()))
    return text_of_error(code_of(result->exit_code), told_by(*result));
  json report = json::parse(result->output, nullptr, false);
  if (!report.is_object()) return text_of_error(Errc::io, "report: what shapleyctl printed is no JSON object");
  hide_users(report, visible);
  hide_adjusted_runs(report, visible);
  return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

Answer report_by(std::vector<std::string> arguments, const Visibility& visible) {
  return [arguments = std::move(arguments), visible](ReadingThread::Connection& /*connection*/,
                                                     ledger::QueryBudget budget) {
    const ChildLimits limits{.memory_bytes = k_memory_bytes, .ended = budget.ended};
    return answer_of(run_child(reading_program(), arguments, limits), visible);
  };
}

std::vector<std::string> command_on(const Service& service, std::string command) {
  return {std::move(command), "--json", "--ledger", service.site().configuration.ledger.native()};
}

}  // namespace

std::filesystem::path reading_program() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path directory = own.parent_path();
  const std::filesystem::path beside = directory / "shapleyctl";
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  return directory.parent_path() / "bin" / "shapleyctl";
}

namespace {

using Arguments = std::vector<std::string>;

// nullopt: the request does not say.
Expected<std::optional<Instant>> instant_of(const json& request, const char* member) {
  const auto value = request.find(member);
  if (value == request.end()) return std::nullopt;
  if (!value->is_number_integer() || value->get<std::int64_t>() < 0) {
    return fail(Errc::invalid_argument, std::string(member) + " is an instant in seconds since 1970-01-01 UTC");
  }
  return Instant{value->get<std::int64_t>()};
}

Expected<void> add_contribution(const json& request, Arguments& arguments) {
  const auto asked = request.find("contribution");
  if (asked == request.end()) return {};
  const auto known = asked->is_string() ? accounting::parse_estimator(asked->get<std::string>()) : std::nullopt;
  if (!known) {
    return fail(Errc::invalid_argument,
                "contribution is " + config::join(accounting::estimator_names(), " or ") + ", not " + asked->dump());
  }
  arguments.insert(arguments.end(), {"--contribution", asked->get<std::string>()});
  return {};
}

// Whose name it could be; so nothing in it is taken for another option or name.
bool is_name(const json& value) {
  constexpr std::size_t k_longest = 64;
  constexpr std::string_view k_others = "._-";
  if (!value.is_string()) return false;
  const auto& name = value.get_ref<const std::string&>();
  return !name.empty() && name.size() <= k_longest && std::ranges::all_of(name, [&](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || k_others.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

Expected<void> add_organizations(const json& request, Arguments& arguments) {
  const auto asked = request.find("organizations");
  if (asked == request.end()) return {};
  if (!asked->is_array() || asked->empty() || !std::ranges::all_of(*asked, is_name)) {
    return fail(Errc::invalid_argument, "organizations is a list of names");
  }
  std::string names;
  for (const json& name : *asked) names += (names.empty() ? "" : ",") + name.get<std::string>();
  arguments.push_back("--organization=" + names);
  return {};
}

Expected<Arguments> interval_arguments(const Service& service, const Question& question, std::string command) {
  Arguments arguments = command_on(service, std::move(command));
  SHAPLEY_TRY_ASSIGN(const auto since, instant_of(question.request, "since"));
  SHAPLEY_TRY_ASSIGN(const auto until, instant_of(question.request, "until"));
  if (since && *since > question.now) return fail(Errc::invalid_argument, "since lies in the future");
  if (since) arguments.insert(arguments.end(), {"--since", format_instant(*since)});
  if (until) arguments.insert(arguments.end(), {"--until", format_instant(std::min(*until, k_end_of_year_9999))});
  arguments.insert(arguments.end(), {"--known-until", format_instant(question.now)});
  SHAPLEY_TRY(add_organizations(question.request, arguments));
  SHAPLEY_TRY(add_contribution(question.request, arguments));
  return arguments;
}

Expected<Arguments> past_arguments(const Service& service, const Question& question) {
  SHAPLEY_TRY_ASSIGN(const auto at, instant_of(question.request, "at"));
  if (!at) return fail(Errc::invalid_argument, "at is an instant in seconds since 1970-01-01 UTC");
  if (*at > question.now) return fail(Errc::invalid_argument, "at lies in the future");
  Arguments arguments = command_on(service, "status");
  arguments.insert(arguments.end(), {"--at", format_instant(*at)});
  if (const auto asked = question.request.find("worth"); asked != question.request.end() && *asked == true)
    arguments.emplace_back("--worth");
  SHAPLEY_TRY(add_contribution(question.request, arguments));
  return arguments;
}

Answer report_or_refusal(Expected<Arguments> arguments, const Visibility& visible) {
  if (!arguments) return text_of_error(arguments.error());
  return report_by(*std::move(arguments), visible);
}

}  // namespace

Answer report_of(const Service& service, std::string command, std::vector<std::string> options,
                 const Visibility& visible) {
  Arguments arguments = command_on(service, std::move(command));
  arguments.insert(arguments.end(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
  return report_by(std::move(arguments), visible);
}

Answer status_at(const Service& service, const Question& question) {
  return report_or_refusal(past_arguments(service, question), question.visible);
}

Answer statement(const Service& service, const Question& question) {
  const json as_of = question.request.value("as_of", json("then"));
  if (as_of != "then" && as_of != "now") return text_of_error(Errc::invalid_argument, "as_of is then or now");
  auto arguments = interval_arguments(service, question, "statement");
  if (arguments) arguments->insert(arguments->end(), {"--as-of", as_of.get<std::string>()});
  return report_or_refusal(std::move(arguments), question.visible);
}

Answer history(const Service& service, const Question& question) {
  const json by = question.request.value("by", json("day"));
  if (!by.is_string() || !ledger::parse_interval(by.get<std::string>())) {
    return text_of_error(Errc::invalid_argument, "by is one of " + ledger::interval_names());
  }
  auto arguments = interval_arguments(service, question, "history");
  if (arguments) arguments->insert(arguments->end(), {"--by", by.get<std::string>()});
  return report_or_refusal(std::move(arguments), question.visible);
}

}  // namespace shapley::daemon
