#include "daemon/consortium/consortium_loop.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>
#include <sys/eventfd.h>

#include "daemon/version.hpp"
#include "ledger/consortium/standing.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

namespace {

// For all places of a cluster. Twenty clusters of which none answers are asked within the minute.
constexpr std::chrono::milliseconds k_patience{3000};

}  // namespace

ConsortiumLoop::ConsortiumLoop(boost::asio::io_context& io, std::filesystem::path munge, Hooks hooks)
    : io_(io),
      munge_(std::move(munge)),
      hooks_(std::move(hooks)),
      timer_(io),
      wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_("", [this](const Task& task) { work(task); }) {}

void ConsortiumLoop::start() {
  open_ = true;
  ask();
  wait();
}

void ConsortiumLoop::stop() {
  open_ = false;
  timer_.cancel();
  thread_.begin_stop();
  if (wake_up_.is_open()) ::eventfd_write(wake_up_.get(), 1);
  thread_.stop();
}

void ConsortiumLoop::wait() {
  timer_.expires_after(std::chrono::seconds(1));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !open_) return;
    ask();
    wait();
  });
}

void ConsortiumLoop::ask() {
  if (asking_) return;
  Task next = hooks_.next();
  if (next.cluster.empty()) return;
  asking_ = true;
  thread_.give(std::move(next));
}

void ConsortiumLoop::work(const Task& task) {
  HeardStatement heard = read_statement(rpc_client::fetch_standing(task.place,
                                                                   {.socket = {},
                                                                    .timeout = k_patience,
                                                                    .program = std::string(k_program),
                                                                    .munge = munge_,
                                                                    .wake_up = wake_up_.get()},
                                                                   ledger::k_most_statement_bytes),
                                        task.key);
  boost::asio::post(io_, [this, cluster = task.cluster, heard = std::move(heard)]() mutable {
    asking_ = false;
    if (!open_) return;
    hooks_.received(cluster, std::move(heard));
    ask();
  });
}

}  // namespace shapley::daemon
