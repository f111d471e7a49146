// Questions to the other controller, one at a time, from a thread of their own: however long an answer takes, the feed
// goes on. The connection is kept from one question to the next, and opened anew when it broke.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "config/endpoint.hpp"
#include "daemon/controllers/peer_connection.hpp"
#include "daemon/task_thread.hpp"

namespace shapley::daemon {

class PeerLink {
 public:
  struct Peer {
    std::filesystem::path socket;  // empty: over TCP
    config::Endpoint endpoint;
    std::filesystem::path munge;  // munged's socket, for TCP; empty: where libmunge looks for it
  };
  // Called in the thread. Errc::unavailable: there is no answer; the text says why.
  using Done = std::function<void(Expected<std::string> answer)>;

  // An answer that takes longer is none.
  explicit PeerLink(Peer peer, std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~PeerLink();
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // REQUIRES: the last question is done, and stop() was not called.
  void ask(std::string request, Done done);
  // Ends the question and the thread. Nothing is done afterwards.
  void stop();

 private:
  struct Task {
    std::string request;
    Done done;
  };
  void work(const Task& task);
  [[nodiscard]] Expected<std::string> answer(const std::string& request);

  Peer peer_;
  std::chrono::milliseconds patience_;
  Descriptor wake_up_;                          // readable: the question is to end
  std::unique_ptr<PeerConnection> connection_;  // the thread's
  TaskThread<Task> thread_;                     // the last member: it uses the others
};

}  // namespace shapley::daemon
