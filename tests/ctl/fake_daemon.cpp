#include "fake_daemon.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/codec.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::ctl {

FakeDaemon::FakeDaemon(std::filesystem::path socket, Script script)
    : socket_(std::move(socket)), script_(std::move(script)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, 4) != 0 || ::pipe(stop_) != 0) {
    throw std::runtime_error("fake daemon: cannot listen at " + socket_.string());
  }
  thread_ = std::thread([this] { serve(); });
}

FakeDaemon::~FakeDaemon() {
  ::close(stop_[1]);
  const test::Deadline deadline("the fake daemon's thread");
  thread_.join();
  ::close(listener_);
  ::close(stop_[0]);
}

FakeDaemon::Script FakeDaemon::welcoming(std::function<nlohmann::json(const nlohmann::json&)> reply) {
  return [reply = std::move(reply)](const protocol::Message& message) -> Reaction {
    if (std::holds_alternative<protocol::Hello>(message)) return {.answer = protocol::Welcome{}};
    const auto* query = std::get_if<protocol::Query>(&message);
    if (query == nullptr) return {.hang_up = true};
    return {.answer = protocol::Reply{.id = query->id, .json = reply(nlohmann::json::parse(query->json)).dump()}};
  };
}

void FakeDaemon::serve() {
  while (true) {
    std::array<pollfd, 2> fds{pollfd{listener_, POLLIN, 0}, pollfd{stop_[0], POLLIN, 0}};
    ::poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    const int descriptor = ::accept(listener_, nullptr, nullptr);
    if (descriptor < 0) continue;
    converse(descriptor);
    ::close(descriptor);
  }
}

void FakeDaemon::converse(int descriptor) {
  protocol::FrameReader frames;
  while (true) {
    std::array<pollfd, 2> fds{pollfd{descriptor, POLLIN, 0}, pollfd{stop_[0], POLLIN, 0}};
    ::poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    std::array<char, 4096> buffer{};
    const ssize_t n = ::recv(descriptor, buffer.data(), buffer.size(), 0);
    if (n <= 0) return;
    frames.feed({buffer.data(), static_cast<std::size_t>(n)});
    while (auto body = frames.next().value_or(std::nullopt)) {
      const auto message = protocol::decode_body(*body);
      const Reaction reaction = message ? script_(*message) : Reaction{.hang_up = true};
      if (reaction.hang_up) return;
      if (!reaction.answer) continue;
      const std::string frame = protocol::encode_frame(*reaction.answer);
      // Byte by byte for short frames: the client must put frames together itself.
      const std::size_t step = frame.size() < 64 ? 1 : frame.size();
      for (std::size_t i = 0; i < frame.size(); i += step) {
        if (::send(descriptor, frame.data() + i, std::min(step, frame.size() - i), MSG_NOSIGNAL) < 0) return;
      }
    }
  }
}

}  // namespace shapley::ctl
