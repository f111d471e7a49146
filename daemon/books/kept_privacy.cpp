#include "daemon/books/kept_privacy.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bounded_text.hpp"
#include "daemon/small_file.hpp"

namespace shapley::daemon {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path privacy_file_of(const fs::path& ledger) {
  return fs::path(ledger.string() + ".privacy");
}

std::optional<KeptPrivacy> read_privacy_file(const fs::path& file) {
  const std::string text = read_text_file(file, k_max_document).value_or(std::string());
  try {
    const json object = json::parse(text);
    KeptPrivacy kept;
    kept.told_at = Instant{object.at("told_at").get<std::int64_t>()};
    kept.privacy.jobs = object.at("jobs").get<bool>();
    kept.privacy.usage = object.at("usage").get<bool>();
    for (const json& user : object.at("users")) {
      kept.privacy.users.push_back({.user_id = user.at("user_id").get<std::uint32_t>(),
                                    .is_operator = user.at("is_operator").get<bool>(),
                                    .accounts = user.at("accounts").get<std::vector<std::string>>()});
    }
    return kept;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

Expected<void> write_privacy_file(const fs::path& file, const KeptPrivacy& kept) {
  json users = json::array();
  for (const protocol::PrivilegedUser& user : kept.privacy.users) {
    users.push_back({{"user_id", user.user_id}, {"is_operator", user.is_operator}, {"accounts", user.accounts}});
  }
  const json object{{"told_at", kept.told_at.value},
                    {"jobs", kept.privacy.jobs},
                    {"usage", kept.privacy.usage},
                    {"users", std::move(users)}};
  return replace_file(file, object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n');
}

}  // namespace shapley::daemon
