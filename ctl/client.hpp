// A reader's conversation with shapleyd over its Unix socket: hello, then questions and answers in JSON, one at a time.
//
// Blocking, with one deadline for connect and hello and one for each answer; no threads. Errors: Errc::unavailable when
// the daemon cannot be reached, hangs up or stays silent (the text says which socket and what to do), Errc::denied or
// Errc::protocol when it refuses or does not speak our protocol, else the code of the daemon's own error.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "protocol/codec.hpp"

namespace shapley::ctl {

struct Endpoint {
  std::filesystem::path socket;
  std::chrono::milliseconds timeout{10'000};
};

class Client {
 public:
  [[nodiscard]] static Expected<Client> connect(const Endpoint& endpoint);
  Client(Client&& other) noexcept;
  Client& operator=(Client&& other) noexcept;
  ~Client();

  // One request (docs/reference/protocol.md), its answer.
  [[nodiscard]] Expected<nlohmann::json> ask(const nlohmann::json& request);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  Client(int descriptor, Endpoint endpoint);
  [[nodiscard]] Deadline deadline() const;
  [[nodiscard]] Expected<void> open(Deadline until);
  [[nodiscard]] Expected<void> greet(Deadline until);
  [[nodiscard]] Expected<void> await(short events, Deadline until) const;
  [[nodiscard]] Expected<void> send(const protocol::Message& message, Deadline until);
  [[nodiscard]] Expected<protocol::Message> receive(Deadline until);
  [[nodiscard]] tl::unexpected<Error> away(const std::string& cause) const;

  int descriptor_ = -1;
  Endpoint endpoint_;
  protocol::FrameReader frames_;
  std::uint64_t last_id_ = 0;
};

// The ledger file that the daemon keeps, by its own word. Read it on the daemon's host.
[[nodiscard]] Expected<std::filesystem::path> daemon_ledger(const Endpoint& endpoint);

}  // namespace shapley::ctl
