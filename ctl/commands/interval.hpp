// What `statement` and `history` have in common: of which time, of which organizations, from which ledger.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/offline.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct IntervalArguments {
  std::string since;
  std::string until;
  std::string ledger;    // empty: the daemon's own file
  std::string archives;  // empty: near the ledger
  std::string contribution;
  std::string known_until;  // all up to then is in `ledger`; empty: up to its last record
  std::vector<std::string> organizations;
  bool csv = false;
  bool json = false;
};

// The options, but for --csv and --json.
void add_time_and_ledger(CLI::App& command, IntervalArguments& arguments);
void add_interval(CLI::App& command, IntervalArguments& arguments);
// --month, instead of --since and --until, which must be there already.
void add_month(CLI::App& command, std::string& month);
// Sets --since and --until to the month "2026-11"; nothing when it is empty.
[[nodiscard]] Expected<void> take_month(const std::string& month, IntervalArguments& arguments);

// The ledger file that was named, or the daemon's own, if it is on this host and may be read; else nullopt.
[[nodiscard]] Expected<std::optional<std::filesystem::path>> readable_ledger(const IntervalArguments& arguments,
                                                                             const Endpoint& endpoint);

using OfflineReport = std::function<Expected<nlohmann::json>(const IntervalQuestion& question)>;

// The report that `offline` makes of a ledger file: the one that is named, or the daemon's own, if it is on this host
// and may be read; else the daemon has it made, by `request` with what the arguments add to it.
[[nodiscard]] Expected<nlohmann::json> interval_report(const IntervalArguments& arguments, const Endpoint& endpoint,
                                                       nlohmann::json request, const OfflineReport& offline);

// "" for a report of all the time that was asked, else when the books begin and until when the ledger speaks, as lines.
[[nodiscard]] std::string recorded_line(const nlohmann::json& report);

// The user's name, or the number where this machine has no name for it.
[[nodiscard]] std::string user_name_of(std::uint32_t number);

}  // namespace shapley::ctl
