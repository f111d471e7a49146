#include "daemon/controllers/peer_link.hpp"

#include <utility>

#include <sys/eventfd.h>

namespace shapley::daemon {

PeerLink::PeerLink(Peer peer, std::chrono::milliseconds patience)
    : peer_(std::move(peer)),
      patience_(patience),
      wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

PeerLink::~PeerLink() {
  stop();
}

void PeerLink::ask(std::string request, Done done) {
  {
    const std::lock_guard lock(mutex_);
    asked_ = Task{std::move(request), std::move(done)};
  }
  changed_.notify_one();
}

void PeerLink::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (wake_up_.is_open()) ::eventfd_write(wake_up_.get(), 1);
  changed_.notify_one();
  thread_.join();
}

std::optional<PeerLink::Task> PeerLink::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || asked_; });
  if (stopping_) return std::nullopt;
  return std::exchange(asked_, std::nullopt);
}

Expected<std::string> PeerLink::answer(const std::string& request) {
  const auto until = remote::TimedStream::Clock::now() + patience_;
  if (!connection_) {
    SHAPLEY_TRY_ASSIGN(connection_, peer_.socket.empty()
                                        ? connect_by_tcp(peer_.endpoint, peer_.munge, wake_up_.get(), until)
                                        : connect_by_socket(peer_.socket, wake_up_.get(), until));
  }
  auto answered = connection_->ask(request, until);
  if (!answered) connection_.reset();
  return answered;
}

void PeerLink::run() {
  while (auto task = next()) {
    auto answered = answer(task->request);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    task->done(std::move(answered));
  }
}

}  // namespace shapley::daemon
