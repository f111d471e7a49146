#include "ctl/commands/backup.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/progress_line.hpp"
#include "ledger/store/backup.hpp"
#include "ledger/store/compact.hpp"

namespace shapley::ctl {

namespace {

std::string described(const ledger::BackupResult& result) {
  return grouped(result.events, "event") + ", the last one's hash is " + result.hash;
}

}  // namespace

void add_backup(CLI::App& app, BackupArguments& arguments) {
  CLI::App* command = app.add_subcommand("backup", "Copy the ledger while the daemon runs, and verify the copy");
  command->add_option("TARGET", arguments.target, "The file to write")->required();
  command->add_option("--ledger", arguments.ledger, "The ledger file; without it the daemon's own")->type_name("FILE");
  command->add_flag("--force", arguments.force, "Overwrite the target (as a whole, once the new copy is verified)");
}

void add_restore(CLI::App& app, RestoreArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("restore", "Put a backup in the place of a ledger; the daemon must be stopped");
  command->add_option("BACKUP", arguments.backup, "The copy")->required();
  command->add_option("--ledger", arguments.ledger, "The ledger to replace; its file is kept as LEDGER.replaced-TIME")
      ->required()
      ->type_name("FILE");
}

void add_compact(CLI::App& app, CompactArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "compact", "Give back the room in a ledger that nothing uses any more; the daemon must be stopped");
  command->add_option("LEDGER,--ledger", arguments.ledger, "The ledger file")->required();
}

Expected<ExitCode> run_backup(const BackupArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  std::filesystem::path file = arguments.ledger;
  if (file.empty()) {
    SHAPLEY_TRY_ASSIGN(file, daemon_ledger(endpoint));
  }
  const auto overwrite = arguments.force ? ledger::Overwrite::yes : ledger::Overwrite::no;
  SHAPLEY_TRY_ASSIGN(const ledger::BackupResult result, ledger::back_up(file, arguments.target, overwrite));
  tell_upkeep(endpoint, Upkeep::backup, result.events, result.hash);
  environment.out << printable(arguments.target) << ": copy of " << printable(file.native())
                  << ", verified: " << described(result) << '\n';
  return ExitCode::success;
}

Expected<ExitCode> run_restore(const RestoreArguments& arguments, const Environment& environment) {
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const Instant now{std::chrono::duration_cast<std::chrono::seconds>(clock).count()};
  ledger::BackupResult result;
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path aside,
                     ledger::restore(arguments.backup, arguments.ledger, now, result));
  environment.out << printable(arguments.ledger) << ": restored from " << printable(arguments.backup)
                  << ", verified: " << described(result) << '\n';
  if (!aside.empty()) environment.out << "the replaced ledger is kept as " << printable(aside.native()) << '\n';
  return ExitCode::success;
}

Expected<ExitCode> run_compact(const CompactArguments& arguments, const Environment& environment) {
  ProgressLine line(environment);
  auto result = ledger::compact(arguments.ledger, [&line](const ledger::Progress& progress) { line.show(progress); });
  line.clear();
  if (!result) return tl::unexpected<Error>(std::move(result).error());
  environment.out << printable(arguments.ledger) << ": " << grouped(static_cast<std::int64_t>(result->bytes_before))
                  << " bytes before, " << grouped(static_cast<std::int64_t>(result->bytes_after))
                  << " bytes now; verified: " << described(result->verified) << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
