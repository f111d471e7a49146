#include "daemon/controllers/peer_loop.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

namespace shapley::daemon {

namespace {

// What the other one recorded less than this before it died may have to come from Slurm's records again.
constexpr std::chrono::milliseconds k_between{200};

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
  const Role before = controllers_.role();
  done(answer, hooks_.clock());
  if (controllers_.role() != before) hooks_.role_changed();
  if (controllers_.parting()) {
    hooks_.parted();
  } else if (controllers_.has_more()) {
    poll();
  }
}

}  // namespace shapley::daemon
