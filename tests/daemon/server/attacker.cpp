// A hostile user of shapleyd's socket: attacker UID SOCKET ATTACK [NUMBER]. Gives up root for UID, attacks, and says in
// one line what came of it. Exit code 0: the attack was carried out, whatever came of it.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/codec.hpp"

namespace {

namespace protocol = shapley::protocol;

class Connection {
 public:
  explicit Connection(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    descriptor_ = socket(AF_UNIX, SOCK_STREAM, 0);
    open_ = connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() { close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool open() const { return open_; }
  void send(std::string_view bytes) {
    while (open_ && !bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      open_ = sent > 0;
      if (open_) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void send(const protocol::Message& message) { send(protocol::encode_frame(message)); }
  // nullopt: the daemon closed.
  std::optional<protocol::Message> next() {
    while (true) {
      auto body = reader_.next();
      if (!body) return std::nullopt;
      if (*body) return protocol::decode_body(**body).value();
      std::array<char, 65536> buffer{};
      const ssize_t got = recv(descriptor_, buffer.data(), buffer.size(), 0);
      open_ = got > 0;
      if (!open_) return std::nullopt;
      reader_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    }
  }
  bool greet(protocol::Role role) {
    protocol::Hello hello;
    hello.role = role;
    hello.program = "attacker";
    send(hello);
    const auto answer = next();
    return answer && std::holds_alternative<protocol::Welcome>(*answer);
  }

 private:
  int descriptor_ = -1;
  bool open_ = false;
  protocol::FrameReader reader_;
};

using Connections = std::vector<std::unique_ptr<Connection>>;

std::string path;
std::size_t number = 1;

std::string refusal_after(const protocol::Message& message, protocol::Role role) {
  Connection c(path);
  if (!c.greet(role)) return "refused at once";
  c.send(message);
  while (auto answer = c.next()) {
    if (const auto* refused = std::get_if<protocol::Refused>(&*answer)) return "refused: " + refused->reason;
  }
  return "closed";
}

// Opens connections until the daemon takes no more, and says how many it took.
std::string crowd() {
  Connections held;
  std::size_t welcomed = 0;
  for (std::size_t i = 0; i < number; ++i) {
    held.push_back(std::make_unique<Connection>(path));
    if (held.back()->open() && held.back()->greet(protocol::Role::reader)) ++welcomed;
  }
  return std::to_string(welcomed) + " welcomed";
}

// Half a greeting each, then silence.
std::string half_open() {
  Connections held;
  const std::string hello = protocol::encode_frame(protocol::Hello{});
  for (std::size_t i = 0; i < number; ++i) {
    held.push_back(std::make_unique<Connection>(path));
    held.back()->send(std::string_view(hello).substr(0, hello.size() / 2));
  }
  std::size_t closed = 0;
  for (const auto& c : held) {
    while (c->next()) continue;
    ++closed;
  }
  return std::to_string(closed) + " closed";
}

// A byte of a query now and then, never a whole one.
std::string one_byte_at_a_time() {
  Connection c(path);
  if (!c.greet(protocol::Role::reader)) return "refused";
  const std::string query = protocol::encode_frame(protocol::Query{1, std::string(60'000, ' ')});
  for (std::size_t i = 0; i + 1 < query.size() && c.open(); ++i) {
    c.send(std::string_view(query).substr(i, 1));
    pollfd closed{c.descriptor(), POLLIN, 0};
    if (poll(&closed, 1, 20) > 0) return "closed";
  }
  return c.open() ? "all bytes taken" : "closed";
}

// Expensive questions over many connections, read and asked again, until standard input ends. Says when it has begun
// and when the first answer is there.
std::string flood() {
  Connections held;
  for (std::size_t i = 0; i < number; ++i) {
    held.push_back(std::make_unique<Connection>(path));
    if (!held.back()->greet(protocol::Role::reader)) held.pop_back();
  }
  const protocol::Query question{1, R"({"request":"jobs","all":true,"since":0})"};
  std::vector<pollfd> watched{{STDIN_FILENO, POLLIN, 0}};
  for (const auto& c : held) {
    for (int i = 0; i < 20; ++i) c->send(question);
    watched.push_back({c->descriptor(), POLLIN, 0});
  }
  std::puts("flooding");
  std::fflush(stdout);
  std::size_t answers = 0;
  while (poll(watched.data(), watched.size(), -1) > 0 && watched[0].revents == 0) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (watched[i + 1].revents == 0 || !held[i]->next()) continue;
      held[i]->send(question);
      if (answers++ > 0) continue;
      std::puts("first answer");
      std::fflush(stdout);
    }
  }
  return std::to_string(answers) + " answers";
}

// Asks and never takes an answer.
std::string deaf() {
  Connection c(path);
  if (!c.greet(protocol::Role::reader)) return "refused";
  const std::string query = protocol::encode_frame(protocol::Query{1, R"({"request":"status"})"});
  while (c.open()) c.send(query);
  return "dropped";
}

// JSON nested as deep as the frame holds, where the daemon would quote it back.
std::string deep() {
  Connection c(path);
  if (!c.greet(protocol::Role::reader)) return "refused";
  constexpr std::size_t k_depth = 32'000;
  c.send(protocol::Query{
      1, R"({"request":"status","contribution":)" + std::string(k_depth, '[') + std::string(k_depth, ']') + '}'});
  const auto answer = c.next();
  const auto* reply = answer ? std::get_if<protocol::Reply>(&*answer) : nullptr;
  return reply != nullptr ? reply->json : "closed";
}

// A length that the frame never has.
std::string huge() {
  Connection c(path);
  if (!c.greet(protocol::Role::reader)) return "refused";
  c.send(std::string("\x7f\xff\xff\xff\x09", 5));
  while (c.next()) continue;
  return "closed";
}

std::string ask_once() {
  Connection c(path);
  if (!c.greet(protocol::Role::reader)) return "refused";
  c.send(protocol::Query{1, R"({"request":"ping"})"});
  const auto answer = c.next();
  const auto* reply = answer ? std::get_if<protocol::Reply>(&*answer) : nullptr;
  return reply != nullptr ? reply->json : "closed";
}

bool become(const char* uid) {
  const pid_t parent = getppid();
  const auto id = static_cast<uid_t>(std::strtoul(uid, nullptr, 10));
  if (setgroups(0, nullptr) != 0 || setgid(id) != 0 || setuid(id) != 0) return false;
  // A change of user clears two settings. The leak sanitizer looks at its own process, for which it must be dumpable;
  // and a killed test takes its attackers with it.
  return prctl(PR_SET_DUMPABLE, 1) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || !become(argv[1])) return 2;
  path = argv[2];
  if (argc > 4) number = std::strtoul(argv[4], nullptr, 10);
  protocol::Observations forged;
  forged.sequence = 1;
  const std::map<std::string, std::function<std::string()>> attacks{
      {"feed", [&] { return refusal_after(forged, protocol::Role::feeder); }},
      {"feed_as_reader", [&] { return refusal_after(forged, protocol::Role::reader); }},
      {"crowd", crowd},
      {"half_open", half_open},
      {"one_byte_at_a_time", one_byte_at_a_time},
      {"flood", flood},
      {"deaf", deaf},
      {"deep", deep},
      {"huge", huge},
      {"ask_once", ask_once}};
  const auto attack = attacks.find(argv[3]);
  if (attack == attacks.end()) return 2;
  std::puts(attack->second().c_str());
  return 0;
}
