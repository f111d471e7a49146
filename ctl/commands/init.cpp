#include "ctl/commands/init.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "base/printable.hpp"
#include "config/configuration.hpp"
#include "ctl/adoption/proposal.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

namespace {

Expected<void> write_new_file(const std::string& file, std::string_view text) {
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!descriptor.is_open()) {
    if (errno == EEXIST) return fail(Errc::conflict, file + ": is there already and is left alone; name another file");
    return fail(Errc::io, file + ": cannot be made: " + std::strerror(errno));
  }
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(Errc::io, file + ": cannot be written: " + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

void add_init(CLI::App& app, InitArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("init", "Propose a first configuration from what sacctmgr and scontrol say; mode observe");
  command->add_option("-o,--output", arguments.output, "A new file; default: standard output")->type_name("FILE");
}

Expected<ExitCode> run_init(const InitArguments& arguments, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const SlurmSite slurm, read_slurm());
  SHAPLEY_TRY_ASSIGN(const std::string text, propose_configuration(slurm));
  if (const auto parsed = config::parse(text); !parsed) {
    return fail(Errc::corrupt,
                "what Slurm says makes no configuration: " + config::format_faults(parsed.error(), "init"));
  }
  if (arguments.output.empty()) {
    environment.out << text;  // a stream that prints no control characters but newlines
    return ExitCode::success;
  }
  SHAPLEY_TRY(write_new_file(arguments.output, text));
  environment.out << printable(arguments.output) << ": written; read and correct it, then: shapleyctl check-config "
                  << "--against-slurm " << printable(arguments.output) << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
