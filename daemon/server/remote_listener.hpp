// Questions from other hosts: passed on to this shapleyd's own socket, on behalf of the user whom munge names, and the
// answers back, both sealed by munge (remote/sealed.hpp).
//
// Anybody of the cluster may ask what readers may ask on this host, with the same rights and limits; root and
// slurm_user also `follow`, with which the other one of two controllers follows. One user's questions
// come over one connection. Whoever connects without a credential learns nothing, and costs a connection for some
// seconds. Each connection has a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <list>
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
#include "remote/sealed.hpp"

namespace shapley::daemon {

class RemoteListener {
 public:
  struct Options {
    config::Endpoint at;
    std::filesystem::path socket;  // this shapleyd's own
    std::filesystem::path munge;   // munged's; empty: where libmunge looks for it
    uid_t slurm_uid = 0;
    std::size_t most_connections = 32;
    std::size_t most_connections_of_a_user = 4;      // of root and slurm_user all
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
  struct Guest {
    std::atomic<bool> gone = false;
    std::optional<uid_t> user = {};  // guarded by mutex_; nullopt: not known yet
    std::thread thread = {};
  };

  RemoteListener(Options options, Descriptor listening, Descriptor wake_up);
  void run();
  void welcome(Descriptor stream);
  void converse(Guest& guest, Descriptor stream);
  [[nodiscard]] Expected<remote::SealedMessage> next_question(Guest& guest, const remote::TimedStream& stream,
                                                              std::chrono::milliseconds patience);
  [[nodiscard]] Expected<void> admit(Guest& guest, uid_t user);
  [[nodiscard]] bool is_administrator(uid_t user) const { return user == 0 || user == options_.slurm_uid; }
  [[nodiscard]] std::string answer_to(const remote::SealedMessage& question,
                                      std::unique_ptr<PeerConnection>& own) const;
  void say_refused(const std::string& why);

  Options options_;
  remote::Munge munge_;
  Descriptor listening_;
  Descriptor wake_up_;
  std::list<Guest> guests_;  // its elements the accepting thread's; the list is guarded by mutex_
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> said_;  // guarded by mutex_
  std::thread thread_;                                         // the last member: it uses the others
};

}  // namespace shapley::daemon
