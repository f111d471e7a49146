#include "daemon/start.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <future>
#include <set>
#include <system_error>
#include <utility>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/server/session.hpp"
#include "daemon/version.hpp"

namespace shapley::daemon {

namespace {

constexpr std::chrono::milliseconds k_look_every{20};

using Making = std::future<Expected<std::unique_ptr<Service>>>;

std::string answer_of(int percent) {
  const std::string what =
      fmt::format("rebuilding, {} %: it starts, and makes its books from the ledger; try again later", percent);
  return nlohmann::json{{"error", {{"code", name_of(Errc::unavailable)}, {"what", what}}},
                        {"rebuilding", {{"percent", percent}}}}
      .dump();
}

// The Unix socket while the books are not ready yet: every client gets the progress.
//
// A feeder is refused, so that the plugin keeps its observations in its spool and tries again every few seconds. A
// reader is welcomed, and each of its requests answered with an error of code `unavailable`
// (docs/reference/protocol.md, "While shapleyd starts"). Single-threaded: everything runs in the io_context.
class StartServer final : public SessionOwner {
 public:
  // `percent` returns the progress, from 0 to 100.
  StartServer(boost::asio::io_context& io, std::string path, std::function<int()> percent)
      : percent_(std::move(percent)), listener_(io, std::move(path), [this](Session::Socket socket, const Peer& peer) {
          admit(std::move(socket), peer);
        }) {}
  ~StartServer() override { close(); }
  StartServer(const StartServer&) = delete;
  StartServer& operator=(const StartServer&) = delete;

  // Errors: those of Listener::open().
  [[nodiscard]] Expected<void> open() {
    SHAPLEY_TRY(listener_.open());
    open_ = true;
    return {};
  }
  // Ends every connection and removes the socket file.
  void close() {
    if (!std::exchange(open_, false)) return;
    listener_.stop();
    const auto sessions = sessions_;
    for (const auto& session : sessions) session->close();
    listener_.remove();
  }
  // Call once a second: closes connections of clients that neither read nor ask.
  void check_progress() {
    const auto sessions = sessions_;
    for (const auto& session : sessions) session->check_progress(Session::Clock::now());
  }

  [[nodiscard]] Expected<void> on_message(Session& session, protocol::Message message) override {
    if (const auto* hello = std::get_if<protocol::Hello>(&message); hello != nullptr && !session.role()) {
      return greet(session, *hello);
    }
    const auto* query = std::get_if<protocol::Query>(&message);
    if (query == nullptr || !session.role()) {
      return fail(Errc::protocol, "a reader says Hello, then sends queries only");
    }
    session.send(protocol::Reply{query->id, answer_of(percent_())});
    return {};
  }
  [[nodiscard]] bool may_read(const Session& /*session*/) const override { return true; }
  void on_written_out(Session& /*session*/) override {}
  void on_closed(Session& session) override { sessions_.erase(session.shared_from_this()); }

 private:
  void admit(Session::Socket socket, const Peer& peer) {
    constexpr std::size_t k_max_connections = 256;
    if (sessions_.size() >= k_max_connections) return;
    const auto session = std::make_shared<Session>(std::move(socket), peer, *this, Session::Timeouts{});
    sessions_.insert(session);
    session->start();
  }
  [[nodiscard]] static Expected<void> greet(Session& session, const protocol::Hello& hello) {
    SHAPLEY_TRY(check_version(hello));
    // The reason contains no figure, because the plugin logs each reason once.
    if (hello.role == protocol::Role::feeder) {
      return fail(Errc::unavailable, "it starts, and makes its books from the ledger; try again later");
    }
    session.welcome(hello.role);
    protocol::Welcome welcome;
    welcome.program = k_program;
    session.send(welcome);
    return {};
  }

  const std::function<int()> percent_;
  Listener listener_;
  std::set<std::shared_ptr<Session>> sessions_;
  bool open_ = false;
};

// Serves the socket until the service exists. False: a signal came.
class Meanwhile {
 public:
  Meanwhile(const Making& making, ledger::ReplayWatch& watch, const StartOptions& options)
      : making_(making),
        watch_(watch),
        options_(options),
        signals_(io_, SIGTERM, SIGINT),
        timer_(io_),
        server_(io_, options.socket, [this] { return watch_.percent(); }) {}

  bool run() {
    spdlog::info(
        "start: the books are not ready yet; the socket says how far they are, and the plugin keeps its "
        "observations meanwhile");
    // A process that prevents this socket also prevents the service's, which reports the error.
    if (const auto opened = server_.open(); !opened) spdlog::warn("{}", opened.error().what);
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      spdlog::info("start: {}: stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT");
      watch_.stop = true;
    });
    tick();
    io_.run();
    return !watch_.stop;
  }

 private:
  void tick() {
    constexpr auto k_looks_a_second = std::chrono::seconds(1) / k_look_every;
    if (making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      server_.close();
      signals_.cancel();
      return;
    }
    if (looks_++ % k_looks_a_second == 0) {
      server_.check_progress();
      if (options_.notify) {
        options_.notify(fmt::format("{}\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=rebuilding the books, {} %",
                                    k_watchdog_ping, watch_.percent()));
      }
    }
    timer_.expires_after(k_look_every);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) tick();
    });
  }

  const Making& making_;
  ledger::ReplayWatch& watch_;
  const StartOptions& options_;
  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  StartServer server_;
  int looks_ = 0;
};

}  // namespace

Expected<std::unique_ptr<Service>> start_service(const MakeService& make, const StartOptions& options) {
  ledger::ReplayWatch watch;
  Making making;
  try {
    making = std::async(std::launch::async, [&] { return make(watch); });
  } catch (const std::system_error& error) {
    return fail(Errc::unavailable, fmt::format("start: a thread: {}", error.what()));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto takes_long = [&] {
    return watch.total > options.few_events && std::chrono::steady_clock::now() - begin >= options.patience;
  };
  while (!takes_long()) {
    if (making.wait_for(k_look_every) == std::future_status::ready) return making.get();
  }
  const bool wanted = Meanwhile(making, watch, options).run();
  auto made = making.get();
  if (!wanted) return nullptr;
  return made;
}

namespace {

std::chrono::microseconds half_of_what_is_asked_for() {
  const char* pid = std::getenv("WATCHDOG_PID");
  if (pid != nullptr && std::strtoll(pid, nullptr, 10) != ::getpid()) return {};
  const char* interval = std::getenv("WATCHDOG_USEC");
  return std::chrono::microseconds(interval == nullptr ? 0 : std::strtoll(interval, nullptr, 10) / 2);
}

}  // namespace

void notify(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  if (::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               size) < 0) {
    spdlog::warn("daemon: notify {}: {}", path, std::strerror(errno));
  }
  ::close(descriptor);
}

Watchdog::Watchdog(boost::asio::io_context& io, std::function<Clock::time_point()> clock)
    : timer_(io), clock_(std::move(clock)), asked_for_(half_of_what_is_asked_for()) {}

void Watchdog::start() {
  constexpr std::chrono::minutes k_otherwise{1};
  const auto hanging = PieceOfWork::overdue(clock_());
  for (const std::string& thread : hanging) {
    spdlog::error("daemon: the thread of {} hangs{}", thread,
                  asked_for_.count() > 0 ? ": systemd hears nothing until it goes on" : "; restart shapleyd");
  }
  if (asked_for_.count() > 0 && hanging.empty()) notify(k_watchdog_ping);
  timer_.expires_after(asked_for_.count() > 0 ? asked_for_ : k_otherwise);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) start();
  });
}

}  // namespace shapley::daemon
