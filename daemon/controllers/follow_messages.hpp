// What two controllers ask each other, as JSON over the protocol's Query and Reply: the request `follow`. What its
// members are is written in docs/reference/protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::daemon {

// active: writes the ledger, from what its slurmctld's plugin says. standby: copies what the other one writes.
enum class Role : std::uint8_t { active, standby };
[[nodiscard]] std::string_view name_of(Role role);

// Where one's chain ends, or another position of it.
struct FollowQuestion {
  ledger::Position position;
  std::int64_t rows = 0;  // as many at most, after the position
};

// Who answers.
struct Controller {
  std::string host;
  std::string identity;  // of its ledger
  Role role = Role::standby;
  std::optional<accounting::ControllerPromoted> promotion;  // the last one in its ledger
};

struct FollowAnswer {
  Controller controller;
  ledger::ChainPart part;
};

// Which of two ledgers that parted is continued: the one with the later promotion. Times of promotions rise along a
// chain as epochs do, so this differs from comparing epochs only where two controllers were promoted without knowing of
// each other: then Slurm's last word holds.
[[nodiscard]] bool is_later(const std::optional<accounting::ControllerPromoted>& a,
                            const std::optional<accounting::ControllerPromoted>& b);

[[nodiscard]] std::string text_of(const FollowQuestion& question);
[[nodiscard]] std::string text_of(const FollowAnswer& answer);
// Errc::invalid_argument: it is none.
[[nodiscard]] Expected<FollowQuestion> parse_question(const nlohmann::json& request);
// Errc::protocol: it is none, or the other one answers with an error; Errc::unavailable: it does not answer yet, for it
// starts.
[[nodiscard]] Expected<FollowAnswer> parse_answer(std::string_view text);
// The same of an answer to `demote`: what the other one is now.
[[nodiscard]] Expected<Role> parse_role(std::string_view text);

}  // namespace shapley::daemon
