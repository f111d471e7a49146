// When and how the other controller is asked: some times a second, and without a pause while there is more to take
// over. Questions go out one at a time from a thread of their own: however long an answer takes, the feed goes on. The
// connection is kept from one question to the next, and opened anew when it broke.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "config/endpoint.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/controllers/peer_connection.hpp"
#include "daemon/task_thread.hpp"

namespace shapley::daemon {

class PeerLoop {
 public:
  struct Peer {
    std::filesystem::path socket;  // empty: over TCP
    config::Endpoint endpoint;
    std::filesystem::path munge;  // munged's socket, for TCP; empty: where libmunge looks for it
  };
  struct Hooks {
    std::function<Instant()> clock;
    std::function<void()> changed;  // some times a second: what is told to a feeder may be another now
    std::function<void()> parted;   // the last thing that it does
  };

  // `controllers` must outlive it; everything but the questions themselves runs in the io_context's one thread.
  PeerLoop(boost::asio::io_context& io, Controllers& controllers, Peer peer, Hooks hooks);
  ~PeerLoop() { stop(); }

  void start();
  void stop();

 private:
  struct Task {
    std::string request;
    Controllers::Done done;
  };
  void wait();
  void poll();
  // In the thread.
  void work(const Task& task);
  [[nodiscard]] Expected<std::string> answer_to(const std::string& request);
  void on_answer(const Controllers::Done& done, const Expected<std::string>& answer);

  boost::asio::io_context& io_;
  Controllers& controllers_;
  Peer peer_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  bool open_ = false;
  Descriptor wake_up_;                          // readable: the question is to end
  std::unique_ptr<PeerConnection> connection_;  // the thread's
  TaskThread<Task> thread_;                     // the last member: it uses the others
};

}  // namespace shapley::daemon
