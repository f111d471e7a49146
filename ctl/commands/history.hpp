// `shapleyctl history`: the books by hour, day, month or shorter intervals.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "ctl/commands/interval.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

struct HistoryArguments {
  IntervalArguments interval;
  std::string by = "day";
  std::string format;
  bool parsable = false;
  bool no_header = false;
  bool help_format = false;
};

void add_history(CLI::App& app, HistoryArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_history(const HistoryArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);

// The fields of one interval and organization.
[[nodiscard]] std::span<const Field> history_fields();

}  // namespace shapley::ctl
