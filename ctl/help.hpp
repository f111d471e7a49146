// What --usage prints, and what --help says besides the options themselves: of a subcommand only what applies to it.
// The manual page is made of --help.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace shapley::ctl {

// An option that may also be given by its position is shown with its meaning once.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

// A line for the program and for each subcommand, with the options and arguments that each takes.
[[nodiscard]] std::string program_usage(const CLI::App& app);

// Environment and exit codes of the whole program.
[[nodiscard]] std::string program_footer();

// How the values of the command's options are written, the options of every command and the variables, if the command
// asks the daemon, and the exit codes.
[[nodiscard]] std::string command_footer(const CLI::App& app, const CLI::App& command, bool asks_daemon);

}  // namespace shapley::ctl
