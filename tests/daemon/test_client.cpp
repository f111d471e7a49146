#include "test_client.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::daemon {

TestClient::TestClient(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval timeout{};
  timeout.tv_sec = k_timeout.count();
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
}

TestClient::~TestClient() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TestClient::send(const protocol::Message& message) {
  send_bytes(protocol::encode_frame(message));
}

bool TestClient::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) ADD_FAILURE() << "the daemon took nothing for " << k_timeout.count() << " s";
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void TestClient::end_writing() const {
  EXPECT_EQ(shutdown(descriptor_, SHUT_WR), 0) << std::strerror(errno);
}

bool TestClient::readable() const {
  constexpr int k_poll_ms = 50;
  return test::eventually([this] {
    pollfd wanted{descriptor_, POLLIN, 0};
    return poll(&wanted, 1, k_poll_ms) == 1;
  });
}

std::optional<protocol::Message> TestClient::next() {
  if (!is_connected()) return std::nullopt;
  while (true) {
    auto body = reader_.next();
    if (!body) return std::nullopt;
    if (*body) {
      auto message = protocol::decode_body(**body);
      EXPECT_TRUE(message.has_value());
      return message ? std::optional(std::move(*message)) : std::nullopt;
    }
    if (!readable()) {
      ADD_FAILURE() << "the daemon said nothing for " << k_timeout.count() << " s";
      return std::nullopt;
    }
    std::array<char, 65536> buffer{};
    const ssize_t got = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) ADD_FAILURE() << "receive: " << std::strerror(errno);
    if (got <= 0) return std::nullopt;
    reader_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
}

std::string TestClient::read_refusal() {
  std::string reason;
  const auto end = std::chrono::steady_clock::now() + k_timeout;
  while (auto message = next()) {
    if (const auto* refused = std::get_if<protocol::Refused>(&*message)) reason = refused->reason;
    if (std::chrono::steady_clock::now() < end) continue;
    ADD_FAILURE() << "the daemon did not close for " << k_timeout.count() << " s";
    break;
  }
  return reason;
}

nlohmann::json TestClient::ask(const std::string& request) {
  send(protocol::Query{++queries_, request});
  const auto reply = expect<protocol::Reply>();
  EXPECT_EQ(reply.id, queries_);
  return nlohmann::json::parse(reply.json, nullptr, false);
}

}  // namespace shapley::daemon
