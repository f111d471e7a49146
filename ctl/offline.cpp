#include "ctl/offline.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/time_text.hpp"
#include "ctl/commands/statement.hpp"
#include "ledger/readers/declarations.hpp"

namespace shapley::ctl {

Expected<Instant> parse_time(const std::string& text, const std::string& option) {
  if (const auto instant = shapley::parse_time(text, wall_clock())) return *instant;
  return fail(Errc::invalid_argument, fmt::format("{}: '{}' is no time; {}", option, text, k_times_allowed));
}

Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                  const std::filesystem::path& ledger) {
  SHAPLEY_TRY_ASSIGN(const Instant instant, parse_time(text, option));
  const Instant present = wall_clock();
  if (instant <= present) return instant;
  // The ledger may be of a host whose clock is ahead of this one's.
  if (!ledger.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::OpenedFile opened, ledger::OpenedFile::open(ledger));
    const auto last = ledger::last_recorded(opened.ledger());
    if (last && instant <= *last) return instant;
  }
  return fail(Errc::invalid_argument,
              fmt::format("{}: {} lies in the future, of which the books know nothing; it is {}", option,
                          format_instant(instant), format_instant(present)));
}

Expected<TimesAsked> parse_times(const std::string& since_text, const std::string& until_text,
                                 const std::filesystem::path& ledger) {
  TimesAsked times;
  auto& [since, until] = times;
  if (!since_text.empty()) {
    SHAPLEY_TRY_ASSIGN(since, parse_past_time(since_text, "--since", ledger));
  }
  if (!until_text.empty()) {
    SHAPLEY_TRY_ASSIGN(until, parse_time(until_text, "--until"));
  }
  if (!since || !until || *since < *until) return times;
  return fail(Errc::invalid_argument,
              fmt::format("--until: {} is not after --since {}", format_instant(*until), format_instant(*since)));
}

Expected<void> check_file_options(const std::filesystem::path& ledger, std::initializer_list<FileOption> options) {
  if (!ledger.empty()) return {};
  for (const FileOption& option : options) {
    if (option.value.empty()) continue;
    return fail(Errc::invalid_argument,
                std::string(option.name) +
                    ": it is about a ledger's file, and the daemon is asked; name the file with "
                    "--ledger FILE");
  }
  return {};
}

namespace {

using ledger::Reading;
using nlohmann::json;

// Everything up to the reading's present is in its ledger.
answers::LedgerFile file_of(const Reading& reading) {
  return {.path = reading.ledger, .known_until = reading.now};
}

template <typename Request>
Expected<typename Request::Report> report_for(const Reading& reading, const Request& asked) {
  return answers::answer(asked, file_of(reading));
}

Expected<ledger::AccountReport> report_for(const Reading& reading, const ledger::StatementRequest& asked) {
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, answers::answer(asked, file_of(reading)));
  name_users(report);
  return report;
}

Expected<ledger::PreviewReport> report_for(const Reading& reading, const ledger::AdjustRequest& asked) {
  return answers::preview(asked, file_of(reading), reading.author, reading.now);
}

template <typename Request>
Expected<json> report_by(const Reading& reading) {
  SHAPLEY_TRY_ASSIGN(const Request asked, request_from<Request>(reading.request));
  SHAPLEY_TRY_ASSIGN(const auto report, report_for(reading, asked));
  return json_of(report);
}

Expected<json> report_of(const std::string& text) {
  SHAPLEY_TRY_ASSIGN(const Reading reading, from_json<Reading>(parse_json(text)));
  constexpr std::pair<std::string_view, Expected<json> (*)(const Reading&)> k_reports[] = {
      {ledger::StatusAtRequest::k_name, report_by<ledger::StatusAtRequest>},
      {ledger::StatementRequest::k_name, report_by<ledger::StatementRequest>},
      {ledger::HistoryRequest::k_name, report_by<ledger::HistoryRequest>},
      {"adjust_preview", report_by<ledger::AdjustRequest>},
  };
  const auto name = reading.request.find("request");
  for (const auto& [known, report] : k_reports) {
    if (name != reading.request.end() && *name == known) return report(reading);
  }
  return fail(Errc::protocol, "the request is none that shapleyctl answers");
}

}  // namespace

std::string offline_answer(const std::string& reading) {
  const auto report = report_of(reading);
  return text_of(report ? json{{"report", *report}} : error_reply(report.error()));
}

}  // namespace shapley::ctl
