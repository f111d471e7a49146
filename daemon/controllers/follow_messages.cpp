#include "daemon/controllers/follow_messages.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "ledger/store/text.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

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

Role role_of(const json& object) {
  return object.at("role").get<std::string>() == "active" ? Role::active : Role::standby;
}

FollowAnswer answer_of(const json& object) {
  FollowAnswer answer;
  answer.controller = {.host = object.at("host").get<std::string>(),
                       .identity = object.at("ledger").get<std::string>(),
                       .instance = object.at("instance").get<std::string>(),
                       .role = role_of(object),
                       .began_after = object.at("began_after").get<std::int64_t>()};
  answer.part.head = position_of(object.at("head"));
  answer.part.holds = object.at("holds").get<bool>();
  for (const json& row : object.at("events")) answer.part.rows.push_back(row_of(row));
  return answer;
}

}  // namespace

std::string_view name_of(Role role) {
  return role == Role::active ? "active" : "standby";
}

std::string text_of(const FollowQuestion& question) {
  json request = object_of(question.position);
  request["request"] = "follow";
  request["rows"] = question.rows;
  request["ledger"] = question.ledger;
  request["instance"] = question.instance;
  return request.dump();
}

std::string text_of(const FollowAnswer& answer) {
  const Controller& who = answer.controller;
  json object{{"host", who.host},           {"ledger", who.identity},         {"instance", who.instance},
              {"role", name_of(who.role)},  {"began_after", who.began_after}, {"head", object_of(answer.part.head)},
              {"holds", answer.part.holds}, {"events", json::array()}};
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
    FollowQuestion question{.position = position_of(request),
                            .rows = request.at("rows").get<std::int64_t>(),
                            .ledger = request.at("ledger").get<std::string>(),
                            .instance = request.at("instance").get<std::string>()};
    if (question.position.sequence >= 0 && question.rows >= 0 && question.rows <= k_most_rows) return question;
  } catch (const std::exception&) {
  }
  return fail(
      Errc::invalid_argument,
      "follow: sequence is 0 or more, hash 64 hexadecimal digits, rows 0 to 500, ledger and instance are texts");
}

Expected<FollowAnswer> parse_answer(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  try {
    if (const auto error = object.find("error"); object.is_object() && error != object.end()) {
      const bool is_early = error->at("code").get<std::string>() == name_of(Errc::unavailable);
      return fail(is_early ? Errc::unavailable : Errc::protocol, "it answers: " + error->at("what").get<std::string>());
    }
    return answer_of(object);
  } catch (const std::exception&) {
    return fail(Errc::protocol, "its answer is none to this question; install the same release of both");
  }
}

}  // namespace shapley::daemon
