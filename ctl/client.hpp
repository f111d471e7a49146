// How shapleyctl asks the daemon (common/reader), and for which ledger.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "reader/client.hpp"

namespace shapley::ctl {

using reader::Client;
using reader::Endpoint;

// Of shapleyctl, with what its user could do when the daemon is away.
[[nodiscard]] Endpoint endpoint_at(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

// The ledger file that the daemon keeps, by its answer to `status`. Errc::protocol: it names none.
[[nodiscard]] Expected<std::filesystem::path> ledger_named_in(const nlohmann::json& status);
// The same, asked for. Errc::unavailable, too, when it is on another host.
[[nodiscard]] Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint);

// Tells the daemon, if there is one and whoever runs this may, that the ledger up to event `sequence`, which has this
// hash, was backed up or audited. Whether it was told is nobody's concern here: the daemon believes it of its own
// ledger only, and an auditor of a copy need not know a daemon.
enum class Upkeep : std::uint8_t { backup, clean_audit, audit_with_findings };
void tell_upkeep(const Endpoint& endpoint, Upkeep upkeep, std::int64_t sequence, const std::string& hash);

}  // namespace shapley::ctl
