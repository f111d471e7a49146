// A Unix-socket proxy between the plugin and shapleyd that cuts a connection in the middle of a frame on a signal.
// It forwards bytes as they come and holds at most one read of either side, so a side that stops reading stops the
// other.
//
//   cutting_proxy LISTEN CONNECT ORDERS
//
// SIGUSR1: read one line from the file ORDERS, "feeder PERMILLE" or "daemon PERMILLE": of the next frame that this side
// sends, on any connection, that share of its bytes arrives (at least one, never all), then both ends are closed. Each
// cut is a line on standard output. SIGTERM ends it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

constexpr std::size_t k_length_bytes = 4;  // before each frame, big endian: docs/reference/protocol.md

struct Order {
  std::string side;  // empty: none is due
  std::size_t permille = 0;
};

// One direction of a connection.
struct Stream {
  std::string side;      // who sends
  std::string header;    // the beginning of a frame's length, kept back until it is whole
  std::size_t left = 0;  // bytes of the current frame's body still to come
  std::string pending;   // to be written
  bool cut = false;      // close after `pending`
};

struct Pair {
  std::array<int, 2> fd{-1, -1};  // the plugin's, shapleyd's
  std::array<Stream, 2> stream;   // stream[i] comes from fd[i]
  bool closed = false;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "cutting_proxy: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

int unix_socket(std::string_view path, bool listens) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) die("path too long");
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (!listens) {
    if (::connect(fd, any, sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
  }
  ::unlink(address.sun_path);
  if (::bind(fd, any, sizeof address) != 0 || ::listen(fd, 8) != 0) die("listen");
  return fd;
}

// Moves `bytes` into stream.pending, frame by frame, and cuts when an order is due.
void forward(Stream& stream, std::string_view bytes, Order& order) {
  while (!bytes.empty() && !stream.cut) {
    if (stream.left > 0) {
      const std::size_t taken = std::min(stream.left, bytes.size());
      stream.pending.append(bytes.substr(0, taken));
      stream.left -= taken;
      bytes.remove_prefix(taken);
      continue;
    }
    stream.header.push_back(bytes.front());
    bytes.remove_prefix(1);
    if (stream.header.size() < k_length_bytes) continue;
    for (const char c : stream.header) stream.left = (stream.left << 8U) | static_cast<std::uint8_t>(c);
    stream.pending += stream.header;
    stream.header.clear();
    if (order.side != stream.side) continue;
    // What this read did not bring of the frame is not waited for: the cut then comes a little earlier in it.
    const std::size_t whole = k_length_bytes + stream.left;
    const std::size_t wanted = std::clamp<std::size_t>(whole * order.permille / 1000, 1, whole - 1);
    const std::size_t body = std::min(wanted > k_length_bytes ? wanted - k_length_bytes : 0, bytes.size());
    stream.pending.append(bytes.substr(0, body));
    if (wanted < k_length_bytes) stream.pending.resize(stream.pending.size() - (k_length_bytes - wanted));
    stream.cut = true;
    std::printf("cut %s %zu of %zu bytes\n", stream.side.c_str(), std::min(wanted, k_length_bytes + body), whole);
    std::fflush(stdout);
    order.side.clear();
  }
}

void read_some(Pair& pair, std::size_t from, Order& order) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::recv(pair.fd.at(from), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    pair.closed = true;
    return;
  }
  forward(pair.stream.at(from), std::string_view(bytes.data(), static_cast<std::size_t>(got)), order);
}

void write_some(Pair& pair, std::size_t from) {
  Stream& stream = pair.stream.at(from);
  const ssize_t put =
      ::send(pair.fd.at(1 - from), stream.pending.data(), stream.pending.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put < 0 && errno != EAGAIN && errno != EINTR) pair.closed = true;
  if (put > 0) stream.pending.erase(0, static_cast<std::size_t>(put));
  if (stream.cut && stream.pending.empty()) pair.closed = true;
}

void turn(Pair& pair, const pollfd* polled, Order& order) {
  for (std::size_t from = 0; from < 2 && !pair.closed; ++from) {
    const bool writable = (polled[1 - from].revents & POLLOUT) != 0;
    const bool readable = (polled[from].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    if (writable && !pair.stream.at(from).pending.empty()) write_some(pair, from);
    if (!pair.closed && readable && pair.stream.at(from).pending.empty()) read_some(pair, from, order);
  }
}

void accept_one(int listener, const char* target, std::list<Pair>& pairs) {
  const int feeder = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (feeder < 0) return;
  const int daemon = unix_socket(target, false);
  if (daemon < 0) {
    ::close(feeder);
    return;
  }
  Pair pair;
  pair.fd = {feeder, daemon};
  pair.stream[0].side = "feeder";
  pair.stream[1].side = "daemon";
  pairs.push_back(std::move(pair));
}

// False: time to end.
bool obey(int signals, const char* orders, Order& order) {
  signalfd_siginfo info{};
  if (::read(signals, &info, sizeof info) != sizeof info) return true;
  if (info.ssi_signo != SIGUSR1) return false;
  std::ifstream(orders) >> order.side >> order.permille;
  return true;
}

int serve(int listener, int signals, const char* target, const char* orders) {
  std::list<Pair> pairs;
  Order order;
  while (true) {
    std::vector<pollfd> polled{{listener, POLLIN, 0}, {signals, POLLIN, 0}};
    for (const Pair& pair : pairs) {
      for (std::size_t side = 0; side < 2; ++side) {
        const bool reads = pair.stream.at(side).pending.empty();
        const bool writes = !pair.stream.at(1 - side).pending.empty();
        const auto events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
        // poll reports a hang-up even where nothing was asked; a negative descriptor is passed over.
        polled.push_back({events != 0 ? pair.fd.at(side) : -1, events, 0});
      }
    }
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) die("poll");
    std::size_t i = 2;
    for (Pair& pair : pairs) turn(pair, &polled.at((i += 2) - 2), order);
    pairs.remove_if([](const Pair& pair) {
      if (pair.closed) {
        for (const int fd : pair.fd) ::close(fd);
      }
      return pair.closed;
    });
    if (polled[0].revents != 0) accept_one(listener, target, pairs);
    if (polled[1].revents != 0 && !obey(signals, orders, order)) return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: cutting_proxy LISTEN CONNECT ORDERS\n", stderr);
    return 2;
  }
  sigset_t set{};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (signals < 0) die("signalfd");
  return serve(unix_socket(argv[1], true), signals, argv[2], argv[3]);
}
