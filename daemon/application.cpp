#include "daemon/application.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "config/values.hpp"
#include "daemon/books/trusted_clock.hpp"
#include "daemon/configuration/site.hpp"
#include "daemon/consortium/consortium_loop.hpp"
#include "daemon/controllers/controller_json.hpp"
#include "daemon/controllers/peer_loop.hpp"
#include "daemon/server/remote_listener.hpp"
#include "daemon/server/server.hpp"
#include "daemon/service.hpp"
#include "daemon/start.hpp"
#include "daemon/version.hpp"
#include "ledger/readers/declarations.hpp"
#include "remote/sealed.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

namespace {

void log_faults(const std::vector<config::Fault>& faults, const std::filesystem::path& file) {
  for (const config::Fault& fault : faults) {
    std::string line = config::format_faults({fault}, file.string());
    while (line.ends_with('\n')) line.pop_back();
    spdlog::error("configuration: {}", line);
  }
}

rpc_client::Endpoint peer_of(const config::Configuration& c) {
  rpc_client::Endpoint peer{
      .socket = c.peer, .program = std::string(k_program), .munge = c.munge_socket, .trusted = {::geteuid()}};
  auto endpoint = config::parse_endpoint(c.peer);
  if (!c.peer.starts_with('/') && endpoint) peer.hosts = {*std::move(endpoint)};
  return peer;
}

// How the application ended: its ledger is to be set aside, or with this exit code.
struct Ended {
  ExitCode code = ExitCode::success;
  bool has_parted = false;
};

class Application {
 public:
  Application(std::filesystem::path file, std::unique_ptr<Service> service)
      : file_(std::move(file)),
        service_(std::move(service)),
        server_(
            io_, *service_, [this] { return service_->now(); }, Server::Limits{}),
        signals_(io_, SIGTERM, SIGINT, SIGHUP),
        watchdog_(io_) {
    signals_.add(SIGUSR1);
    if (service_->controllers() == nullptr) return;
    peer_.emplace(io_, *service_->controllers(), peer_of(service_->site().configuration),
                  PeerLoop::Hooks{.clock = [this] { return service_->now(); },
                                  .changed = [this] { server_.push(); },
                                  .parted = [this] { end(); }});
  }

  Ended run() {
    if (const auto opened = server_.open(); !opened) {
      spdlog::error("{}", opened.error().what);
      return {.code = ExitCode::socket};
    }
    if (const auto listening = listen_for_others(); !listening) {
      spdlog::error("{}", listening.error().what);
      server_.close();
      return {.code = ExitCode::socket};
    }
    wait_for_signal();
    if (peer_) peer_->start();
    ask_other_clusters();
    spdlog::info("{}: ready on {}", k_program, service_->site().configuration.socket.string());
    notify("READY=1");
    watchdog_.start();
    io_.run();
    return {.has_parted = service_->controllers() != nullptr && service_->controllers()->has_parted()};
  }

 private:
  Expected<void> listen_for_others() {
    const config::Configuration& c = service_->site().configuration;
    if (c.listen.empty()) return {};
    SHAPLEY_TRY_ASSIGN(config::Endpoint at, config::parse_endpoint(c.listen));
    const rpc_client::Endpoint peer = peer_of(c);
    SHAPLEY_TRY_ASSIGN(
        listener_, RemoteListener::open({.at = std::move(at),
                                         .socket = c.socket,
                                         .munge = c.munge_socket,
                                         .slurm_uid = service_->site().slurm_uid,
                                         .peer = peer.is_remote() ? std::optional(peer.hosts.front()) : std::nullopt}));
    return {};
  }

  // From when on a consortium is configured.
  void ask_other_clusters() {
    const config::Configuration& c = service_->site().configuration;
    if (consortium_ || c.consortium.clusters.empty()) return;
    const auto next = [this]() -> std::optional<ConsortiumLoop::Question> {
      const Consortium::Cluster* cluster =
          service_->is_active() ? service_->consortium().next_to_ask(service_->now()) : nullptr;
      if (cluster == nullptr) return std::nullopt;
      return ConsortiumLoop::Question{cluster->configuration.name, cluster->configuration.standing, cluster->key};
    };
    const auto received = [this](const std::string& cluster, HeardStatement heard) {
      service_->receive_standing(cluster, std::move(heard), service_->now());
      server_.push();
    };
    consortium_.emplace(io_, c.munge_socket, ConsortiumLoop::Hooks{.next = next, .received = received});
    consortium_->start();
  }

  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal == SIGHUP) {
        reload();
        wait_for_signal();
      } else if (signal == SIGUSR1) {
        service_->accept_clock();
        wait_for_signal();
      } else {
        stop(signal);
      }
    });
  }

  void reload() {
    spdlog::info("configuration: {}: reload", file_.string());
    if (const auto trusted = check_configuration_file(file_); !trusted) {
      spdlog::error("{}; not taken over; the running configuration stays", trusted.error().what);
      service_->note_refusal(trusted.error().what, service_->now());
      return;
    }
    auto site = load_site(file_);
    if (!site) {
      log_faults(site.error(), file_);
      spdlog::error("configuration: {}: not taken over; the running configuration stays", file_.string());
      service_->note_refusal(one_line(site.error(), file_.string()), service_->now());
      return;
    }
    if (const auto reloaded = service_->reload(std::move(*site), service_->now()); !reloaded) {
      spdlog::error("configuration: {}: not taken over: {}; the running configuration stays", file_.string(),
                    reloaded.error().what);
      service_->note_refusal(reloaded.error().what, service_->now());
      return;
    }
    spdlog::info("configuration: {}: in force", file_.string());
    ask_other_clusters();
    server_.push();
  }

  void stop(int signal) {
    spdlog::info("daemon: {}: stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT");
    notify("STOPPING=1");
    while (service_->process(service_->now()) && service_->is_unfinished()) continue;
    server_.push();
    end();
    service_->stop(service_->now());
  }

  void end() {
    if (peer_) peer_->stop();
    if (consortium_) consortium_->stop();
    listener_.reset();
    boost::system::error_code ignored;
    signals_.cancel(ignored);
    watchdog_.stop();
    server_.close();
  }

  std::filesystem::path file_;
  boost::asio::io_context io_{1};
  std::unique_ptr<Service> service_;
  Server server_;
  boost::asio::signal_set signals_;
  Watchdog watchdog_;
  std::optional<PeerLoop> peer_;
  std::optional<ConsortiumLoop> consortium_;
  std::unique_ptr<RemoteListener> listener_;
};

// Files that root made would be closed to slurm_user, the user of the service.
Expected<void> check_user(const Site& site) {
  if (::geteuid() != 0 || site.slurm_uid == 0) return {};
  const std::string& user = site.configuration.slurm_user;
  return fail(Errc::denied, fmt::format("daemon: started by root, and slurm_user is {}: run it as {} (systemctl start "
                                        "shapleyd, or by hand: runuser -u {} -- shapleyd)",
                                        user, user, user));
}

// Success: no other user can change these files.
ExitCode check_files(const Site& site, bool say_warnings) {
  const auto report = [say_warnings](const Expected<std::vector<std::string>>& checked) {
    if (!checked) {
      spdlog::error("{}", checked.error().what);
      return false;
    }
    if (!say_warnings) return true;
    for (const std::string& warning : *checked) spdlog::warn("{}", warning);
    return true;
  };
  if (!report(protect_ledger_files(site.configuration.ledger))) return ExitCode::ledger;
  if (!report(check_socket_place(site.configuration.socket))) return ExitCode::socket;
  return ExitCode::success;
}

// What the books of its ledger say of the names of organizations and of the cluster. Before the first start there are
// none; where they cannot be read, that is said, and a reload says what they say.
std::vector<config::Fault> faults_by_the_books(const config::Configuration& configuration) {
  std::error_code ignored;
  if (!std::filesystem::exists(configuration.ledger, ignored)) return {};
  const auto faults = [&]() -> Expected<std::vector<config::Fault>> {
    SHAPLEY_TRY_ASSIGN(const ledger::Ledger books,
                       ledger::Ledger::open(configuration.ledger, ledger::OpenMode::read_only));
    SHAPLEY_TRY_ASSIGN(const accounting::FormerNames former, ledger::former_names(books));
    SHAPLEY_TRY_ASSIGN(const std::string cluster, ledger::cluster_name(books));
    std::vector<config::Fault> found = config::former_name_faults(configuration, former);
    const std::vector<config::Fault> of_consortium = config::consortium_faults(configuration, cluster);
    found.insert(found.end(), of_consortium.begin(), of_consortium.end());
    return found;
  }();
  if (faults) return *faults;
  std::cerr << printable(
                   fmt::format("names of organizations were not compared with the books: {}", faults.error().what))
            << '\n';
  return {};
}

}  // namespace

ExitCode check_configuration(const std::filesystem::path& file) {
  if (const auto trusted = check_configuration_file(file); !trusted) {
    std::cerr << printable(trusted.error().what) << '\n';
    return ExitCode::configuration;
  }
  const auto site = load_site(file);
  if (!site) {
    std::cerr << config::format_faults(site.error(), file.string()) << '\n';
    return ExitCode::configuration;
  }
  const config::Configuration& c = site->configuration;
  if (const auto faults = faults_by_the_books(c); !faults.empty()) {
    std::cerr << config::format_faults(faults, file.string()) << '\n';
    return ExitCode::configuration;
  }
  std::size_t claims = 0;
  for (const config::OrganizationConfig& o : c.organizations) {
    for (const config::NodeClaim& claim : o.nodes) claims += claim.nodes.size();
  }
  const std::string summary = fmt::format(
      "{}: no fault: {}, {}, {} of nodes; contribution {}, order {}, mode {}, period {}; "
      "slurm_user {} (uid {}); ledger {}, socket {}",
      file.string(), counted(c.organizations.size(), "organization"), counted(site->rules.size(), "rule"),
      counted(claims, "claim"), accounting::name_of(c.contribution), name_of(c.order), name_of(c.mode),
      name_of(c.period), c.slurm_user, site->slurm_uid, c.ledger.string(), c.socket.string());
  std::cout << printable(summary) << '\n';
  return ExitCode::success;
}

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "unknown";
}

// Configuration and ledger, ready to serve; or the reason why they are not.
struct Start {
  std::unique_ptr<Service> service = {};
  ExitCode code = ExitCode::success;  // without a service: a signal ended the start
  std::string waits_for = {};         // not empty: the ledger's disk is full; the message for the log
};

// A migration of a large ledger takes minutes: every tenth of it is logged, and the supervisor is notified to wait.
ledger::OnProgress log_migration(const std::filesystem::path& file) {
  return [file, said = std::string()](const ledger::Progress& progress) mutable {
    std::string now(progress.what);
    if (progress.all > 0) now += fmt::format(", {} %", progress.done * 10 / progress.all * 10);
    notify(fmt::format("{}\nEXTEND_TIMEOUT_USEC=1800000000\nSTATUS=migrating the ledger: {}", k_watchdog_ping, now));
    if (now != said) spdlog::info("ledger: {}: migration: {}", file.string(), now);
    said = std::move(now);
  };
}

Start start(const std::filesystem::path& file, bool first_try) {
  if (const auto trusted = check_configuration_file(file); !trusted) {
    spdlog::error("{}", trusted.error().what);
    return {.code = ExitCode::configuration};
  }
  auto site = load_site(file);
  if (!site) {
    log_faults(site.error(), file);
    return {.code = ExitCode::configuration};
  }
  if (const auto own = check_user(*site); !own) {
    spdlog::error("{}", own.error().what);
    return {.code = ExitCode::configuration};
  }
  if (const ExitCode checked = check_files(*site, first_try); checked != ExitCode::success) return {.code = checked};
  auto instance = remote::random_digits();
  if (!instance) {
    spdlog::error("{}", instance.error().what);
    return {.code = ExitCode::internal};
  }
  Service::Options options;
  options.configuration_file = file;
  options.host = host_name();
  options.instance = *std::move(instance);
  options.on_migration = log_migration(site->configuration.ledger);
  options.read_clock = read_kernel_clock;
  options.user_names = host_user_names;
  options.boot = boot_name();
  const auto make = [&](ledger::ReplayWatch& watch) {
    return Service::start(*site, options, read_kernel_clock().wall, &watch);
  };
  auto service = start_service(make, {.socket = site->configuration.socket.string(), .notify = notify});
  if (service) return {.service = std::move(*service)};
  if (service.error().code == Errc::no_space) return {.waits_for = service.error().what};
  spdlog::error("{}", service.error().what);
  return {.code = service.error().code == Errc::corrupt ? ExitCode::damaged : ExitCode::ledger};
}

}  // namespace

ExitCode run(const std::filesystem::path& file) {
  // If a process that reads our log or notifications ends, the daemon must not end. A request to reload before the
  // configuration was read is ignored.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGUSR1, SIG_IGN);
  std::string said;
  while (true) {
    Start started = start(file, said.empty());
    if (started.service) {
      const std::filesystem::path ledger = started.service->site().configuration.ledger;
      const Ended ended = Application(file, std::move(started.service)).run();
      if (!ended.has_parted) return ended.code;
      const auto aside = set_ledger_aside(ledger, read_kernel_clock().wall);
      if (aside) continue;
      spdlog::error("{}; it is tried again every second", aside.error().what);
      std::this_thread::sleep_for(std::chrono::seconds(1));
      continue;
    }
    if (started.waits_for.empty()) return started.code;
    if (std::exchange(said, started.waits_for) != started.waits_for) {
      spdlog::error("{}; the plugin keeps its observations meanwhile; it is tried again every second", said);
    }
    notify(std::string(k_watchdog_ping) +
           "\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=waiting for room on the ledger's disk");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace shapley::daemon
