// When and how the other clusters of the consortium are asked for their statements: each once in `every`, one at a
// time, from a thread of its own, so that neither slurmctld nor the feed waits for another cluster. What comes is read
// and verified there, too.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/types.hpp"
#include "daemon/consortium/consortium.hpp"
#include "daemon/task_thread.hpp"

namespace shapley::daemon {

class ConsortiumLoop {
 public:
  struct Task {
    std::string cluster = {};
    std::string place = {};
    std::shared_ptr<const ledger::PublicKey> key = {};
  };
  struct Hooks {
    // The next cluster to ask; an empty name: none now.
    std::function<Task()> next;
    std::function<void(const std::string& cluster, HeardStatement heard)> received;
  };

  // Everything but the questions themselves runs in the io_context's one thread.
  ConsortiumLoop(boost::asio::io_context& io, std::filesystem::path munge, Hooks hooks);
  ~ConsortiumLoop() { stop(); }

  void start();
  void stop();

 private:
  void wait();
  void ask();
  // In the thread.
  void work(const Task& task);

  boost::asio::io_context& io_;
  std::filesystem::path munge_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  bool open_ = false;
  bool asking_ = false;
  Descriptor wake_up_;       // readable: the question is to end
  TaskThread<Task> thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
