// A Unix socket that anybody on the machine may connect to, and who does.
#pragma once

#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/error.hpp"
#include "daemon/server/session.hpp"

namespace shapley::daemon {

// Binds `path`, mode 0666 (server.hpp says why), and listens. A socket file that nobody listens on is replaced. Errors,
// which leave no file of ours behind: Errc::conflict, somebody listens there; Errc::io, Errc::invalid_argument, the
// path cannot be used.
[[nodiscard]] Expected<void> listen_on(const std::string& path, boost::asio::io_context& io,
                                       boost::asio::local::stream_protocol::acceptor& acceptor);

// No process that the daemon starts inherits it: Boost.Asio does not ask for that by itself.
void close_on_exec(int descriptor);

// Whose connection it is; it is closed on exec from now on.
[[nodiscard]] Expected<Peer> peer_of(Session::Socket& socket);

// Errc::protocol when the peer speaks another version.
[[nodiscard]] Expected<void> check_version(const protocol::Hello& hello);

}  // namespace shapley::daemon
