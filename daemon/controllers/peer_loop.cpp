#include "daemon/controllers/peer_loop.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>
#include <sys/eventfd.h>

namespace shapley::daemon {

namespace {

// A feeder of the other controller waits about this long for its acknowledgements.
constexpr std::chrono::milliseconds k_between{100};
// An answer that takes longer counts as no answer.
constexpr std::chrono::seconds k_patience{5};

}  // namespace

PeerLoop::PeerLoop(boost::asio::io_context& io, Controllers& controllers, rpc_client::Endpoint peer, Hooks hooks)
    : io_(io),
      controllers_(controllers),
      peer_(std::move(peer)),
      hooks_(std::move(hooks)),
      timer_(io),
      wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_("", [this](const Task& task) { work(task); }) {
  peer_.wake_up = wake_up_.get();
}

void PeerLoop::start() {
  open_ = true;
  poll();
  wait();
}

void PeerLoop::stop() {
  open_ = false;
  timer_.cancel();
  thread_.begin_stop();
  if (wake_up_.is_open()) ::eventfd_write(wake_up_.get(), 1);
  thread_.stop();
}

void PeerLoop::wait() {
  timer_.expires_after(k_between);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !open_) return;
    hooks_.changed();
    poll();
    wait();
  });
}

void PeerLoop::poll() {
  controllers_.poll([this](std::string request, Controllers::Done done) {
    thread_.give({std::move(request), std::move(done)});
  });
}

void PeerLoop::work(const Task& task) {
  auto answer = answer_to(task.request);
  boost::asio::post(io_, [this, done = task.done, answer = std::move(answer)] { on_answer(done, answer); });
}

Expected<std::string> PeerLoop::answer_to(const std::string& request) {
  const auto until = std::chrono::steady_clock::now() + k_patience;
  if (!connection_) {
    SHAPLEY_TRY_ASSIGN(connection_, rpc_client::connect(peer_, until));
  }
  auto answered = connection_->ask(request, until);
  if (!answered) connection_.reset();
  return answered;
}

void PeerLoop::on_answer(const Controllers::Done& done, const Expected<std::string>& answer) {
  if (!open_) return;
  done(answer, hooks_.clock());
  hooks_.changed();
  if (controllers_.has_parted()) {
    hooks_.parted();
  } else if (controllers_.has_more()) {
    poll();
  }
}

}  // namespace shapley::daemon
