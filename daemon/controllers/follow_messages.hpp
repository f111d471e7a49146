// What two controllers ask each other, as JSON over the protocol's Query and Reply: the request `follow`. What its
// members are is written in docs/reference/protocol.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::daemon {

// active: writes the ledger, from what its slurmctld's plugin says. standby: copies what the other one writes.
enum class Role : std::uint8_t { active, standby };
[[nodiscard]] std::string_view name_of(Role role);

// At once. An answer is made between the feeder's messages.
inline constexpr std::int64_t k_most_rows = 500;

// What of a ledger comes after the position: the end of the asker's own chain, or another place of it.
struct FollowQuestion {
  ledger::Position position;
  std::int64_t rows = 0;  // as many at most. 0: the asker does not follow, or not from there
  std::string ledger;     // the identity of the asker's
  std::string instance;   // of the asker's process
};

// Who answers.
struct Controller {
  static constexpr std::int64_t k_never = -1;
  std::string host;
  std::string identity;  // of its ledger
  std::string instance;  // of its process
  Role role = Role::standby;
  std::int64_t began_after = k_never;  // the event that the last controller_began in its ledger continues
};

struct FollowAnswer {
  Controller controller;
  ledger::ChainPart part;
};

[[nodiscard]] std::string text_of(const FollowQuestion& question);
[[nodiscard]] std::string text_of(const FollowAnswer& answer);
// Errc::invalid_argument: it is none.
[[nodiscard]] Expected<FollowQuestion> parse_question(const nlohmann::json& request);
// Errc::protocol: it is none, or the other one answers with an error; Errc::unavailable: it does not answer yet, for it
// starts.
[[nodiscard]] Expected<FollowAnswer> parse_answer(std::string_view text);

}  // namespace shapley::daemon
