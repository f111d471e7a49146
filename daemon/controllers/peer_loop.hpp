// Asks the other controller several times a second, and without a pause while there are more events to take over
// (asking_loop.hpp). The connection is kept from one question to the next, and opened again after an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/asking_loop.hpp"
#include "daemon/controllers/controllers.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

class PeerLoop {
 public:
  struct Hooks {
    std::function<Instant()> clock;
    std::function<void()> changed;  // called several times a second: more messages may be acknowledged to a feeder
    std::function<void()> parted;   // the last thing that it does
  };

  // `peer`: the address of the other controller. `controllers` must outlive it.
  PeerLoop(boost::asio::io_context& io, Controllers& controllers, rpc_client::Endpoint peer, Hooks hooks);

  void start() { loop_.start(); }
  void stop() { loop_.stop(); }

 private:
  struct Question {
    std::string request;
    Controllers::Done done;
  };
  [[nodiscard]] std::optional<Question> next();
  // In the thread.
  [[nodiscard]] Expected<std::string> answer_to(const std::string& request, int wake_up);
  bool on_answer(const Controllers::Done& done, const Expected<std::string>& answer);

  Controllers& controllers_;
  rpc_client::Endpoint peer_;  // the thread's, and the next member, too
  std::unique_ptr<rpc_client::Client::Transport> connection_;
  Hooks hooks_;
  AskingLoop<Question, Expected<std::string>> loop_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
