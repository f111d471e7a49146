#include "daemon/controllers/follow_messages.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "ledger/store/event_json.hpp"
#include "ledger/store/text.hpp"

namespace shapley::daemon {

namespace {

using accounting::ControllerPromoted;
using nlohmann::json;

constexpr std::int64_t k_max_rows = 2000;

json object_of(const ledger::Position& position) {
  return {{"sequence", position.sequence}, {"hash", ledger::to_hex(position.hash)}};
}

// All below throw an exception when a member is missing, or is not what it must be.

ledger::Digest digest_of(const json& text) {
  const auto bytes = ledger::from_hex(text.get<std::string>());
  ledger::Digest digest{};
  if (!bytes || bytes->size() != digest.size()) throw std::invalid_argument("no hash");
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

ledger::Position position_of(const json& object) {
  return {.sequence = object.at("sequence").get<std::int64_t>(), .hash = digest_of(object.at("hash"))};
}

ledger::ChainRow row_of(const json& object) {
  return {.sequence = object.at("sequence").get<std::int64_t>(),
          .received = {object.at("received").get<std::int64_t>()},
          .kind = object.at("kind").get<std::string>(),
          .payload = object.at("payload").get<std::string>(),
          .hash = digest_of(object.at("hash"))};
}

std::optional<ControllerPromoted> promotion_of(const json& object) {
  if (object.is_null()) return std::nullopt;
  const auto event = ledger::decode("controller_promoted", object.dump());
  if (!event) throw std::invalid_argument(event.error().what);
  return std::get<ControllerPromoted>(*event);
}

Role role_of(const json& object) {
  return object.at("role").get<std::string>() == "active" ? Role::active : Role::standby;
}

FollowAnswer answer_of(const json& object) {
  FollowAnswer answer;
  answer.controller = {.host = object.at("host").get<std::string>(),
                       .identity = object.at("ledger").get<std::string>(),
                       .role = role_of(object),
                       .promotion = promotion_of(object.at("promotion"))};
  answer.part.head = position_of(object.at("head"));
  answer.part.holds = object.at("holds").get<bool>();
  for (const json& row : object.at("events")) answer.part.rows.push_back(row_of(row));
  return answer;
}

// What `read` makes of an answer that is no error.
template <typename Read>
auto read_answer(std::string_view text, Read read) -> Expected<decltype(read(json()))> {
  const json object = json::parse(text, nullptr, false);
  try {
    if (const auto error = object.find("error"); object.is_object() && error != object.end()) {
      const bool is_early = error->at("code").get<std::string>() == name_of(Errc::unavailable);
      return fail(is_early ? Errc::unavailable : Errc::protocol, "it answers: " + error->at("what").get<std::string>());
    }
    return read(object);
  } catch (const std::exception&) {
    return fail(Errc::protocol, "its answer is none to this question; install the same release of both");
  }
}

}  // namespace

std::string_view name_of(Role role) {
  return role == Role::active ? "active" : "standby";
}

bool is_later(const std::optional<ControllerPromoted>& a, const std::optional<ControllerPromoted>& b) {
  if (!a || !b) return a.has_value() && !b.has_value();
  return std::tie(a->at, a->epoch, a->host) > std::tie(b->at, b->epoch, b->host);
}

std::string text_of(const FollowQuestion& question) {
  json request = object_of(question.position);
  request["request"] = "follow";
  request["rows"] = question.rows;
  return request.dump();
}

std::string text_of(const FollowAnswer& answer) {
  const Controller& who = answer.controller;
  json object{{"host", who.host},
              {"ledger", who.identity},
              {"role", name_of(who.role)},
              {"promotion", nullptr},
              {"head", object_of(answer.part.head)},
              {"holds", answer.part.holds},
              {"events", json::array()}};
  if (who.promotion) object["promotion"] = json::parse(ledger::encode(accounting::Event(*who.promotion)));
  for (const ledger::ChainRow& row : answer.part.rows) {
    object["events"].push_back({{"sequence", row.sequence},
                                {"received", row.received.value},
                                {"kind", row.kind},
                                {"payload", row.payload},
                                {"hash", ledger::to_hex(row.hash)}});
  }
  return object.dump();
}

Expected<FollowQuestion> parse_question(const json& request) {
  try {
    FollowQuestion question{.position = position_of(request), .rows = request.at("rows").get<std::int64_t>()};
    if (question.position.sequence >= 0 && question.rows >= 0 && question.rows <= k_max_rows) return question;
  } catch (const std::exception&) {
  }
  return fail(Errc::invalid_argument, "follow: sequence is 0 or more, hash 64 hexadecimal digits, rows 0 to 2000");
}

Expected<Role> parse_role(std::string_view text) {
  return read_answer(text, role_of);
}

Expected<FollowAnswer> parse_answer(std::string_view text) {
  return read_answer(text, answer_of);
}

}  // namespace shapley::daemon
