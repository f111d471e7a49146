// The Unix socket while the books are not ready yet: everybody hears how far they are.
//
// A feeder is refused, so that the plugin keeps its observations in its spool and tries again every few seconds. A
// reader is welcomed, and each of its requests answered with an error of code `unavailable`
// (docs/reference/protocol.md, "While shapleyd starts"). Single-threaded: everything runs in the io_context.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/error.hpp"
#include "daemon/server/session.hpp"

namespace shapley::daemon {

class StartServer final : public SessionOwner {
 public:
  static constexpr std::size_t k_max_connections = 256;

  // `percent` says how much is done, from 0 to 100.
  StartServer(boost::asio::io_context& io, std::string path, std::function<int()> percent);
  ~StartServer() override;
  StartServer(const StartServer&) = delete;
  StartServer& operator=(const StartServer&) = delete;

  // Errors: those of listen_on().
  [[nodiscard]] Expected<void> open();
  // Ends every connection and removes the socket file.
  void close();
  // Call once a second: drops who takes nothing and asks nothing.
  void check_progress();

  [[nodiscard]] Expected<void> on_message(Session& session, protocol::Message message) override;
  [[nodiscard]] bool may_read(const Session& session) const override;
  void on_written_out(Session& session) override;
  void on_closed(Session& session) override;

 private:
  void accept();
  [[nodiscard]] Expected<void> greet(Session& session, const protocol::Hello& hello);

  boost::asio::io_context& io_;
  const std::string path_;
  const std::function<int()> percent_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  std::set<std::shared_ptr<Session>> sessions_;
  bool open_ = false;
};

}  // namespace shapley::daemon
