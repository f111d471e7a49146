#include "daemon/server/start_server.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "daemon/server/listener.hpp"
#include "daemon/version.hpp"

namespace shapley::daemon {

namespace {

std::string answer_of(int percent) {
  const std::string what =
      fmt::format("rebuilding, {} %: it starts, and makes its books from the ledger; try again later", percent);
  return nlohmann::json{{"error", {{"code", name_of(Errc::unavailable)}, {"what", what}}},
                        {"rebuilding", {{"percent", percent}}}}
      .dump();
}

}  // namespace

StartServer::StartServer(boost::asio::io_context& io, std::string path, std::function<int()> percent)
    : io_(io), path_(std::move(path)), percent_(std::move(percent)), acceptor_(io) {}

StartServer::~StartServer() {
  close();
}

Expected<void> StartServer::open() {
  SHAPLEY_TRY(listen_on(path_, io_, acceptor_));
  open_ = true;
  accept();
  return {};
}

void StartServer::close() {
  if (!std::exchange(open_, false)) return;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->close();
  unlink(path_.c_str());
}

void StartServer::check_progress() {
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->check_progress(Session::Clock::now());
}

void StartServer::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, Session::Socket socket) {
    // What cannot be accepted now will be when the books are ready.
    if (!open_ || error) return;
    const auto peer = peer_of(socket);
    if (peer && sessions_.size() < k_max_connections) {
      const auto session = std::make_shared<Session>(std::move(socket), *peer, *this, Session::Timeouts{});
      sessions_.insert(session);
      session->start();
    }
    accept();
  });
}

Expected<void> StartServer::on_message(Session& session, protocol::Message message) {
  if (const auto* hello = std::get_if<protocol::Hello>(&message); hello != nullptr && !session.role()) {
    return greet(session, *hello);
  }
  const auto* query = std::get_if<protocol::Query>(&message);
  if (query == nullptr || !session.role()) return fail(Errc::protocol, "a reader says Hello, then sends queries only");
  session.send(protocol::Reply{query->id, answer_of(percent_())});
  return {};
}

Expected<void> StartServer::greet(Session& session, const protocol::Hello& hello) {
  SHAPLEY_TRY(check_version(hello));
  // No figure in the reason: the plugin logs each reason once.
  if (hello.role == protocol::Role::feeder) {
    return fail(Errc::unavailable, "it starts, and makes its books from the ledger; try again later");
  }
  session.welcome(hello.role);
  protocol::Welcome welcome;
  welcome.program = k_program;
  session.send(welcome);
  return {};
}

bool StartServer::may_read(const Session& /*session*/) const {
  return true;
}

void StartServer::on_written_out(Session& /*session*/) {}

void StartServer::on_closed(Session& session) {
  sessions_.erase(session.shared_from_this());
}

}  // namespace shapley::daemon
