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
#include "remote/sealed.hpp"
#include "remote/timed_stream.hpp"

namespace shapley::remote {

class SealedConnection {
 public:
  struct Options {
    config::Endpoint endpoint;
    std::filesystem::path munge;  // munged's socket; empty: where libmunge looks for it
    int wake_up = -1;             // becomes readable when all is to end; -1: nothing does
    std::vector<uid_t> trusted;   // who may be asked, and whose answers count, besides root
    std::string cluster = {};     // ClusterName and ledger's identity that the other one must have; empty: any
    std::string ledger = {};
  };
  // Tries again as long as the other one has no place for us. Errors: Errc::unavailable, it cannot be reached, or runs
  // as a user who is not trusted: then nothing was said to it; the text says why.
  [[nodiscard]] static Expected<SealedConnection> open(const Options& options, TimedStream::Clock::time_point until);

  // After an error the connection is of no more use. Errc::unavailable: there is no answer, or none to this question by
  // the user who greeted; Errc::denied: munge refuses what came.
  [[nodiscard]] Expected<std::string> ask(const std::string& request, TimedStream::Clock::time_point until);

 private:
  SealedConnection(TimedStream stream, Munge munge, uid_t other, Heading heading)
      : stream_(std::move(stream)), munge_(std::move(munge)), other_(other), heading_(std::move(heading)) {}
  [[nodiscard]] static Expected<SealedConnection> connect(const Options& options, TimedStream::Clock::time_point until);
  [[nodiscard]] static Expected<SealedConnection> meet(TimedStream stream, const Options& options,
                                                       TimedStream::Clock::time_point until);

  TimedStream stream_;
  Munge munge_;
  uid_t other_;
  Heading heading_;  // of the last question
};

}  // namespace shapley::remote
