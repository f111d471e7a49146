// A daemon for tests of the client: one thread, one connection after the other, scripted answers.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "protocol/messages.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::ctl {

// What the daemon does with a message: an answer, or nothing (it stays silent), or it hangs up.
struct Reaction {
  std::optional<protocol::Message> answer = std::nullopt;
  bool hang_up = false;
};

class FakeDaemon {
 public:
  using Script = std::function<Reaction(const protocol::Message&)>;

  FakeDaemon(std::filesystem::path socket, Script script);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  // Welcomes every client and answers each query with what `reply` makes of its JSON.
  [[nodiscard]] static Script welcoming(std::function<nlohmann::json(const nlohmann::json&)> reply);

 private:
  void serve();
  void converse(int descriptor);

  std::filesystem::path socket_;
  Script script_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};  // a pipe that wakes the thread
  std::thread thread_;
};

}  // namespace shapley::ctl
