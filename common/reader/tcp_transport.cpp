#include <utility>

#include "reader/client.hpp"
#include "remote/sealed_connection.hpp"

namespace shapley::reader {

namespace {

std::string text_of(const config::Endpoint& host) {
  const bool is_address = host.host.find(':') != std::string::npos;
  return (is_address ? '[' + host.host + ']' : host.host) + ':' + std::to_string(host.port);
}

class TcpTransport : public Client::Transport {
 public:
  TcpTransport(remote::SealedConnection connection, std::string where)
      : connection_(std::move(connection)), where_(std::move(where)) {}

  Expected<std::string> ask(const std::string& request, Client::Deadline until) override {
    auto answer = connection_.ask(request, until);
    if (!answer) return fail(answer.error().code, "shapleyd at " + where_ + ": " + answer.error().what);
    return answer;
  }

 private:
  remote::SealedConnection connection_;
  std::string where_;
};

}  // namespace

Expected<std::unique_ptr<Client::Transport>> connect_by_tcp(const Endpoint& endpoint, Client::Deadline until) {
  std::string tried;
  for (const config::Endpoint& host : endpoint.hosts) {
    auto connection = remote::SealedConnection::open(
        {.endpoint = host, .munge = endpoint.munge, .trusted = endpoint.trusted, .cluster = endpoint.cluster}, until);
    if (connection) return std::make_unique<TcpTransport>(*std::move(connection), text_of(host));
    tried += (tried.empty() ? "" : "; ") + text_of(host) + ' ' + connection.error().what;
  }
  const std::string what =
      endpoint.missing_here.empty()
          ? "cannot reach shapleyd over TCP: " + tried + "; is it running, and does its configuration say `listen`?"
          : "cannot reach shapleyd: " + endpoint.missing_here + "; nor over TCP: " + tried + '.';
  return fail(Errc::unavailable, what + (endpoint.otherwise.empty() ? "" : ' ' + endpoint.otherwise));
}

}  // namespace shapley::reader
