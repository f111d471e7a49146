// shapleyd: command line and log; everything else is in application.cpp.
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/printable.hpp"
#include "base/process.hpp"
#include "config/keys.hpp"
#include "daemon/application.hpp"
#include "daemon/version.hpp"

namespace {

using shapley::daemon::ExitCode;

// A message for the log: printable, on one line.
class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    const std::string text = shapley::printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableMessage>();
  }
};

void set_up_log(spdlog::level::level_enum level) {
  auto logger = spdlog::stderr_logger_mt("shapleyd");
  logger->set_level(level);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableMessage>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l: %*");
  logger->set_formatter(std::move(formatter));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(logger);
}

}  // namespace

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  CLI::App cli("Keep the books of a Slurm cluster that several organizations share, and rank the organizations");
  std::filesystem::path file = shapley::config::k_default_file;
  bool check = false;
  bool foreground = true;
  spdlog::level::level_enum level = spdlog::level::info;
  const std::map<std::string, spdlog::level::level_enum> levels{{"debug", spdlog::level::debug},
                                                                {"info", spdlog::level::info},
                                                                {"warning", spdlog::level::warn},
                                                                {"error", spdlog::level::err}};
  cli.add_option("--config", file, "Read the configuration from this file")->capture_default_str()->type_name("FILE");
  cli.add_flag("--check-config", check,
               "Check the configuration file, print its meaning and exit, with 1 if it has faults, such as former "
               "names of organizations, which the books of its ledger know");
  cli.add_flag("--foreground", foreground, "Run in the foreground, logging to standard error (the only mode)");
  cli.add_option("--log-level", level, "Log messages from this level on: debug, info (default), warning or error")
      ->transform(CLI::CheckedTransformer(levels).description(""))
      ->type_name("LEVEL");
  cli.set_version_flag("-V,--version", std::string(shapley::daemon::k_program));
  // An argument that the message quotes cannot add a line.
  cli.failure_message([](const CLI::App* app, const CLI::Error& error) {
    return CLI::FailureMessage::simple(app,
                                       {error.get_name(), shapley::printable(error.what()), error.get_exit_code()});
  });
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool informed = cli.exit(error) == 0;
    return static_cast<int>(informed ? ExitCode::success : ExitCode::usage);
  }
  set_up_log(level);
  return shapley::run_guarded(
      "shapleyd", static_cast<int>(ExitCode::internal), [](const std::string& text) { spdlog::critical(text); },
      [&] {
        return static_cast<int>(check ? shapley::daemon::check_configuration(file) : shapley::daemon::run(file));
      });
}
