// `shapleyctl backup` and `shapleyctl restore`: a verified copy of a ledger that is in use, and the way back;
// `shapleyctl compact`: the same ledger in less room.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct BackupArguments {
  std::string target;
  std::string ledger;  // empty: the one that the daemon keeps
  bool force = false;
};

struct RestoreArguments {
  std::string backup;
  std::string ledger;
};

struct CompactArguments {
  std::string ledger;
};

void add_backup(CLI::App& app, BackupArguments& arguments);
void add_restore(CLI::App& app, RestoreArguments& arguments);
void add_compact(CLI::App& app, CompactArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_backup(const BackupArguments& arguments, const Endpoint& endpoint,
                                            const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_restore(const RestoreArguments& arguments, const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_compact(const CompactArguments& arguments, const Environment& environment);

}  // namespace shapley::ctl
