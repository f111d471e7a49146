// `shapleyctl statement`: of a month or another interval, what every organization got and gave, who lent to whom, and
// which accounts and users got it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "ctl/commands/interval.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace shapley::ctl {

struct StatementArguments {
  IntervalArguments interval;
  std::string month;           // "2026-11"
  std::string as_of = "then";  // or "now"
};

void add_statement(CLI::App& app, StatementArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                               const Environment& environment);

// For people, and for spreadsheets: a report of ledger::statement_report whose users have the member "user".
[[nodiscard]] std::string render_statement(const nlohmann::json& report);
[[nodiscard]] std::string statement_csv(const nlohmann::json& report);

}  // namespace shapley::ctl
