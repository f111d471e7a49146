#include "ctl/help.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace shapley::ctl {

namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    if (is_positional || !option->get_positional()) return CLI::Formatter::make_option(option, is_positional);
    std::stringstream line;
    CLI::detail::format_help(line, fmt::format("{} {}", make_option_name(option, false), option->get_type_name()),
                             "Use this as " + make_option_name(option, true), get_column_width());
    return line.str();
  }
};

struct HelpVariable {
  std::string_view name;
  std::string_view meaning;
  std::string_view command;  // empty: every one that asks the daemon
};
constexpr std::array k_variables{
    HelpVariable{"SHAPLEY_SOCKET", "Set the daemon's socket, unless --socket or --host is given", ""},
    HelpVariable{"SHAPLEY_HOST", "Set the daemon's host, unless --socket or --host is given", ""},
    HelpVariable{"SHAPLEYCTL_CONFIG", "Read the daemon's host from this file instead of /etc/shapley/shapleyctl.yaml",
                 ""},
    HelpVariable{"SLURM_CONF", "Ask each SlurmctldHost of this file where no host and no socket is found", ""},
    HelpVariable{"SHAPLEYCTL_STATUS_FORMAT", "Set the columns of status, unless --format or --long is given", "status"},
    HelpVariable{"SHAPLEYCTL_JOBS_FORMAT", "Set the columns of jobs, unless --format is given", "jobs"},
    HelpVariable{"NO_COLOR", "Print no colours on a terminal, if set and not empty", ""}};

constexpr std::string_view k_exit_codes =
    "  0 success   1 faults or findings   2 command line   3 daemon away   4 daemon refuses\n"
    "  5 a file cannot be read or is damaged, or gnuplot is missing\n"
    "  6 nothing found, but an archive is missing   7 nothing found, but no run was compared\n"
    "  70 a defect of shapleyctl   71 there is not enough memory\n";
constexpr std::string_view k_health_codes = "  0 OK   1 WARNING   2 CRITICAL   3 UNKNOWN";

struct HelpValue {
  std::string_view type;
  std::string_view meaning;
};
constexpr std::array k_values{
    HelpValue{"TIME",
              "2026-11-21, 2026-11-21T07:00[:00], 11/21, 07:00, today, noon, now-1hour, or seconds since 1970;\n"
              "                             in UTC, or with an offset: 07:00+01:00"},
    HelpValue{"MONTH", "2026-11"}, HelpValue{"AGE", "36h, 2d, or seconds"}, HelpValue{"NAMES", "a, or a,b,c"},
    HelpValue{"FORMAT", "name, name%width,...; a longer cell ends with '+' (--helpformat lists the names)"}};

constexpr std::size_t k_help_column = 29;

std::string help_line(std::string_view name, std::string_view meaning) {
  std::string line = "  " + std::string(name);
  line.resize(std::max(k_help_column, line.size() + 1), ' ');
  return line.append(meaning).append("\n");
}

std::string variables_of(std::string_view command, bool all) {
  std::string text;
  for (const HelpVariable& variable : k_variables) {
    if (all || variable.command.empty() || variable.command == command)
      text += help_line(variable.name, variable.meaning);
  }
  return fmt::format("Environment:\n{}\n", text);
}

std::string value_lines(const CLI::App& command) {
  const auto options = command.get_options();
  std::string text;
  for (const HelpValue& value : k_values) {
    const auto takes = [&](const CLI::Option* option) {
      return !option->get_group().empty() && option->get_type_name() == value.type;
    };
    if (std::ranges::any_of(options, takes)) text += help_line(value.type, value.meaning);
  }
  return text.empty() ? "" : fmt::format("Values:\n{}\n", text);
}

std::string usage_of(const CLI::Option& option) {
  const auto& letters = option.get_snames();
  std::string text = letters.empty() ? "--" + option.get_lnames().front() : "-" + letters.front();
  // A flag takes nothing that has a name.
  if (const std::string type = option.get_type_name(); !type.empty()) {
    // Behind a colon, unless the noun has it ("HOST[:PORT]"), stands which values are taken: too long for a summary.
    text += " " + (type.find("[:") == std::string::npos ? type.substr(0, type.find(':')) : type);
  }
  if (option.get_expected_max() >= CLI::detail::expected_max_vector_size) text += "...";
  return option.get_required() ? text : "[" + text + "]";
}

// `begin`, and the options and arguments of `app`, --help aside. Lines that follow are indented.
std::string usage_line(const CLI::App& app, const std::string& begin) {
  constexpr std::size_t k_columns = 110;
  std::string text;
  std::string line = begin;
  std::vector<std::string> positionals;
  const auto add = [&](const std::string& word) {
    if (line.size() + 1 + word.size() > k_columns) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + word;
  };
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_positional())
      positionals.push_back(HelpFormatter().make_option_usage(option));
    else if (!option->get_group().empty() && option != app.get_help_ptr())
      add(usage_of(*option));
  }
  std::ranges::for_each(positionals, add);
  if (!app.get_subcommands({}).empty()) add("COMMAND");
  return text + line + "\n";
}

}  // namespace

std::string program_usage(const CLI::App& app) {
  std::string text = usage_line(app, "Usage: " + app.get_name());
  for (const CLI::App* command : app.get_subcommands({})) text += usage_line(*command, "  " + command->get_name());
  return text;
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

std::string program_footer() {
  return fmt::format("{}Exit codes:\n{}{}: those of health\n", variables_of("", true), k_exit_codes, k_health_codes);
}

std::string command_footer(const CLI::App& app, const CLI::App& command, bool asks_daemon) {
  std::string text = value_lines(command);
  if (asks_daemon) {
    text += "Options of every command:\n";
    for (const char* name : {"--socket", "--host", "--cluster", "--timeout"})
      text += HelpFormatter().make_option(app.get_option(name), false);
    text += "\n" + variables_of(command.get_name(), false);
  }
  return fmt::format("{}Exit codes:\n{}", text,
                     command.get_name() == "health" ? std::string(k_health_codes) + "\n" : std::string(k_exit_codes));
}

}  // namespace shapley::ctl
