// What a subcommand uses of its environment: two streams, variables and other programs. Tests replace them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <pwd.h>

#include "base/error.hpp"
#include "base/slurm_text.hpp"
#include "base/types.hpp"

namespace shapley::ctl {

struct Environment {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // whether `out` is a terminal
  std::function<std::optional<std::string>(const char* name)> variable;
  std::string host_name = {};  // of this host; empty: unknown
  std::size_t columns = 0;     // width of the terminal; 0: no terminal, or unknown
  // Runs one of Slurm's commands (slurm/run_program.hpp); empty: no command is run.
  std::function<Expected<std::string>(const std::vector<std::string>& words)> run_program = {};

  // Colours are used on a terminal only, and not if NO_COLOR is set and not empty (no-color.org).
  [[nodiscard]] bool colour() const { return terminal && variable("NO_COLOR").value_or("").empty(); }
};

// The exit codes of shapleyctl. Scripts depend on them: docs/reference/shapleyctl.md and the manual page list the same
// numbers.

enum class ExitCode : int {
  success = 0,
  findings = 1,     // the command worked and the answer is bad: a faulty configuration, an audit with findings
  usage = 2,        // the command line cannot be understood, or asks for something that cannot exist
  unavailable = 3,  // the daemon cannot be reached or does not answer in time
  refused = 4,      // the daemon answered with an error, or is no shapleyd of our protocol
  unreadable =
      5,  // a ledger, configuration or record file cannot be read or is damaged, or gnuplot is missing (report)
  incomplete = 6,  // an audit found nothing, but an archive that the ledger goes on from, or what a consortium's
                   // statements would be compared with, is not there
  nothing_compared =
      7,  // an audit found nothing, but compared none of the records or statements that it was to compare
  // `health` ends like Nagios' checks, where 0 to 3 have other meanings: State of health/health.hpp.
  internal = 70,   // a defect of shapleyctl itself
  no_memory = 71,  // k_exit_no_memory of base/process.hpp
};

// The clock of this host.
[[nodiscard]] inline Instant wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

// The name that the ledger has, else that of this host, else "uid 1000".
[[nodiscard]] inline std::string user_name_of(std::uint32_t number, const std::string& by_ledger) {
  if (!by_ledger.empty()) return by_ledger;
  const passwd* entry = ::getpwuid(number);
  return entry == nullptr ? "uid " + std::to_string(number) : std::string(entry->pw_name);
}

// The user of this name or number; nullopt: this host has no user of that name.
[[nodiscard]] inline std::optional<std::uint32_t> user_number_of(const std::string& user) {
  if (const auto number = parse_number<std::uint32_t>(user)) return number;
  const passwd* entry = ::getpwnam(user.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->pw_uid);
}

}  // namespace shapley::ctl
