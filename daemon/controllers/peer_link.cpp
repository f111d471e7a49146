#include "daemon/controllers/peer_link.hpp"

#include <utility>

#include <sys/eventfd.h>

namespace shapley::daemon {

PeerLink::PeerLink(Peer peer, std::chrono::milliseconds patience)
    : peer_(std::move(peer)),
      patience_(patience),
      wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const Task& task) { work(task); }) {}

PeerLink::~PeerLink() {
  stop();
}

void PeerLink::ask(std::string request, Done done) {
  thread_.give({std::move(request), std::move(done)});
}

void PeerLink::stop() {
  thread_.begin_stop();
  if (wake_up_.is_open()) ::eventfd_write(wake_up_.get(), 1);
  thread_.stop();
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

void PeerLink::work(const Task& task) {
  auto answered = answer(task.request);
  if (!thread_.is_stopping()) task.done(std::move(answered));
}

}  // namespace shapley::daemon
