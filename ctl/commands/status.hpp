// `shapleyctl status`: shows a row for every organization, and the health of daemon and plugin.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ledger/reports/report.hpp"
#include "tables/table.hpp"

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
  bool forecast = false;
  bool users = false;
  int iterate_s = 0;    // 0: once
  std::size_t top = 0;  // 0: all
  std::vector<std::string> organizations = {};
  std::string format = {};
  std::string at = {};
  std::string ledger = {};
  std::string archives = {};  // empty: beside the ledger
  std::string contribution = {};
};

void add_status(CLI::App& app, StatusArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_status(const StatusArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

// The fields of an organization's row.
[[nodiscard]] std::span<const tables::Field> status_fields();

// Removes from the report all rows except those of these organizations (empty: all), and of these all except the first
// `top` (0: all). Returns the number of rows that `top` removed. Errc::invalid_argument names an organization without a
// row, and the organizations with one.
[[nodiscard]] Expected<std::size_t> choose_rows(ledger::StatusReport& report,
                                                const std::vector<std::string>& organizations, std::size_t top);

// A report as text for people or programs (not --json). If `columns` is empty: the default columns and, for people, the
// sentences.
struct StatusView {
  std::string format = {};  // empty: the default columns
  bool long_form = false;
  bool parsable = false;
  bool header = true;
  bool colour = false;
  std::size_t columns = 0;   // of the terminal; 0: none
  std::size_t left_out = 0;  // the number of organizations that --top left out
};
[[nodiscard]] Expected<std::string> render_status(const ledger::StatusReport& report, const StatusView& view);

}  // namespace shapley::ctl
