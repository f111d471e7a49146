// `shapleyctl status`: every organization's row, and the health of daemon and plugin.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/output/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct StatusArguments {
  bool json = false;
  bool parsable = false;
  bool no_header = false;
  bool long_form = false;
  bool help_format = false;
  bool worth = false;
  int iterate_s = 0;    // 0: once
  std::size_t top = 0;  // 0: all
  std::vector<std::string> organizations;
  std::string format;
  std::string at;
  std::string ledger;
  std::string archives;  // empty: near the ledger
  std::string contribution;
};

void add_status(CLI::App& app, StatusArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_status(const StatusArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// The fields of one organization's row.
[[nodiscard]] std::span<const Field> status_fields();

// Leaves in the report the rows of these organizations only (empty: of all) and of those the first `top` (0: all). The
// value: how many `top` left out. Errc::invalid_argument names an organization that has no row, and those that have.
[[nodiscard]] Expected<std::size_t> choose_rows(nlohmann::json& report, const std::vector<std::string>& organizations,
                                                std::size_t top);

// The text for people or programs (not --json) of a report; `report` is ledger::status_report's, with `daemon` and
// `plugin` when a daemon answered. `columns` empty: the default ones, and for people the sentences.
struct StatusView {
  std::string format = {};  // empty: the default columns
  bool long_form = false;
  bool parsable = false;
  bool header = true;
  bool colour = false;
  std::size_t columns = 0;   // of the terminal; 0: none
  std::size_t left_out = 0;  // so many organizations that --top left out
};
[[nodiscard]] Expected<std::string> render_status(const nlohmann::json& report, const StatusView& view);

}  // namespace shapley::ctl
