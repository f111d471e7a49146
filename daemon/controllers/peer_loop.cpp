#include "daemon/controllers/peer_loop.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

namespace shapley::daemon {

namespace {

// A feeder of the other one waits about as long for its acknowledgements.
constexpr std::chrono::milliseconds k_between{100};

}  // namespace

PeerLoop::PeerLoop(boost::asio::io_context& io, Controllers& controllers, PeerLink::Peer peer, Hooks hooks)
    : io_(io), controllers_(controllers), hooks_(std::move(hooks)), timer_(io), link_(std::move(peer)) {}

void PeerLoop::start() {
  open_ = true;
  poll();
  wait();
}

void PeerLoop::stop() {
  if (!std::exchange(open_, false)) return;
  timer_.cancel();
  link_.stop();
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
    link_.ask(std::move(request), [this, done = std::move(done)](Expected<std::string> answer) {
      boost::asio::post(io_, [this, done, answer = std::move(answer)] { on_answer(done, answer); });
    });
  });
}

void PeerLoop::on_answer(const Controllers::Done& done, const Expected<std::string>& answer) {
  if (!open_) return;
  done(answer, hooks_.clock());
  hooks_.changed();
  if (controllers_.parting()) {
    hooks_.parted();
  } else if (controllers_.has_more()) {
    poll();
  }
}

}  // namespace shapley::daemon
