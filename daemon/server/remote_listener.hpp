// Questions from other hosts: passed on to this shapleyd's own socket, on behalf of the user that munge names, in a
// sealed conversation (remote/sealed.hpp).
//
// Any user of the cluster may ask what readers may ask on this host, with the same rights and limits; root and
// slurm_user may also ask `follow`, by which the other one of two controllers follows. One user's questions come over
// one connection, in a thread of its own; RemotePlaces decides which clients have one. A client without a credential
// learns nothing, and all of them together cost a tenth of a processor at most: once they took more, the listener
// accepts the next one only when the average is down to a tenth.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <sys/types.h>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/process.hpp"
#include "config/values.hpp"
#include "remote/sealed.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

// Decides which clients may hold a connection over TCP, so that neither strangers nor ordinary users keep others out.
// Pure: time is passed in, and sockets belong to the listener.
//
// A client is a stranger until its first question names its user. Strangers, and ordinary users, have a number of
// places each; the remaining ones are root's and slurm_user's, who may also use free places of users. If no place is
// left, the connection of the same kind that has been silent longest gives way, if it has been silent for long enough.
// Connections from one address that come faster than a limit are refused.

class RemotePlaces {
 public:
  using Clock = std::chrono::steady_clock;
  using Number = std::uint64_t;

  struct Limits {
    std::size_t strangers = 12;
    std::size_t strangers_of_an_address = 6;
    std::size_t known = 20;  // ordinary users, root and slurm_user together
    std::size_t users = 12;  // of these ordinary users
    std::size_t of_a_user = 4;
    // The other controller's addresses, for which there are some additional strangers' places.
    std::set<std::string> kept_addresses = {};
    std::size_t kept = 2;
    std::chrono::milliseconds strangers_silence{500};  // silence after which a connection gives way to another one
    std::chrono::milliseconds silence{1000};
    // New connections of one address: so many at once, then so many a second.
    double burst = 40;
    double a_second = 20;
    std::size_t addresses = 1024;  // addresses with a known rate; connections from further ones are refused
  };

  explicit RemotePlaces(Limits limits) : limits_(std::move(limits)) {}

  struct Place {
    Number number = 0;
    std::optional<Number> gives_way;  // the connection that gives way: it must be ended
  };
  // A client connects. Errc::limit: there is no place for it.
  [[nodiscard]] Expected<Place> come(const std::string& address, Clock::time_point now);
  // The client is this user. Returns the number of the connection that gives way for it. Errc::limit: there is no
  // place, and the client loses its place among the strangers.
  [[nodiscard]] Expected<std::optional<Number>> admit(Number number, uid_t user, bool is_administrator,
                                                      Clock::time_point now);
  // An answer to the client begins, or ended, after which it is silent. No effect for a client without a place.
  void begin_answer(Number number);
  void end_answer(Number number, Clock::time_point now);
  void leave(Number number) { holders_.erase(number); }

  [[nodiscard]] std::size_t taken() const { return holders_.size(); }

 private:
  struct Holder {
    std::string address;
    std::optional<uid_t> user = {};
    bool is_administrator = false;
    bool is_answered = false;
    Clock::time_point silent_since;
  };
  struct Rate {
    double left = 0;
    Clock::time_point at;
  };
  [[nodiscard]] bool is_too_fast(const std::string& address, Clock::time_point now);
  template <typename Which>
  [[nodiscard]] std::size_t count(Which which) const;
  template <typename Which>
  [[nodiscard]] std::optional<Number> take_from(Which which, std::chrono::milliseconds silence, Clock::time_point now);

  Limits limits_;
  Number last_ = 0;
  std::map<Number, Holder> holders_;
  std::map<std::string, Rate> rates_;  // of addresses that did not rest long enough for a whole burst
};

class RemoteListener {
 public:
  struct Options {
    config::Endpoint at;
    std::filesystem::path socket;  // this shapleyd's own
    std::filesystem::path munge;   // munged's; empty: where libmunge looks for it
    uid_t slurm_uid = 0;
    std::optional<config::Endpoint> peer = {};  // the other controller; places are kept for it
    RemotePlaces::Limits places = {};
    std::chrono::milliseconds first_question{5000};  // time for the complete first question
    std::chrono::milliseconds next_question{60000};
    std::chrono::milliseconds answer{10000};
    std::chrono::milliseconds report{70000};  // an answer about the past: a little more than its own limit
  };

  // Begins to listen. Errc::io: why the address cannot be used.
  [[nodiscard]] static Expected<std::unique_ptr<RemoteListener>> open(Options options);
  // Ends all connections.
  ~RemoteListener();
  RemoteListener(const RemoteListener&) = delete;
  RemoteListener& operator=(const RemoteListener&) = delete;

 private:
  using Number = RemotePlaces::Number;
  struct Guest {
    int descriptor = -1;  // -1: the client is gone
    std::thread thread = {};
  };

  RemoteListener(Options options, Descriptor listening, Descriptor wake_up);
  void run();
  // Rests after `spent` time of the processor. False: everything is to end.
  [[nodiscard]] bool rest(std::chrono::nanoseconds spent);
  void join_those_who_left();
  [[nodiscard]] Expected<void> welcome(Descriptor stream, const std::string& address);
  void converse(Number number, Descriptor descriptor);
  [[nodiscard]] Expected<void> answer_questions(Number number, const remote::TimedStream& stream);
  [[nodiscard]] Expected<remote::SealedMessage> meet(Number number, remote::SealedGuest& guest);
  void note_silence(Number number, bool is_silent);
  void end(std::optional<Number> number) SHAPLEY_HOLDS(mutex_);
  [[nodiscard]] std::string answer_to(const remote::SealedMessage& question,
                                      std::unique_ptr<rpc_client::Client::Transport>& own) const;
  void say_refused(const std::string& why);

  Options options_;
  remote::Munge munge_;
  Descriptor listening_;
  Descriptor wake_up_;
  Mutex mutex_;
  RemotePlaces places_ SHAPLEY_GUARDED_BY(mutex_);
  std::map<Number, Guest> guests_ SHAPLEY_GUARDED_BY(mutex_);  // a thread joins those that have left
  std::optional<std::chrono::steady_clock::time_point> said_ SHAPLEY_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> strangers_ns_ =
      0;                                   // of processor time since the last rest, until it was known who they are
  std::chrono::nanoseconds allowance_{0};  // of processor time for strangers; the accepting thread's, so is the next
  remote::TimedStream::Clock::time_point allowed_at_{};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
