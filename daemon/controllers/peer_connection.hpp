// A connection to the other controller's shapleyd, and questions over it, one at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/error.hpp"
#include "config/endpoint.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::daemon {

class PeerConnection {
 public:
  virtual ~PeerConnection() = default;
  // After an error it is of no more use. Errc::unavailable: there is no answer; the text says why.
  [[nodiscard]] virtual Expected<std::string> ask(const std::string& request,
                                                  remote::TimedStream::Clock::time_point until) = 0;
};

// Both below: `wake_up` becomes readable when all is to end.

// Over its socket. The other end must be root or our own user (SO_PEERCRED): whoever else could bind the path would say
// what our books are.
// `asks`: on whose behalf, with his rights and limits; nullopt: ours.
struct RemoteAsker {
  uid_t uid = 0;
  std::string cluster = {};  // ClusterName and identity of the ledger that he means; empty: any
  std::string ledger = {};
};
[[nodiscard]] Expected<std::unique_ptr<PeerConnection>> connect_by_socket(
    const std::filesystem::path& socket, int wake_up, remote::TimedStream::Clock::time_point until,
    const std::optional<RemoteAsker>& asks = std::nullopt);

// Over TCP, sealed by the munged that listens at `munge` (empty: where libmunge looks for it); answers must be sealed
// by root or our own user.
[[nodiscard]] Expected<std::unique_ptr<PeerConnection>> connect_by_tcp(const config::Endpoint& endpoint,
                                                                       const std::filesystem::path& munge, int wake_up,
                                                                       remote::TimedStream::Clock::time_point until);

}  // namespace shapley::daemon
