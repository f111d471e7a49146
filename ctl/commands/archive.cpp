#include "ctl/commands/archive.hpp"

#include <chrono>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/progress_line.hpp"
#include "ledger/archive/archive.hpp"

namespace shapley::ctl {

namespace {

std::string why_nothing(int uncut) {
  if (uncut == 0) return "it has no closed period but the last one";
  return "of its closed periods but the last one " + std::to_string(uncut) + (uncut == 1 ? " stays" : " stay") +
         ": events that were recorded later (import --into, late records) change books more than two weeks before "
         "their "
         "ends, or they have no events; they go with the next period that can be archived";
}

}  // namespace

void add_archive(CLI::App& app, ArchiveArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "archive",
      "Move closed periods but the last to files of their own; the daemon must be stopped, but for --prepare");
  command->add_option("LEDGER,--ledger", arguments.ledger, "The ledger file")->required();
  command->add_option("--sign-with", arguments.sign_with, "Sign the last event of each archive with this private key")
      ->type_name("FILE");
  command->add_flag("--prepare", arguments.prepare,
                    "Do what takes long while the daemon runs, and change nothing; the next archive completes it");
}

Expected<ExitCode> run_archive(const ArchiveArguments& arguments, const Environment& environment) {
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  const Instant now{std::chrono::duration_cast<std::chrono::seconds>(clock).count()};
  std::optional<ledger::SigningKey> key;
  if (!arguments.sign_with.empty()) {
    SHAPLEY_TRY_ASSIGN(key, ledger::SigningKey::read(arguments.sign_with));
  }
  ProgressLine line(environment);
  const auto work = arguments.prepare ? ledger::prepare_archives : ledger::archive_closed_periods;
  auto result = work(arguments.ledger, key ? &*key : nullptr, now,
                     [&line](const ledger::Progress& progress) { line.show(progress); });
  line.clear();
  if (!result) return tl::unexpected<Error>(std::move(result).error());
  if (result->archives.empty() && !result->was_prepared) {
    environment.out << printable(arguments.ledger) << ": nothing to archive: " << why_nothing(result->uncut) << '\n';
    return ExitCode::success;
  }
  for (const ledger::Archive& archive : result->archives) {
    environment.out << printable(archive.file.native()) << ": " << format_instant(archive.begin) << " to "
                    << format_instant(archive.until) << ", " << grouped(archive.events, "event") << ", "
                    << grouped(static_cast<std::int64_t>(archive.bytes)) << " bytes; the last one, event "
                    << archive.verified.events << ", has hash " << archive.verified.hash << '\n';
  }
  if (arguments.prepare) {
    environment.out << printable(arguments.ledger)
                    << ": prepared, and not changed: stop shapleyd, call archive without --prepare, start shapleyd\n";
    return ExitCode::success;
  }
  if (result->was_prepared) environment.out << printable(arguments.ledger) << ": what was prepared was completed\n";
  environment.out << printable(arguments.ledger) << ": " << grouped(static_cast<std::int64_t>(result->bytes_before))
                  << " bytes before, " << grouped(static_cast<std::int64_t>(result->bytes_after))
                  << " bytes now; verified: its last event is " << result->verified.events << ", with hash "
                  << result->verified.hash << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
