// Asks the other controller several times a second, and without a pause while there are more events to take over. A
// thread of its own sends one question at a time, so that slow answers do not delay the feed. The connection is kept
// from one question to the next, and opened again after an error.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/types.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/task_thread.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

class PeerLoop {
 public:
  struct Hooks {
    std::function<Instant()> clock;
    std::function<void()> changed;  // called several times a second: more messages may be acknowledged to a feeder
    std::function<void()> parted;   // the last thing that it does
  };

  // `peer`: the address of the other controller. `controllers` must outlive it; everything except the questions
  // themselves runs in the one thread of the io_context.
  PeerLoop(boost::asio::io_context& io, Controllers& controllers, rpc_client::Endpoint peer, Hooks hooks);
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
  rpc_client::Endpoint peer_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  bool open_ = false;
  Descriptor wake_up_;                                         // readable: the question has to end
  std::unique_ptr<rpc_client::Client::Transport> connection_;  // the thread's
  TaskThread<Task> thread_;                                    // the last member: it uses the others
};

}  // namespace shapley::daemon
