// The state of one of two controllers as JSON. For the other one, over the protocol's Query and Reply: the request
// `follow`, whose members are described in docs/reference/protocol.md. For itself, facts that are not in its ledger: a
// file beside the ledger, LEDGER.controller, which is not copied to another host with the ledger.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "protocol/self_report.hpp"

namespace shapley::daemon {

using Role = protocol::ControllerRole;

// At once. An answer is made between the feeder's messages.
inline constexpr std::int64_t k_most_rows = 500;

// Asks for the part of a ledger after the position, which is the end of the asker's own chain.
struct FollowQuestion {
  ledger::Position position;
  ledger::Position began;  // the last controller_began in it; {0, zeros}: none
  std::int64_t rows = 0;   // the most events to return. 0: the asker does not follow
  std::string ledger;      // the identity of the asker's
  std::string instance;    // of the asker's process
};
SHAPLEY_DESCRIBE(FollowQuestion, position, began, rows, ledger, instance);

// The controller that answers.
struct Controller {
  std::string host;
  std::string ledger;    // the identity of its ledger
  std::string instance;  // of its process
  Role role = Role::standby;
  ledger::Position began;  // the last controller_began in its ledger; {0, zeros}: none
  bool copying = false;    // its ledger is an incomplete copy, so one of it is incomplete, too
};
SHAPLEY_DESCRIBE(Controller, host, ledger, instance, role, began, (supplement, copying));

struct FollowAnswer {
  Controller controller;
  ledger::ChainPart part;
  bool holds_began = false;  // whether the asker's `began` is in the chain
};
SHAPLEY_DESCRIBE(FollowAnswer, controller, part, holds_began);

[[nodiscard]] std::string text_of(const FollowQuestion& question);
[[nodiscard]] std::string text_of(const FollowAnswer& answer);
// Errc::invalid_argument: a number is out of its range.
[[nodiscard]] Expected<void> check(const FollowQuestion& question);
// Errc::protocol: it is malformed, or the other controller answers with an error; Errc::unavailable: the other
// controller is still starting.
[[nodiscard]] Expected<FollowAnswer> parse_answer(std::string_view text);

// A ledger that was set aside, because it has events that are not in the chain of the present one.
struct SetAside {
  Instant at;
  std::string file;
  // The comparison of these events with the present ledger; not in the file. nullopt: not compared yet.
  std::optional<ledger::Parted> parted = {};
};
SHAPLEY_DESCRIBE(SetAside, at, file, (supplement, parted));
[[nodiscard]] protocol::SetAsideReport report_of(const SetAside& entry);

struct ControllerRecord {
  // The ledger is an incomplete copy of the other one's.
  bool copying = false;
  // The end of the other one's ledger when the copy began: it is complete when it has that. {0, zeros}: not known.
  ledger::Position promised = {};
  std::vector<SetAside> set_aside;  // ascending; the last k_max_set_aside
};
SHAPLEY_DESCRIBE(ControllerRecord, copying, (supplement, promised), set_aside);
inline constexpr std::size_t k_max_set_aside = 20;

[[nodiscard]] std::filesystem::path record_file(const std::filesystem::path& ledger);
// A missing file is an empty record. Errc::corrupt, with the remedy, if it is malformed.
[[nodiscard]] Expected<ControllerRecord> read_record(const std::filesystem::path& file);
// Writes the file atomically and syncs it to disk.
[[nodiscard]] Expected<void> write_record(const std::filesystem::path& file, ControllerRecord record);

// Renames the ledger (ledger/replication/chain_copy.hpp) and records the new name: the next start begins with an empty
// ledger. REQUIRES: no process has it open.
[[nodiscard]] Expected<void> set_ledger_aside(const std::filesystem::path& ledger, Instant now);

}  // namespace shapley::daemon
