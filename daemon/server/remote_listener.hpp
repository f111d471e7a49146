// Questions from other hosts: passed on to this shapleyd's own socket, on behalf of the user whom munge names, and the
// answers back, in a sealed conversation (remote/sealed.hpp).
//
// Anybody of the cluster may ask what readers may ask on this host, with the same rights and limits; root and
// slurm_user also `follow`, with which the other one of two controllers follows. One user's questions come over one
// connection, in a thread of its own; who may have one: remote_places.hpp. Whoever connects without a credential learns
// nothing, and all of them together cost a tenth of a processor at most: once they took more, the listener accepts the
// next one only when the tenth has caught up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <sys/types.h>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "config/endpoint.hpp"
#include "daemon/controllers/peer_connection.hpp"
#include "daemon/server/remote_places.hpp"
#include "remote/sealed_guest.hpp"

namespace shapley::daemon {

class RemoteListener {
 public:
  struct Options {
    config::Endpoint at;
    std::filesystem::path socket;  // this shapleyd's own
    std::filesystem::path munge;   // munged's; empty: where libmunge looks for it
    uid_t slurm_uid = 0;
    std::optional<config::Endpoint> peer = {};  // the other controller, for whom places are kept
    RemotePlaces::Limits places = {};
    std::chrono::milliseconds first_question{5000};  // so long for a whole one, first of all
    std::chrono::milliseconds next_question{60000};
    std::chrono::milliseconds answer{10000};
    std::chrono::milliseconds report{70000};  // an answer about the past: a little more than its own limit
  };

  // Listens from now on. Errc::io: the address cannot be had, and why.
  [[nodiscard]] static Expected<std::unique_ptr<RemoteListener>> open(Options options);
  // Ends all connections.
  ~RemoteListener();
  RemoteListener(const RemoteListener&) = delete;
  RemoteListener& operator=(const RemoteListener&) = delete;

 private:
  using Number = RemotePlaces::Number;
  struct Guest {
    int descriptor = -1;  // -1: it is gone
    std::thread thread = {};
  };

  RemoteListener(Options options, Descriptor listening, Descriptor wake_up);
  void run();
  // False: all is to end.
  [[nodiscard]] bool rest(std::chrono::nanoseconds spent);
  void join_those_who_left();
  [[nodiscard]] Expected<void> welcome(Descriptor stream, const std::string& address);
  void converse(Number number, Descriptor descriptor);
  [[nodiscard]] Expected<void> answer_questions(Number number, const remote::TimedStream& stream);
  [[nodiscard]] Expected<remote::SealedMessage> meet(Number number, remote::SealedGuest& guest);
  void note_silence(Number number, bool is_silent);
  // REQUIRES: mutex_ is held.
  void end(std::optional<Number> number);
  [[nodiscard]] std::string answer_to(const remote::SealedMessage& question,
                                      std::unique_ptr<PeerConnection>& own) const;
  void say_refused(const std::string& why);

  Options options_;
  remote::Munge munge_;
  Descriptor listening_;
  Descriptor wake_up_;
  std::mutex mutex_;  // of the next three
  RemotePlaces places_;
  std::map<Number, Guest> guests_;  // a thread joins what has left
  std::optional<std::chrono::steady_clock::time_point> said_;
  std::atomic<std::int64_t> strangers_ns_ =
      0;                                   // of processor time since the last rest, until it was known who they are
  std::chrono::nanoseconds allowance_{0};  // of processor time for strangers; the accepting thread's, so is the next
  remote::TimedStream::Clock::time_point allowed_at_{};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
