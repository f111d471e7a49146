// `shapleyctl report`: statement, history and proof of the books as one page, for the consortium's meeting.
#pragma once

#include <string>

#include "ctl/commands/interval.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace shapley::ctl {

struct ReportArguments {
  IntervalArguments interval;
  std::string month;
  std::string directory;   // where index.html and the files of values are written
  std::string heading;     // empty: the usual one
  std::string public_key;  // empty: the signed head is shown, not checked
  bool no_charts = false;
  bool no_audit = false;
};

void add_report(CLI::App& app, ReportArguments& arguments);

// Writes the page whatever it says; ExitCode::findings when the books are not proven, else ExitCode::incomplete when an
// archive is missing. Errc::not_found when gnuplot is not installed: nothing is written then.
[[nodiscard]] Expected<ExitCode> run_report(const ReportArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);

}  // namespace shapley::ctl
