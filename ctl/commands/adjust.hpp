// `shapleyctl adjust`: shows, books, lists and reverses corrections of the books.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "reports/requests.hpp"

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
  std::string amount = {};
  std::string from = {};
  std::string at = {};
  std::string reverse = {};
  std::string since = {};
  std::string until = {};
  std::string reason = {};
  std::string ledger = {};  // a file, for a list or a preview; empty: the daemon's
  bool list = false;
  bool yes = false;
  bool json = false;
};

void add_adjust(CLI::App& app, AdjustArguments& arguments);

// The request to the daemon. Errc::invalid_argument names the option.
[[nodiscard]] Expected<ledger::AdjustRequest> adjust_request(const AdjustArguments& arguments);

// Without --yes the effect is shown, and nothing is booked.
[[nodiscard]] Expected<ExitCode> run_adjust(const AdjustArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// A line for each adjustment of a list; "" for none. For statements and audits, too.
[[nodiscard]] std::string adjustment_lines(const std::vector<ledger::ListedAdjustment>& adjustments,
                                           const ledger::AmountUnit& in);

}  // namespace shapley::ctl
