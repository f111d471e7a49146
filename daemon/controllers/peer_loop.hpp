// When the other controller is asked: some times a second, and without a pause while there is more to take over.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/controllers/controllers.hpp"
#include "daemon/controllers/peer_link.hpp"

namespace shapley::daemon {

class PeerLoop {
 public:
  struct Hooks {
    std::function<Instant()> clock;
    std::function<void()> changed;  // some times a second: what is told to a feeder may be another now
    std::function<void()> parted;   // the last thing that it does
  };

  // `controllers` must outlive it; everything but the questions themselves runs in the io_context's one thread.
  PeerLoop(boost::asio::io_context& io, Controllers& controllers, PeerLink::Peer peer, Hooks hooks);

  void start();
  void stop();

 private:
  void wait();
  void poll();
  void on_answer(const Controllers::Done& done, const Expected<std::string>& answer);

  boost::asio::io_context& io_;
  Controllers& controllers_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  bool open_ = false;
  PeerLink link_;  // the last member: it ends first
};

}  // namespace shapley::daemon
