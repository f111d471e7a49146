#include "rpc_client/client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <variant>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"
#include "remote/sealed.hpp"

namespace shapley::rpc_client {

namespace {

using nlohmann::json;

Expected<json> parse_reply(const std::string& text) {
  json reply = parse_json(text);
  if (!reply.is_object()) return fail(Errc::protocol, "shapleyd: its answer is no JSON object");
  if (auto error = error_of_reply(reply)) return with_context("shapleyd", *std::move(error));
  return reply;
}

using Deadline = Client::Deadline;
using Transport = std::unique_ptr<Client::Transport>;

// ---- over shapleyd's socket ----

Expected<sockaddr_un> address_of(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(Errc::invalid_argument,
                fmt::format("socket: '{}': a path of 1 to {} bytes is allowed", path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Its errors say what the user could do.
class SocketTransport : public Client::Transport {
 public:
  SocketTransport(Descriptor descriptor, Endpoint endpoint)
      : asking_(remote::TimedStream(std::move(descriptor), endpoint.wake_up)), endpoint_(std::move(endpoint)) {}

  Expected<void> open(Deadline until) {
    SHAPLEY_TRY_ASSIGN(const sockaddr_un address, address_of(endpoint_.socket));
    if (const auto met = meet(address, until); !met) return with_remedy(met.error());
    return {};
  }

  Expected<std::string> ask(const std::string& request, Deadline until) override {
    auto answer = asking_.ask(request, until);
    if (!answer) return with_remedy(answer.error());
    return answer;
  }

 private:
  Expected<void> meet(const sockaddr_un& address, Deadline until) {
    SHAPLEY_TRY(asking_.stream().connect_to(&address, sizeof address, until));
    SHAPLEY_TRY(check_listener());
    protocol::Hello hello;
    hello.role = protocol::Role::reader;
    hello.program = endpoint_.program;
    hello.cluster = endpoint_.cluster;
    hello.ledger = endpoint_.ledger;
    if (endpoint_.on_behalf_of) hello.on_behalf_of = *endpoint_.on_behalf_of;
    SHAPLEY_TRY_ASSIGN(const protocol::Message answer, asking_.greet(hello, until));
    if (const auto* refused = std::get_if<protocol::Refused>(&answer)) {
      return fail(Errc::denied, "shapleyd refuses: " + refused->reason);
    }
    if (std::holds_alternative<protocol::Welcome>(answer)) return {};
    return fail(Errc::protocol,
                fmt::format("what listens at {} does not greet as shapleyd does", endpoint_.socket.native()));
  }

  Expected<void> check_listener() {
    ucred listener{};
    socklen_t length = sizeof listener;
    if (::getsockopt(asking_.stream().descriptor(), SOL_SOCKET, SO_PEERCRED, &listener, &length) != 0) {
      return system_failure("SO_PEERCRED", errno, Errc::unavailable);
    }
    const auto& trusted = endpoint_.trusted;
    if (trusted.empty() || listener.uid == 0 || std::ranges::find(trusted, listener.uid) != trusted.end()) return {};
    return fail(Errc::unavailable, fmt::format("who listens there has uid {}, which is not trusted to", listener.uid));
  }

  [[nodiscard]] tl::unexpected<Error> with_remedy(const Error& error) const {
    if (error.code != Errc::unavailable) return tl::unexpected<Error>(error);
    return fail(error.code, fmt::format("cannot reach shapleyd at {}: {}; is it running (systemctl status shapleyd)?{}",
                                        endpoint_.socket.native(), error.what,
                                        endpoint_.otherwise.empty() ? std::string() : ' ' + endpoint_.otherwise));
  }

  protocol::Asking<remote::TimedStream> asking_;
  Endpoint endpoint_;
};

Expected<Transport> connect_by_socket(const Endpoint& endpoint, Deadline until) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open()) return fail(Errc::io, std::string("socket: ") + std::strerror(errno));
  auto transport = std::make_unique<SocketTransport>(std::move(descriptor), endpoint);
  SHAPLEY_TRY(transport->open(until));
  return transport;
}

// ---- over TCP ----

std::string address_text(const config::Endpoint& host) {
  const bool is_address = host.host.find(':') != std::string::npos;
  return (is_address ? '[' + host.host + ']' : host.host) + ':' + std::to_string(host.port);
}

class TcpTransport : public Client::Transport {
 public:
  TcpTransport(remote::SealedConnection connection, std::string where)
      : connection_(std::move(connection)), where_(std::move(where)) {}

  Expected<std::string> ask(const std::string& request, Deadline until) override {
    auto answer = connection_.ask(request, until);
    if (!answer) return fail(answer.error().code, fmt::format("shapleyd at {}: {}", where_, answer.error().what));
    return answer;
  }

 private:
  remote::SealedConnection connection_;
  std::string where_;
};

Expected<Transport> connect_by_tcp(const Endpoint& endpoint, Deadline until) {
  std::string tried;
  for (const config::Endpoint& host : endpoint.hosts) {
    auto connection = remote::SealedConnection::open({.endpoint = host,
                                                      .munge = endpoint.munge,
                                                      .wake_up = endpoint.wake_up,
                                                      .trusted = endpoint.trusted,
                                                      .trusts_any = endpoint.trusts_any,
                                                      .cluster = endpoint.cluster,
                                                      .ledger = endpoint.ledger},
                                                     until);
    if (connection) return std::make_unique<TcpTransport>(*std::move(connection), address_text(host));
    tried += fmt::format("{}{} {}", tried.empty() ? "" : "; ", address_text(host), connection.error().what);
  }
  const std::string what =
      endpoint.missing_here.empty()
          ? fmt::format("cannot reach shapleyd over TCP: {}; is it running, and does its configuration say `listen`?",
                        tried)
          : fmt::format("cannot reach shapleyd: {}; nor over TCP: {}.", endpoint.missing_here, tried);
  return fail(Errc::unavailable, what + (endpoint.otherwise.empty() ? "" : ' ' + endpoint.otherwise));
}

Expected<std::string> answer_of(std::string_view host, const json& request, Endpoint endpoint) {
  SHAPLEY_TRY_ASSIGN(config::Endpoint there, config::parse_endpoint(host));
  endpoint.hosts = {std::move(there)};
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json answer, client.ask(request));
  return text_of(answer);
}

}  // namespace

Expected<Client> Client::connect(const Endpoint& endpoint) {
  const Deadline until = std::chrono::steady_clock::now() + endpoint.timeout;
  SHAPLEY_TRY_ASSIGN(std::unique_ptr<Transport> transport, rpc_client::connect(endpoint, until));
  return Client(std::move(transport), endpoint.timeout);
}

Expected<json> Client::ask(const json& request) {
  const std::string text = text_of(request);
  SHAPLEY_TRY_ASSIGN(const std::string answer, transport_->ask(text, std::chrono::steady_clock::now() + timeout_));
  return parse_reply(answer);
}

Expected<Transport> connect(const Endpoint& endpoint, Deadline until) {
  return endpoint.is_remote() ? connect_by_tcp(endpoint, until) : connect_by_socket(endpoint, until);
}

Expected<std::string> fetch(const std::string& place, const nlohmann::json& request, Endpoint endpoint,
                            std::size_t most_bytes) {
  if (place.starts_with('/')) {
    auto text = read_text_file(place, most_bytes, {.time = endpoint.timeout, .wake_up = endpoint.wake_up});
    if (!text && text.error().code == Errc::not_found)
      return fail(Errc::not_found, place + ": there is no such file yet");
    return text;
  }
  const std::vector<std::string_view> hosts = split(place, ',');
  endpoint.timeout /= static_cast<int>(hosts.size());
  Error why{Errc::unavailable, {}};
  for (const std::string_view one : hosts) {
    auto answer = answer_of(trimmed(one), request, endpoint);
    if (answer) return answer;
    why = {answer.error().code, (why.what.empty() ? "" : why.what + "; ") + answer.error().what};
  }
  return tl::unexpected<Error>(std::move(why));
}

Expected<std::string> fetch_standing(const std::string& place, Endpoint endpoint, std::size_t most_bytes) {
  endpoint.trusts_any = true;
  return fetch(place, {{"request", "standing"}}, std::move(endpoint), most_bytes);
}

}  // namespace shapley::rpc_client
