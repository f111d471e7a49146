// `shapleyctl health`: one line and an exit code for Nagios-like checks.
//
// The state is a pure function of the daemon's status; docs/reference/shapleyctl/health.md lists the causes of each
// state. A daemon that is away is critical, because no process keeps the books.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ledger/reports/report.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct HealthArguments {
  std::string max_backup_age;  // "36h", "2d"; empty: backups are not checked
  std::string max_audit_age;
  std::string max_papers_delay;
};

// In seconds; nullopt: not checked.
struct HealthLimits {
  std::optional<std::int64_t> backup_age = {};
  std::optional<std::int64_t> audit_age = {};
  std::optional<std::int64_t> papers_delay = {};  // after the end of their month
};

// Nagios' states, with its numbers.
enum class HealthState : std::uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };

struct Health {
  HealthState state = HealthState::ok;
  std::vector<std::string> causes = {};  // the worst first; if ok: the good facts
  std::string performance = {};          // NAME=VALUE ... as Nagios' plugins write it
};

[[nodiscard]] Health judge(const ledger::StatusReport& status, const HealthLimits& limits);
// The state if the daemon gave no status.
[[nodiscard]] Health judge(const Error& error);

// "SHAPLEY CRITICAL: ...; ... | ...\n": always one line.
[[nodiscard]] std::string health_line(const Health& health);

void add_health(CLI::App& app, HealthArguments& arguments);

// Returns no error: if the check is not possible, it prints an unknown state to standard output, because monitors only
// read that.
[[nodiscard]] ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint,
                                  const Environment& environment);

// The unknown state for a command line that cannot be understood.
[[nodiscard]] ExitCode unknown_health(const std::string& cause, const Environment& environment);

}  // namespace shapley::ctl
