#include <cstdint>
#include <filesystem>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/commands/commands.hpp"
#include "ctl/output/paint.hpp"
#include "ledger/archive/archive.hpp"
#include "ledger/store/backup.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

std::string described(const ledger::BackupResult& result) {
  return fmt::format("{}, the last one's hash is {}", grouped(result.events, "event"), result.hash);
}

// The ledger's size before and after.
template <typename Result>
std::string sizes(const Result& result) {
  return fmt::format(
      ": {} bytes before, {} bytes now; verified: ", grouped(static_cast<std::int64_t>(result.bytes_before)),
      grouped(static_cast<std::int64_t>(result.bytes_after)));
}

}  // namespace

void add_backup(CLI::App& app, BackupArguments& arguments) {
  CLI::App* command = app.add_subcommand("backup", "Copy the ledger while the daemon runs, and verify the copy");
  command->add_option("TARGET", arguments.target, "Write the copy to this file")->required()->type_name("FILE");
  command->add_option("--ledger", arguments.ledger, "Copy this ledger file (default: the daemon's own)")
      ->type_name("FILE");
  command->add_flag("--force", arguments.force, "Replace an existing target, once the new copy is verified");
}

void add_restore(CLI::App& app, RestoreArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("restore", "Replace a ledger by a verified backup; the daemon must be stopped");
  command->add_option("BACKUP", arguments.backup, "Restore this file, which backup wrote")
      ->required()
      ->type_name("FILE");
  command->add_option("--ledger", arguments.ledger, "Replace this ledger file, which is kept as FILE.replaced-TIME")
      ->required()
      ->type_name("FILE");
}

void add_compact(CLI::App& app, CompactArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("compact", "Remove the unused space from a ledger file; the daemon must be stopped");
  command->add_option("LEDGER,--ledger", arguments.ledger, "Compact this ledger file")->required()->type_name("FILE");
}

Expected<ExitCode> run_backup(const BackupArguments& arguments, const Endpoint& endpoint,
                              const Environment& environment) {
  std::filesystem::path file = arguments.ledger;
  if (file.empty()) {
    SHAPLEY_TRY_ASSIGN(file, daemon_ledger(endpoint));
  }
  const auto overwrite = arguments.force ? ledger::Overwrite::yes : ledger::Overwrite::no;
  SHAPLEY_TRY_ASSIGN(const ledger::BackupResult result, ledger::back_up(file, arguments.target, overwrite));
  report_upkeep(endpoint, {.done = ledger::UpkeepDone::backup, .sequence = result.events, .hash = result.hash});
  environment.out << printable(arguments.target) << ": copy of " << printable(file.native())
                  << ", verified: " << described(result) << '\n';
  return ExitCode::success;
}

Expected<ExitCode> run_restore(const RestoreArguments& arguments, const Environment& environment) {
  ledger::BackupResult result;
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path aside,
                     ledger::restore(arguments.backup, arguments.ledger, wall_clock(), result));
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
  environment.out << printable(arguments.ledger) << sizes(*result) << described(result->verified) << '\n';
  return ExitCode::success;
}

namespace {

std::string why_nothing(int uncut) {
  if (uncut == 0) return "it has no closed period but the last one";
  return fmt::format(
      "of its closed periods but the last one {}{}: events that were recorded later (import --into, late records) "
      "change books more than two weeks before their ends, or they have no events; they go with the next period that "
      "can be archived",
      uncut, uncut == 1 ? " stays" : " stay");
}

}  // namespace

void add_archive(CLI::App& app, ArchiveArguments& arguments) {
  CLI::App* command = app.add_subcommand("archive",
                                         "Move closed periods, except the last one, to compressed archive files beside "
                                         "the ledger; the daemon must be stopped");
  command->add_option("LEDGER,--ledger", arguments.ledger, "Archive the closed periods of this ledger file")
      ->required()
      ->type_name("FILE");
  command->add_option("--sign-with", arguments.sign_with, "Sign the last event of each archive with this private key")
      ->type_name("FILE");
}

Expected<ExitCode> run_archive(const ArchiveArguments& arguments, const Environment& environment) {
  std::optional<ledger::SigningKey> key;
  if (!arguments.sign_with.empty()) {
    SHAPLEY_TRY_ASSIGN(key, ledger::SigningKey::read(arguments.sign_with));
  }
  ProgressLine line(environment);
  auto result = ledger::archive_closed_periods(arguments.ledger, key ? &*key : nullptr, wall_clock(),
                                               [&line](const ledger::Progress& progress) { line.show(progress); });
  line.clear();
  if (!result) return tl::unexpected<Error>(std::move(result).error());
  if (result->archives.empty()) {
    environment.out << printable(arguments.ledger) << ": nothing to archive: " << why_nothing(result->uncut) << '\n';
    return ExitCode::success;
  }
  for (const ledger::Archive& archive : result->archives) {
    environment.out << printable(archive.file.native()) << ": " << format_instant(archive.begin) << " to "
                    << format_instant(archive.until) << ", " << grouped(archive.events, "event") << ", "
                    << grouped(static_cast<std::int64_t>(archive.bytes)) << " bytes; the last one, event "
                    << archive.verified.events << ", has hash " << archive.verified.hash << '\n';
  }
  environment.out << printable(arguments.ledger) << sizes(*result) << "its last event is " << result->verified.events
                  << ", with hash " << result->verified.hash << '\n';
  return ExitCode::success;
}

using nlohmann::json;

void add_rename_cluster(CLI::App& app, RenameClusterArguments& arguments) {
  CLI::App* command = app.add_subcommand("rename-cluster", "Record that Slurm's ClusterName was changed to NAME");
  command->add_option("NAME", arguments.name, "Use this ClusterName, as slurm.conf has it, from now on")
      ->required()
      ->type_name("");
  command->add_option("--reason", arguments.reason, "Record this reason in the ledger")->required()->type_name("TEXT");
}

Expected<ExitCode> run_rename_cluster(const RenameClusterArguments& arguments, const Endpoint& endpoint,
                                      const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(
      const json renamed,
      client.ask(ledger::request_of("rename_cluster", ledger::RenameClusterRequest{arguments.name, arguments.reason})));
  const std::string before = tables::member_text(renamed, "before");
  environment.out << "the ledger is of cluster " << tables::member_text(renamed, "cluster") << " from now on"
                  << (before.empty() ? "" : ", which was called " + before) << '\n';
  if (renamed.contains("alone")) environment.out << k_alone << '\n';
  return ExitCode::success;
}

void add_begin(CLI::App& app) {
  app.add_subcommand("begin", "Allow one of two controllers to write although the ledger of the other one is lost");
}

Expected<ExitCode> run_begin(const Endpoint& endpoint, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY(client.ask({{"request", "begin"}}));
  environment.out << "this shapleyd writes with the ledger that it has as soon as slurmctld's plugin connects\n";
  return ExitCode::success;
}

}  // namespace shapley::ctl
