// `shapleyctl health`: one line and an exit code for Nagios-like checks.
//
// The judgement is a pure function of the daemon's status; docs/reference/shapleyctl.md lists what is critical and what
// is a warning. A daemon that is away is critical: nobody keeps the books.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct HealthArguments {
  std::string max_backup_age;  // "36h", "2d"; empty: backups are not looked at
  std::string max_audit_age;
};

// Seconds; nullopt: it is not looked at.
struct HealthLimits {
  std::optional<std::int64_t> backup_age;
  std::optional<std::int64_t> audit_age;
};

// Nagios' states, with its numbers.
enum class HealthState : std::uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };

struct Health {
  HealthState state = HealthState::ok;
  std::vector<std::string> causes = {};  // the worst first; of ok: what is well
  std::string performance = {};          // NAME=VALUE ... as Nagios' plugins write it
};

[[nodiscard]] Health judge(const nlohmann::json& status, const HealthLimits& limits);
// Of a daemon that gave no status.
[[nodiscard]] Health judge(const Error& error);

// "SHAPLEY CRITICAL: ...; ... | ...\n": one line, whatever the causes hold.
[[nodiscard]] std::string health_line(const Health& health);

void add_health(CLI::App& app, HealthArguments& arguments);

// Never an error: what prevents the check is an unknown state on standard output, because monitors read nothing else.
[[nodiscard]] ExitCode run_health(const HealthArguments& arguments, const Endpoint& endpoint,
                                  const Environment& environment);

// The command line could not be understood; the same for monitors.
[[nodiscard]] ExitCode unknown_health(const std::string& cause, const Environment& environment);

}  // namespace shapley::ctl
