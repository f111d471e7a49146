#include "daemon/server/listener.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::daemon {

namespace {

using boost::asio::local::stream_protocol;

// Whether somebody listens on the socket file; removes one that a dead daemon left.
Expected<void> make_room(boost::asio::io_context& io, const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return fail(Errc::io, fmt::format("server: open: {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return fail(
        Errc::conflict,
        fmt::format("server: open: {}: is there and is no socket; remove it or configure another `socket`", path));
  }
  stream_protocol::socket probe(io);
  boost::system::error_code error;
  probe.connect(stream_protocol::endpoint(path), error);
  if (!error || error == boost::asio::error::try_again) {
    return fail(
        Errc::conflict,
        fmt::format("server: open: {}: another process listens on it; stop it or configure another `socket`", path));
  }
  if (error != boost::asio::error::connection_refused) {
    return fail(Errc::io, fmt::format("server: open: {}: {}", path, error.message()));
  }
  spdlog::info("server: open: {}: replaced the socket of a daemon that is gone", path);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(Errc::io, fmt::format("server: open: remove {}: {}", path, std::strerror(errno)));
  }
  return {};
}

Expected<void> set_up(const std::string& path, stream_protocol::acceptor& acceptor) {
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) != 0) {
    return fail(Errc::io, fmt::format("server: open: mode of {}: {}", path, std::strerror(errno)));
  }
  boost::system::error_code error;
  acceptor.listen(stream_protocol::acceptor::max_listen_connections, error);
  if (error) return fail(Errc::io, fmt::format("server: listen: {}: {}", path, error.message()));
  return {};
}

}  // namespace

Expected<void> listen_on(const std::string& path, boost::asio::io_context& io, stream_protocol::acceptor& acceptor) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(Errc::invalid_argument, fmt::format("server: open: {}: a socket's path has at most {} bytes", path,
                                                    sizeof(sockaddr_un::sun_path) - 1));
  }
  SHAPLEY_TRY(make_room(io, path));
  boost::system::error_code error;
  acceptor.open(stream_protocol(), error);
  if (!error) close_on_exec(acceptor.native_handle());
  if (!error) acceptor.bind(stream_protocol::endpoint(path), error);
  if (error) return fail(Errc::io, fmt::format("server: open: {}: {}", path, error.message()));
  auto listens = set_up(path, acceptor);
  if (!listens) unlink(path.c_str());
  return listens;
}

void close_on_exec(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

Expected<Peer> peer_of(Session::Socket& socket) {
  close_on_exec(socket.native_handle());
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return fail(Errc::io, fmt::format("server: accept: credentials of the peer: {}", std::strerror(errno)));
  }
  return Peer{credentials.uid, credentials.pid};
}

Expected<void> check_version(const protocol::Hello& hello) {
  if (hello.version == protocol::k_version) return {};
  return fail(Errc::protocol,
              fmt::format("{} speaks protocol version {}, this daemon version {}; install the same release of both",
                          hello.program, hello.version, protocol::k_version));
}

}  // namespace shapley::daemon
