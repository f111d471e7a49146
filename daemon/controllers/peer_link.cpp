#include "daemon/controllers/peer_link.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/version.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> away(const std::string& cause) {
  return fail(Errc::unavailable, "does not answer: " + cause);
}

}  // namespace

// A reader's conversation, blocking, with a deadline for each question.
class PeerLink::Connection {
 public:
  Connection(int descriptor, int wake_up) : descriptor_(descriptor), wake_up_(wake_up) {}

  Expected<void> open(const std::filesystem::path& socket, Clock::time_point until) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = socket.native();
    if (path.size() >= sizeof address.sun_path) return fail(Errc::invalid_argument, path + ": the path is too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    while (::connect(descriptor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      if (errno != EAGAIN && errno != EINTR) return away(std::strerror(errno));
      constexpr std::chrono::milliseconds k_pause{20};
      if (Clock::now() + k_pause >= until) return away("it accepts no connection");
      SHAPLEY_TRY(await(-1, 0, Clock::now() + k_pause, false));
    }
    SHAPLEY_TRY(check_user());
    return greet(until);
  }

  Expected<std::string> ask(const std::string& request, Clock::time_point until) {
    const std::uint64_t id = ++last_id_;
    SHAPLEY_TRY(send(protocol::Query{.id = id, .json = request}, until));
    while (true) {
      SHAPLEY_TRY_ASSIGN(protocol::Message message, receive(until));
      if (auto* reply = std::get_if<protocol::Reply>(&message); reply != nullptr && reply->id == id) {
        return std::move(reply->json);
      }
    }
  }

 private:
  [[nodiscard]] Expected<void> check_user() const {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(descriptor_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
      return away(std::strerror(errno));
    }
    if (peer.uid == 0 || peer.uid == ::geteuid()) return {};
    return away("who listens there has uid " + std::to_string(peer.uid) + ", neither root nor this daemon's user");
  }

  Expected<void> greet(Clock::time_point until) {
    protocol::Hello hello;
    hello.role = protocol::Role::reader;
    hello.program = k_program;
    SHAPLEY_TRY(send(hello, until));
    SHAPLEY_TRY_ASSIGN(const protocol::Message message, receive(until));
    if (const auto* refused = std::get_if<protocol::Refused>(&message)) return away(refused->reason);
    if (std::holds_alternative<protocol::Welcome>(message)) return {};
    return away("it does not greet as shapleyd does");
  }

  // Until the descriptor (-1: none) is ready; `must`: or an error at the deadline.
  [[nodiscard]] Expected<void> await(int descriptor, short events, Clock::time_point until, bool must = true) const {
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return must ? Expected<void>(away("nothing came in time")) : Expected<void>();
      std::array<pollfd, 2> both{pollfd{.fd = wake_up_, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = descriptor, .events = events, .revents = 0}};
      const int ready = ::poll(both.data(), both.size(), static_cast<int>(left));
      if (ready < 0 && errno != EINTR) return away(std::strerror(errno));
      if (ready > 0 && both[0].revents != 0) return away("this daemon ends");
      if (ready > 0) return {};
    }
  }

  Expected<void> send(const protocol::Message& message, Clock::time_point until) {
    const std::string frame = protocol::encode_frame(message);
    std::size_t sent = 0;
    while (sent < frame.size()) {
      const ssize_t n = ::send(descriptor_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN) {
        SHAPLEY_TRY(await(descriptor_.get(), POLLOUT, until));
      } else if (errno != EINTR) {
        return away(std::strerror(errno));
      }
    }
    return {};
  }

  Expected<protocol::Message> receive(Clock::time_point until) {
    constexpr std::size_t k_read_bytes = 64U << 10U;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const std::optional<std::string> body, frames_.next());
      if (body) return protocol::decode_body(*body);
      SHAPLEY_TRY(await(descriptor_.get(), POLLIN, until));
      std::array<char, k_read_bytes> buffer{};
      const ssize_t n = ::recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
      if (n > 0) {
        frames_.feed({buffer.data(), static_cast<std::size_t>(n)});
      } else if (n == 0) {
        return away("it hung up");
      } else if (errno != EAGAIN && errno != EINTR) {
        return away(std::strerror(errno));
      }
    }
  }

  Descriptor descriptor_;
  int wake_up_;
  protocol::FrameReader frames_;
  std::uint64_t last_id_ = 0;
};

PeerLink::PeerLink(std::filesystem::path socket, std::chrono::milliseconds patience)
    : socket_(std::move(socket)),
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
  const auto until = Clock::now() + patience_;
  if (!connection_) {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return away(std::strerror(errno));
    auto connection = std::make_unique<Connection>(descriptor, wake_up_.get());
    SHAPLEY_TRY(connection->open(socket_, until));
    connection_ = std::move(connection);
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
