#include "daemon/controllers/controller_json.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "ledger/file/files.hpp"

namespace shapley::daemon {

using nlohmann::json;

std::string text_of(const FollowQuestion& question) {
  json request = shapley::json_of(question);
  request.update({{"request", "follow"}});
  return shapley::text_of(request);
}

std::string text_of(const FollowAnswer& answer) {
  return shapley::text_of(shapley::json_of(answer));
}

Expected<void> check(const FollowQuestion& question) {
  if (question.position.sequence >= 0 && question.rows >= 0 && question.rows <= k_most_rows) return {};
  return fail(Errc::invalid_argument, "follow: position's sequence is 0 or more, rows 0 to 500");
}

Expected<FollowAnswer> parse_answer(std::string_view text) {
  const json object = parse_json(text);
  if (const auto error = error_of_reply(object)) {
    return fail(error->code == Errc::unavailable ? Errc::unavailable : Errc::protocol,
                fmt::format("it answers: {}", error->what));
  }
  auto answer = from_json<FollowAnswer>(object);
  if (answer) return answer;
  return fail(Errc::protocol, fmt::format("its answer is none to this question ({}); install the same release of both",
                                          answer.error().what));
}

protocol::SetAsideReport report_of(const SetAside& entry) {
  protocol::SetAsideReport report{.at = entry.at, .file = entry.file};
  if (const auto& parted = entry.parted) {
    report.common = parted->common;
    report.events = parted->events;
    report.absent = parted->absent;
    report.different = parted->different;
  }
  return report;
}

std::filesystem::path record_file(const std::filesystem::path& ledger) {
  return ledger.string() + ".controller";
}

Expected<ControllerRecord> read_record(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return ControllerRecord{};
  const auto text = read_text_file(file, k_max_notes);
  if (!text) return with_context("controllers", text.error());
  auto record = from_json<ControllerRecord>(parse_json(*text));
  if (record) return record;
  return fail(
      Errc::corrupt,
      fmt::format("controllers: {}: is not as shapleyd writes it ({}); look at the other controller's shapleyctl "
                  "status: if this one's ledger is a whole one, remove the file",
                  file.string(), record.error().what));
}

Expected<void> write_record(const std::filesystem::path& file, ControllerRecord record) {
  for (SetAside& entry : record.set_aside) entry.parted.reset();
  return shapley::replace_file(file, shapley::text_of(shapley::json_of(record), 2) + "\n", shapley::Readers::owner);
}

Expected<void> set_ledger_aside(const std::filesystem::path& ledger, Instant now) {
  SHAPLEY_TRY_ASSIGN(ControllerRecord record, read_record(record_file(ledger)));
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path aside, ledger::set_aside(ledger, now));
  spdlog::warn("controllers: the ledger that was continued elsewhere is kept as {}", aside.string());
  record.set_aside.push_back({.at = now, .file = aside.string()});
  if (record.set_aside.size() > k_max_set_aside) record.set_aside.erase(record.set_aside.begin());
  return write_record(record_file(ledger), record);
}

}  // namespace shapley::daemon
