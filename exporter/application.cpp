#include "exporter/application.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include "base/guarded_main.hpp"
#include "base/printable.hpp"
#include "config/configuration.hpp"
#include "exporter/collector.hpp"

namespace shapley::exporter {

namespace {

constexpr const char* k_footer =
    "Environment:\n"
    "  SHAPLEY_SOCKET   the daemon's socket, unless --socket is given\n"
    "\n"
    "Exit codes:\n"
    "  0 stopped by a signal, or printed   2 command line   4 cannot listen   70 a defect of shapley-exporter\n";

struct CommandLine {
  std::string socket;
  std::string listen = "127.0.0.1:9753";
  double timeout_s = 5;
  bool print = false;
  bool list = false;
};

void describe(CLI::App& app, CommandLine& line) {
  app.set_version_flag("-V,--version", std::string("shapley-exporter " SHAPLEY_VERSION));
  app.add_option("--socket", line.socket, "The daemon's socket")
      ->default_str(printable(line.socket))
      ->type_name("PATH");
  app.add_option("--listen", line.listen, "Where to serve http://ADDRESS:PORT/metrics")
      ->capture_default_str()
      ->type_name("ADDRESS:PORT");
  // Below Prometheus' own limit of a scrape (10 s), so that shapley_up is told instead of a scrape that failed.
  app.add_option("--timeout", line.timeout_s, "How long to wait for the daemon at a scrape")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS");
  app.add_flag("--print", line.print, "Print the metrics once, serve nothing");
  app.add_flag("--list", line.list, "Print the metrics' names, kinds, labels and meanings");
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return CLI::FailureMessage::simple(command, {error.get_name(), printable(error.what()), error.get_exit_code()});
  });
  app.footer(k_footer);
}

const char* word_of(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "gauge";
  }
}

void list(std::ostream& out) {
  for (const auto table : {own_metrics(), status_metrics()}) {
    for (const Metric& metric : table) {
      out << "| `" << metric.name << "` | " << word_of(metric.type) << " | "
          << (metric.labels.empty() ? std::string() : std::string(metric.labels)) << " | " << metric.help << " |\n";
    }
  }
}

// The signals that end the program, for a thread that waits for them.
sigset_t blocked_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

ExitCode serve(const CommandLine& line, const std::shared_ptr<Collector>& collector, std::ostream& err) {
  const sigset_t signals = blocked_signals();
  std::unique_ptr<prometheus::Exposer> exposer;
  try {
    // Few threads, and little patience with whoever connects and says nothing.
    exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", line.listen, "num_threads", "4", "request_timeout_ms", "10000",
                                 "enable_keep_alive", "yes", "keep_alive_timeout_ms", "1000"});
  } catch (const std::exception&) {
    err << "shapley-exporter: cannot listen at " << printable(line.listen)
        << ": in use, or no address and port of this machine (127.0.0.1:9753, [::1]:9753)" << std::endl;
    return ExitCode::listen;
  }
  exposer->RegisterCollectable(collector);
  for (const int port : exposer->GetListeningPorts()) {
    err << "shapley-exporter: serves /metrics at " << printable(line.listen) << ", port " << port << std::endl;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  return ExitCode::success;
}

ExitCode parse_and_run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Serve what shapleyd says of itself and of the organizations to Prometheus", "shapley-exporter");
  CommandLine line;
  const char* socket = std::getenv("SHAPLEY_SOCKET");
  line.socket = socket != nullptr && *socket != '\0' ? socket : config::Configuration{}.socket.string();
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return app.exit(stop, out, err) == 0 ? ExitCode::success : ExitCode::usage;
  }
  if (line.list) {
    list(out);
    return ExitCode::success;
  }
  const auto collector = std::make_shared<Collector>(
      reader::Endpoint{.socket = line.socket,
                       .timeout = std::chrono::milliseconds(static_cast<int>(line.timeout_s * 1000)),
                       .program = "shapley-exporter " SHAPLEY_VERSION,
                       .otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET"},
      err);
  if (!line.print) return serve(line, collector, err);
  out << prometheus::TextSerializer().Serialize(collector->Collect());
  return ExitCode::success;
}

}  // namespace

ExitCode run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  return static_cast<ExitCode>(run_guarded(
      "shapley-exporter", static_cast<int>(ExitCode::internal),
      [&](const std::string& text) { err << text << std::endl; },
      [&] { return static_cast<int>(parse_and_run(argc, argv, out, err)); }));
}

}  // namespace shapley::exporter
