#include "ctl/client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/messages.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::size_t k_read_bytes = 64U << 10U;

Expected<sockaddr_un> address_of(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = socket.native();
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(Errc::invalid_argument, "socket: '" + path + "': a path of 1 to " +
                                            std::to_string(sizeof(address.sun_path) - 1) + " bytes is allowed");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// The code travels by name; one that a newer daemon made up is still an error.
Errc code_named(std::string_view name) {
  for (const Errc code : {Errc::invalid_argument, Errc::not_found, Errc::conflict, Errc::corrupt, Errc::io,
                          Errc::protocol, Errc::denied, Errc::limit, Errc::unavailable, Errc::no_space}) {
    if (name == name_of(code)) return code;
  }
  return Errc::protocol;
}

std::string member(const json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Expected<json> parse_reply(const std::string& text) {
  json reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) return fail(Errc::protocol, "shapleyd: its answer is no JSON object");
  const auto error = reply.find("error");
  if (error == reply.end()) return reply;
  return fail(code_named(member(*error, "code")), "shapleyd: " + member(*error, "what"));
}

}  // namespace

Client::Client(int descriptor, Endpoint endpoint) : descriptor_(descriptor), endpoint_(std::move(endpoint)) {}

Client::Client(Client&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      endpoint_(std::move(other.endpoint_)),
      frames_(std::move(other.frames_)),
      last_id_(other.last_id_) {}

Client& Client::operator=(Client&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(endpoint_, other.endpoint_);
  std::swap(frames_, other.frames_);
  std::swap(last_id_, other.last_id_);
  return *this;
}

Client::~Client() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<Client> Client::connect(const Endpoint& endpoint) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return fail(Errc::io, std::string("socket: ") + std::strerror(errno));
  Client client(descriptor, endpoint);
  const Deadline until = client.deadline();
  SHAPLEY_TRY(client.open(until));
  SHAPLEY_TRY(client.greet(until));
  return client;
}

Expected<json> Client::ask(const json& request) {
  const Deadline until = deadline();
  const std::uint64_t id = ++last_id_;
  SHAPLEY_TRY(
      send(protocol::Query{.id = id, .json = request.dump(-1, ' ', false, json::error_handler_t::replace)}, until));
  while (true) {
    SHAPLEY_TRY_ASSIGN(const protocol::Message message, receive(until));
    // Anything else is news for other roles; a reader waits for its own answer.
    if (const auto* reply = std::get_if<protocol::Reply>(&message); reply != nullptr && reply->id == id) {
      return parse_reply(reply->json);
    }
  }
}

Client::Deadline Client::deadline() const {
  return std::chrono::steady_clock::now() + endpoint_.timeout;
}

tl::unexpected<Error> Client::away(const std::string& cause) const {
  return fail(Errc::unavailable,
              "cannot reach shapleyd at " + endpoint_.socket.native() + ": " + cause +
                  "; is it running (systemctl status shapleyd)? Another socket: --socket PATH or SHAPLEY_SOCKET; "
                  "without a daemon: --ledger FILE");
}

Expected<void> Client::open(Deadline until) {
  SHAPLEY_TRY_ASSIGN(const sockaddr_un address, address_of(endpoint_.socket));
  // A Unix socket whose backlog is full answers EAGAIN instead of "in progress": waiting for room is trying again.
  while (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
    if (std::chrono::steady_clock::now() >= until) return away("it accepts no connection");
    ::poll(nullptr, 0, 20);
  }
  return {};
}

Expected<void> Client::greet(Deadline until) {
  protocol::Hello hello;
  hello.role = protocol::Role::reader;
  hello.program = "shapleyctl " SHAPLEY_VERSION;
  SHAPLEY_TRY(send(hello, until));
  SHAPLEY_TRY_ASSIGN(const protocol::Message message, receive(until));
  if (const auto* refused = std::get_if<protocol::Refused>(&message)) {
    return fail(Errc::denied, "shapleyd refuses: " + refused->reason);
  }
  if (!std::holds_alternative<protocol::Welcome>(message)) {
    return fail(Errc::protocol, "whoever listens at " + endpoint_.socket.native() + " does not greet as shapleyd does");
  }
  return {};
}

Expected<void> Client::await(short events, Deadline until) const {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      return away("no answer within " + std::to_string(endpoint_.timeout.count() / 1000) + " s");
    }
    pollfd poll_for{.fd = descriptor_, .events = events, .revents = 0};
    const int ready = ::poll(&poll_for, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return away(std::strerror(errno));
  }
}

Expected<void> Client::send(const protocol::Message& message, Deadline until) {
  const std::string frame = protocol::encode_frame(message);
  std::size_t sent = 0;
  while (sent < frame.size()) {
    // MSG_NOSIGNAL: a daemon that hangs up is an error value, not a SIGPIPE.
    const ssize_t n = ::send(descriptor_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      SHAPLEY_TRY(await(POLLOUT, until));
    } else if (errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
  return {};
}

Expected<protocol::Message> Client::receive(Deadline until) {
  while (true) {
    SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, frames_.next());
    if (body) return protocol::decode_body(*body);
    SHAPLEY_TRY(await(POLLIN, until));
    std::array<char, k_read_bytes> buffer{};
    const ssize_t n = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (n > 0) {
      frames_.feed({buffer.data(), static_cast<std::size_t>(n)});
    } else if (n == 0) {
      return away("it hung up");
    } else if (errno != EAGAIN && errno != EINTR) {
      return away(std::strerror(errno));
    }
  }
}

Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json reply, client.ask({{"request", "status"}}));
  const auto daemon = reply.find("daemon");
  std::string file = daemon == reply.end() ? std::string() : member(*daemon, "ledger");
  if (file.empty()) return fail(Errc::protocol, "shapleyd: its status does not name a ledger; name the file");
  return file;
}

}  // namespace shapley::ctl
