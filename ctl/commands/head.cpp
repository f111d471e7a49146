#include "ctl/commands/head.hpp"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/whole_file.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

Instant wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

Expected<ledger::SignedHead> head_of_daemon(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json reply, client.ask({{"request", "head"}}));
  const auto text = reply.find("head");
  if (text == reply.end() || !text->is_string()) return fail(Errc::protocol, "shapleyd: its answer holds no head");
  return ledger::parse_head(text->get<std::string>());
}

Expected<ledger::SignedHead> head_of_file(const std::string& file, const std::string& sign_with) {
  SHAPLEY_TRY_ASSIGN(const ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  if (!sign_with.empty()) {
    SHAPLEY_TRY_ASSIGN(const ledger::SigningKey key, ledger::SigningKey::read(sign_with));
    return ledger::sign_head(ledger, key, wall_clock());
  }
  SHAPLEY_TRY_ASSIGN(auto newest, ledger::newest_stored_head(ledger));
  if (newest) return *std::move(newest);
  return fail(Errc::not_found, file +
                                   ": holds no signed head; sign one with --sign-with KEY, or let shapleyd sign "
                                   "(signing_key in its configuration)");
}

std::string json_of(const ledger::SignedHead& head) {
  const std::string text = head.text();
  const std::string mark = "\nsignature: ";
  const std::string signature = text.substr(text.find(mark) + mark.size(), 2 * head.signature.size());
  const json object{
      {"ledger", head.ledger}, {"sequence", head.sequence}, {"hash", head.hash}, {"time", format_instant(head.time)},
      {"key", head.key},       {"signature", signature},    {"text", text}};
  return json_text(object);
}

}  // namespace

Expected<ledger::SignedHead> wanted_head(const HeadArguments& arguments, const Endpoint& endpoint) {
  if (arguments.ledger.empty() && arguments.sign_with.empty()) return head_of_daemon(endpoint);
  std::string file = arguments.ledger;
  if (file.empty()) {
    SHAPLEY_TRY_ASSIGN(const std::filesystem::path own, daemon_ledger(endpoint));
    file = own.string();
  }
  return head_of_file(file, arguments.sign_with);
}

Expected<ExitCode> run_head(const HeadArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::SignedHead head, wanted_head(arguments, endpoint));
  const std::string text = arguments.json ? json_of(head) : head.text();
  if (arguments.output.empty()) {
    environment.out << text;
  } else {
    SHAPLEY_TRY(write_whole_file(arguments.output, text));
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
