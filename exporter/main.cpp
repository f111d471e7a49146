// shapley-exporter: the command line, the HTTP server, the end by a signal.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <netdb.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "config/configuration.hpp"
#include "exporter/collector.hpp"
#include "health/health.hpp"

namespace shapley::exporter {

namespace {

// How it ends. A contract with scripts and systemd: docs/reference/shapley-exporter.md and the manual page list them.
enum class ExitCode : int {
  success = 0,    // stopped by SIGTERM or SIGINT, or it printed what it was asked for
  usage = 2,      // the command line cannot be understood
  listen = 4,     // nothing can listen at the address
  internal = 70,  // a defect
  no_memory = 71  // k_exit_no_memory of base/process.hpp
};

constexpr const char* k_footer =
    "Environment:\n"
    "  SHAPLEY_SOCKET   Set the daemon's socket, unless --socket is given\n"
    "\n"
    "Exit codes:\n"
    "  0 stopped by a signal, or printed   2 command line   4 cannot listen   70 a defect of shapley-exporter\n";

struct CommandLine {
  std::string socket;
  std::string listen = "127.0.0.1:9753";
  double timeout_s = 5;
  std::size_t top = 0;
  std::size_t users = 0;
  int users_every_s = 600;
  health::LimitTexts limits;
  bool print = false;
  bool list = false;
};

void describe(CLI::App& app, CommandLine& line) {
  app.set_version_flag("-V,--version", std::string("shapley-exporter " SHAPLEY_VERSION));
  app.add_option("--socket", line.socket, "Connect to the daemon through this socket")
      ->default_str(printable(line.socket))
      ->type_name("PATH");
  app.add_option("--listen", line.listen,
                 "Serve http://ADDRESS:PORT/metrics; port 0 takes a free port, which is logged")
      ->capture_default_str()
      ->type_name("ADDRESS:PORT");
  // Below Prometheus' own limit of a scrape (10 s), so that shapley_up is reported instead of a scrape that failed.
  app.add_option("--timeout", line.timeout_s, "Wait for the daemon this long at each scrape")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS");
  app.add_option("--top", line.top, "Export only this many organizations, those that own the most processors (0: all)")
      ->capture_default_str()
      ->type_name("NUMBER");
  app.add_option("--users", line.users,
                 "Export what this many users got this period, those that got the most (0: none), unless slurm.conf's "
                 "PrivateData hides jobs or usage")
      ->capture_default_str()
      ->check(CLI::Range(0, 100'000))
      ->type_name("NUMBER");
  app.add_option("--users-every", line.users_every_s, "Ask the daemon for the figures of users this often")
      ->capture_default_str()
      ->check(CLI::Range(10, 86'400))
      ->type_name("SECONDS");
  for (std::size_t i = 0; i < health::k_limit_options.size(); ++i) {
    const health::LimitOption& option = health::k_limit_options[i];
    app.add_option(option.name, line.limits[i], std::string(option.meaning) + " (shapley_health)")->type_name("AGE");
  }
  app.add_flag("--print", line.print, "Print the metrics once and exit");
  app.add_flag("--list", line.list, "List the metrics with their kinds, labels and meanings");
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

std::string text_of(const Collector& collector) {
  return prometheus::TextSerializer().Serialize(collector.Collect());
}

// Whether this is an address and a port. prometheus-cpp's server would take a name, a port of all addresses, and a
// list, too.
bool is_address_and_port(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return false;
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const bool is_one = ::getaddrinfo(host.c_str(), listen.substr(colon + 1).c_str(), &hints, &found) == 0;
  if (is_one) ::freeaddrinfo(found);
  return is_one && !host.empty();
}

// What a request may take, and how many are answered at once; docs/reference/shapley-exporter.md, "Connections".
std::unique_ptr<prometheus::Exposer> listening_at(const std::string& listen) {
  if (!is_address_and_port(listen)) return nullptr;
  try {
    return std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", listen, "num_threads", "4", "request_timeout_ms", "2000"});
  } catch (const std::exception& /*which does not say why*/) {
    return nullptr;
  }
}

// Scrapes within a second of an answer get the same one. prometheus-cpp collects for one scrape after the other, for
// those that were given up, too: without this, a daemon whose answer takes longer than the interval of scrapes would
// never be seen.
class LatestAnswer : public prometheus::Collectable {
 public:
  explicit LatestAnswer(std::shared_ptr<const Collector> collector) : collector_(std::move(collector)) {}

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const MutexLock lock(mutex_);
    if (!answer_ || std::chrono::steady_clock::now() - answered_ > std::chrono::seconds(1)) {
      answer_ = collector_->Collect();
      answered_ = std::chrono::steady_clock::now();
    }
    return *answer_;
  }

 private:
  std::shared_ptr<const Collector> collector_;
  mutable Mutex mutex_;
  mutable std::optional<std::vector<prometheus::MetricFamily>> answer_ SHAPLEY_GUARDED_BY(mutex_);
  mutable std::chrono::steady_clock::time_point answered_ SHAPLEY_GUARDED_BY(mutex_);
};

// REQUIRES: no other thread yet (it blocks signals for those that it starts).
ExitCode serve(const CommandLine& line, const std::shared_ptr<Collector>& collector, UserFigures* users,
               std::ostream& err) {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto server = listening_at(line.listen);
  if (server == nullptr) {
    err << "shapley-exporter: cannot listen at " << printable(line.listen)
        << "; write an address and port of this machine that are not in use (127.0.0.1:9753); an IPv6 address needs a "
           "civetweb that has IPv6"
        << std::endl;
    return ExitCode::listen;
  }
  const auto answers = std::make_shared<LatestAnswer>(collector);
  server->RegisterCollectable(answers);
  err << "shapley-exporter: serves /metrics at " << printable(line.listen) << ", port "
      << server->GetListeningPorts().front() << std::endl;
  if (users != nullptr) users->ask_every(std::chrono::seconds(line.users_every_s));
  int signal = 0;
  sigwait(&signals, &signal);
  return ExitCode::success;
}

ExitCode parse_and_run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Serve metrics of shapleyd and of the organizations to Prometheus", "shapley-exporter");
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
  const Expected<health::Limits> limits = health::parse_limits(line.limits);
  if (!limits) {
    err << "shapley-exporter: " << printable(limits.error().what) << std::endl;
    return ExitCode::usage;
  }
  const rpc_client::Endpoint endpoint{.socket = line.socket,
                                      .timeout = std::chrono::milliseconds(static_cast<int>(line.timeout_s * 1000)),
                                      .program = "shapley-exporter " SHAPLEY_VERSION,
                                      .otherwise = "Another socket: --socket PATH or SHAPLEY_SOCKET"};
  std::optional<UserFigures> users;
  if (line.users > 0) {
    // A statement may take the daemon a minute, which no scrape waits for.
    constexpr std::chrono::milliseconds k_statement_timeout{90'000};
    rpc_client::Endpoint patient = endpoint;
    patient.timeout = std::max(endpoint.timeout, k_statement_timeout);
    users.emplace(std::move(patient), line.users);
  }
  UserFigures* figures = users ? &*users : nullptr;
  const auto collector = std::make_shared<Collector>(endpoint, line.top, *limits, err, figures);
  if (!line.print) return serve(line, collector, figures, err);
  if (figures != nullptr) figures->ask();
  out << text_of(*collector);
  return ExitCode::success;
}

}  // namespace

}  // namespace shapley::exporter

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  return shapley::run_guarded(
      "shapley-exporter", static_cast<int>(shapley::exporter::ExitCode::internal),
      [](const std::string& text) { std::cerr << text << std::endl; },
      [&] { return static_cast<int>(shapley::exporter::parse_and_run(argc, argv, std::cout, std::cerr)); });
}
