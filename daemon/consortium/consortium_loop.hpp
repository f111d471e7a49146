// When and how the other clusters of the consortium are asked for their statements: each once in `every`, one at a time
// (asking_loop.hpp). What comes is read and verified in the loop's thread, too.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "daemon/asking_loop.hpp"
#include "daemon/consortium/consortium.hpp"

namespace shapley::daemon {

class ConsortiumLoop {
 public:
  struct Question {
    std::string cluster = {};
    std::string place = {};
    std::shared_ptr<const ledger::PublicKey> key = {};
  };
  struct Hooks {
    std::function<std::optional<Question>()> next;  // nullopt: no cluster is to be asked now
    std::function<void(const std::string& cluster, HeardStatement heard)> received;
  };

  ConsortiumLoop(boost::asio::io_context& io, const std::filesystem::path& munge, const Hooks& hooks);

  void start() { loop_.start(); }
  void stop() { loop_.stop(); }

 private:
  AskingLoop<Question, HeardStatement> loop_;
};

}  // namespace shapley::daemon
