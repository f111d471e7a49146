#include "daemon/configuration/in_force.hpp"

#include <array>
#include <string_view>

#include "ledger/chain/hash_chain.hpp"

namespace shapley::daemon {

namespace {

std::string sha256(std::string_view text) {
  auto hasher = ledger::Hasher::create();
  if (!hasher) return {};
  const auto digest = hasher->digest(std::array{text});
  return digest ? ledger::to_hex(*digest) : std::string();
}

}  // namespace

void InForce::take_over(const std::string& text, Instant at) {
  hash_ = sha256(text);
  loaded_at_ = at;
  refusal_.reset();
}

std::string one_line(const std::vector<config::Fault>& faults, const std::string& file) {
  std::string line = config::format_faults({faults.front()}, file);
  const std::size_t more = faults.size() - 1;
  if (more > 0) line += " (and " + std::to_string(more) + (more == 1 ? " more fault)" : " more faults)");
  return line;
}

}  // namespace shapley::daemon
