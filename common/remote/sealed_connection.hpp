// A connection over TCP to a shapleyd that has `listen`, and questions over it, one at a time, each sealed by munge
// (sealed.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/error.hpp"
#include "config/endpoint.hpp"
#include "remote/munge.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

class SealedConnection {
 public:
  struct Options {
    config::Endpoint endpoint;
    std::filesystem::path munge;  // munged's socket; empty: where libmunge looks for it
    int wake_up = -1;             // becomes readable when all is to end; -1: nothing does
    std::vector<uid_t> trusted;   // whose answers count, besides root's
  };
  // Errors: Errc::unavailable, it cannot be reached; the text says why.
  [[nodiscard]] static Expected<SealedConnection> open(const Options& options, TimedStream::Clock::time_point until);

  // After an error the connection is of no more use. Errc::unavailable: there is no answer, or it is nobody's who is
  // trusted; Errc::denied: munge refuses what came.
  [[nodiscard]] Expected<std::string> ask(const std::string& request, TimedStream::Clock::time_point until);

 private:
  SealedConnection(TimedStream stream, Munge munge, std::vector<uid_t> trusted)
      : stream_(std::move(stream)), munge_(std::move(munge)), trusted_(std::move(trusted)) {}

  TimedStream stream_;
  Munge munge_;
  std::vector<uid_t> trusted_;
};

}  // namespace shapley::remote
