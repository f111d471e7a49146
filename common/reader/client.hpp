// A reader's conversation with shapleyd over its Unix socket, or over TCP from another host: questions and answers in
// JSON, one at a time.
//
// Blocking, with one deadline for connect and hello and one for each answer; no threads. Errors: Errc::unavailable when
// the daemon cannot be reached, hangs up or stays silent (the text says where and what to do), Errc::denied or
// Errc::protocol when it refuses or does not speak our protocol, else the code of the daemon's own error.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "base/error.hpp"
#include "config/endpoint.hpp"

namespace shapley::reader {

// Where shapleyd is: at `hosts` over TCP, the first that answers, or, without any, at `socket`.
struct Endpoint {
  std::filesystem::path socket;
  std::chrono::milliseconds timeout{10'000};
  std::string program = "reader";  // who asks, name and version, for the daemon's log
  std::string otherwise = {};      // what else the user could do when the daemon is away: a part of that error's text
  std::vector<config::Endpoint> hosts = {};
  std::filesystem::path munge = {};  // munged's socket; empty: where libmunge looks for it
  std::vector<uid_t> trusted = {};   // whose answers over TCP count, besides root's
  std::string cluster = {};          // ClusterName that it must have over TCP; empty: any
  std::string missing_here = {};     // why TCP is asked on a host that should have a socket; empty: it should not

  [[nodiscard]] bool is_remote() const { return !hosts.empty(); }
};

class Client {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // One way to ask: text in, text out. After an error it is of no more use.
  class Transport {
   public:
    virtual ~Transport() = default;
    [[nodiscard]] virtual Expected<std::string> ask(const std::string& request, Deadline until) = 0;
  };

  [[nodiscard]] static Expected<Client> connect(const Endpoint& endpoint);

  // One request (docs/reference/protocol.md), its answer.
  [[nodiscard]] Expected<nlohmann::json> ask(const nlohmann::json& request);

 private:
  Client(std::unique_ptr<Transport> transport, std::chrono::milliseconds timeout)
      : transport_(std::move(transport)), timeout_(timeout) {}

  std::unique_ptr<Transport> transport_;
  std::chrono::milliseconds timeout_;
};

// Over the Unix socket, greeted; and over TCP.
[[nodiscard]] Expected<std::unique_ptr<Client::Transport>> connect_by_socket(const Endpoint& endpoint,
                                                                             Client::Deadline until);
[[nodiscard]] Expected<std::unique_ptr<Client::Transport>> connect_by_tcp(const Endpoint& endpoint,
                                                                          Client::Deadline until);

}  // namespace shapley::reader
