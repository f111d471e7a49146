// A reader's conversation with shapleyd over its Unix socket, or over TCP from another host: questions and answers in
// JSON, one at a time.
//
// Blocking, with one deadline for connect and hello and one for each answer; no threads. Errors: Errc::unavailable when
// the daemon cannot be reached, hangs up or stays silent (the text says where and what to do), Errc::denied or
// Errc::protocol when it refuses or uses another protocol, else the code of the daemon's own error.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "base/error.hpp"
#include "config/values.hpp"

namespace shapley::rpc_client {

// Where shapleyd is: at `hosts` over TCP, the first that answers, or, without any, at `socket`.
struct Endpoint {
  std::filesystem::path socket;
  std::chrono::milliseconds timeout{10'000};
  std::string program = "reader";  // the asker's name and version, for the daemon's log
  std::string otherwise = {};      // what else the user can do when the daemon is away: a part of that error's text
  std::vector<config::Endpoint> hosts = {};
  std::filesystem::path munge = {};  // munged's socket; empty: where libmunge looks for it
  // Users whose answers count, besides root; over the socket, empty: any user who listens there.
  std::vector<uid_t> trusted = {};
  bool trusts_any = false;   // over TCP: as of remote::SealedConnection::Options
  std::string cluster = {};  // ClusterName and identity of the ledger that it must have; empty: any
  std::string ledger = {};
  // The user on whose behalf the daemon's own user asks over the socket, with that user's rights and limits; nullopt:
  // the asker's own.
  std::optional<uid_t> on_behalf_of = {};
  int wake_up = -1;               // becomes readable when everything is to end; -1: no such descriptor
  std::string missing_here = {};  // why TCP is used on a host that should have a socket; empty: it should not

  [[nodiscard]] bool is_remote() const { return !hosts.empty(); }
};

class Client {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // A way to ask: text in, text out. After an error it is unusable.
  class Transport {
   public:
    virtual ~Transport() = default;
    [[nodiscard]] virtual Expected<std::string> ask(const std::string& request, Deadline until) = 0;
  };

  [[nodiscard]] static Expected<Client> connect(const Endpoint& endpoint);

  // Sends one request (docs/reference/protocol.md) and returns its answer.
  [[nodiscard]] Expected<nlohmann::json> ask(const nlohmann::json& request);

 private:
  Client(std::unique_ptr<Transport> transport, std::chrono::milliseconds timeout)
      : transport_(std::move(transport)), timeout_(timeout) {}

  std::unique_ptr<Transport> transport_;
  std::chrono::milliseconds timeout_;
};

// Over the Unix socket, greeted, or over TCP.
[[nodiscard]] Expected<std::unique_ptr<Client::Transport>> connect(const Endpoint& endpoint, Client::Deadline until);

// The text at `place`, HOST:PORT or the absolute path of a file of at most so many bytes: the answer of that host to
// `request`, with the other settings of `endpoint`; or the file's content. Of several HOST:PORT with commas between,
// the first one's that has an answer, all within the endpoint's time. Errc::not_found: there is no such file.
[[nodiscard]] Expected<std::string> fetch(const std::string& place, const nlohmann::json& request, Endpoint endpoint,
                                          std::size_t most_bytes);
// The standing statement at a cluster's place (config::OtherClusterConfig::standing) as text, likewise. Any user may
// answer there: the signature says whose it is.
[[nodiscard]] Expected<std::string> fetch_standing(const std::string& place, Endpoint endpoint, std::size_t most_bytes);

}  // namespace shapley::rpc_client
