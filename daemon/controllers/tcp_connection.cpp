#include <unistd.h>

#include "daemon/controllers/peer_connection.hpp"
#include "remote/sealed_connection.hpp"

namespace shapley::daemon {

namespace {

class TcpConnection : public PeerConnection {
 public:
  explicit TcpConnection(remote::SealedConnection connection) : connection_(std::move(connection)) {}

  Expected<std::string> ask(const std::string& request, remote::TimedStream::Clock::time_point until) override {
    return connection_.ask(request, until);
  }

 private:
  remote::SealedConnection connection_;
};

}  // namespace

Expected<std::unique_ptr<PeerConnection>> connect_by_tcp(const config::Endpoint& endpoint,
                                                         const std::filesystem::path& munge, int wake_up,
                                                         remote::TimedStream::Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(remote::SealedConnection connection,
                     remote::SealedConnection::open(
                         {.endpoint = endpoint, .munge = munge, .wake_up = wake_up, .trusted = {::geteuid()}}, until));
  return std::make_unique<TcpConnection>(std::move(connection));
}

}  // namespace shapley::daemon
