// `shapleyctl adjust`: corrections of the books, shown before they are booked, listed, and taken back by another one.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct AdjustArguments {
  std::string job = {};
  std::string account = {};
  std::string user = {};
  std::string nodes = {};
  std::string owners = {};
  std::string rename = {};
  std::string merge = {};
  std::string to = {};
  std::string reverse = {};
  std::string since = {};
  std::string until = {};
  std::string reason = {};
  std::string ledger = {};   // a file, for a list or a preview; empty: the daemon's
  std::string request = {};  // the daemon's own: what is asked, as JSON
  bool list = false;
  bool yes = false;
  bool json = false;
};

void add_adjust(CLI::App& app, AdjustArguments& arguments);

// What the daemon is asked, without its member `request`. Errc::invalid_argument names the option.
[[nodiscard]] Expected<nlohmann::json> adjust_request(const AdjustArguments& arguments);

// Without --yes it is shown what would change, and nothing is booked.
[[nodiscard]] Expected<ExitCode> run_adjust(const AdjustArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// A line for each adjustment of a list; "" for none. For statements and audits, too.
[[nodiscard]] std::string adjustment_lines(const nlohmann::json& adjustments);
// What an adjustment says: "runs of job 104 are library's".
[[nodiscard]] std::string adjustment_sentence(const nlohmann::json& adjustment);

}  // namespace shapley::ctl
