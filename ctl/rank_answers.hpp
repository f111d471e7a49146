// Answers to explain, compare and forecast: from the daemon, or from a ledger file without one. The past is read in
// this process where the daemon's ledger file may be read by whoever asks, else by the daemon.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/client.hpp"

namespace shapley::ctl {

// Of the command line; empty: not given.
struct RankSource {
  std::string ledger;
  std::string at;
  std::string archives;
};

// `request`: {"request": "explain", "job": "4711"} and the like (docs/reference/protocol.md), without "at".
[[nodiscard]] Expected<nlohmann::json> rank_answer(nlohmann::json request, const RankSource& source,
                                                   const Endpoint& endpoint);

// The same from a ledger file, at an instant or as of when it last recorded something.
[[nodiscard]] Expected<nlohmann::json> offline_rank_answer(const nlohmann::json& request, const RankSource& source,
                                                           std::optional<Instant> at);

}  // namespace shapley::ctl
