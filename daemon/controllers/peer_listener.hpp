// Where the other controller follows over TCP: it passes questions on to this shapleyd's own socket, and the answers
// back, both sealed by munge (sealed.hpp).
//
// Only root's and slurm_user's questions are passed on, and of those only `follow` and `demote`. Whoever else connects
// learns nothing, and costs one of a few connections for some seconds. Each connection has a thread of its own.
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
#include "daemon/controllers/sealed.hpp"

namespace shapley::daemon {

class PeerListener {
 public:
  struct Options {
    config::Endpoint at;
    std::filesystem::path socket;  // this shapleyd's own
    std::filesystem::path munge;   // munged's; empty: where libmunge looks for it
    uid_t slurm_uid = 0;
    std::size_t most_connections = 4;
    std::chrono::milliseconds first_question{5000};  // so long for a whole one, first of all
    std::chrono::milliseconds next_question{60000};
    std::chrono::milliseconds answer{10000};
  };

  // Listens from now on. Errc::io: the address cannot be had, and why.
  [[nodiscard]] static Expected<std::unique_ptr<PeerListener>> open(Options options);
  // Ends all connections.
  ~PeerListener();
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

 private:
  struct Guest {
    std::atomic<bool> gone = false;
    std::thread thread = {};
  };

  PeerListener(Options options, Descriptor listening, Descriptor wake_up);
  void run();
  void welcome(Descriptor guest);
  void converse(Descriptor guest);
  // The question, if it is one that may be asked.
  [[nodiscard]] Expected<SealedMessage> next_question(const TimedStream& stream,
                                                      std::chrono::milliseconds patience) const;
  [[nodiscard]] std::string answer_to(const std::string& question, std::unique_ptr<PeerConnection>& own) const;
  void say_refused(const std::string& why);

  Options options_;
  Munge munge_;
  Descriptor listening_;
  Descriptor wake_up_;
  std::list<Guest> guests_;  // the accepting thread's
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> said_;  // guarded by mutex_
  std::thread thread_;                                         // the last member: it uses the others
};

}  // namespace shapley::daemon
