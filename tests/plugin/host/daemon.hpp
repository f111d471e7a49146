// A daemon that the plugin must bear: it answers as shapleyd does, or as nothing should. One thread; each connection
// has the mood that comes next.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::host {

enum class Mood {
  good,           // welcomes, acknowledges, sends ranks and levels that change all the time
  fickle,         // the same, and hangs up after a few messages
  mute,           // accepts and never answers
  stuck,          // welcomes, then reads nothing more
  garbage,        // answers with random bytes
  half_frame,     // begins an answer and closes in the middle
  other_version,  // welcomes in another version of the protocol
  refusing,       // Refused
  early_close,    // closes at once
  wrong_message,  // sends what only a feeder may send
  huge_frame,     // announces four gigabytes
};
inline constexpr int k_moods = 11;

class Daemon {
 public:
  explicit Daemon(std::string path);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // The mood of connections from now on; the current one is closed.
  void set_mood(Mood mood);
  [[nodiscard]] Mood mood() const { return mood_; }
  // The order that ranks stay at from now on (mood good), best first; empty: they change all the time.
  void fix_order(std::vector<std::string> order);
  // The levels that jobs keep from now on (mood good).
  void fix_levels(std::vector<protocol::JobLevel> levels);

  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  // What the plugin has reported on the current connection: jobs by id, as last observed, those gone left out.
  [[nodiscard]] std::map<std::uint32_t, protocol::JobUpdate> jobs() const;
  [[nodiscard]] std::map<std::string, protocol::NodeRecord> nodes() const;
  // What it said last is private; nullopt: nothing yet.
  [[nodiscard]] std::optional<protocol::Privacy> privacy() const;
  [[nodiscard]] bool snapshot_taken() const { return snapshot_taken_; }

 private:
  void run();
  void serve(Descriptor peer);
  void converse(int peer, Mood mood);
  [[nodiscard]] bool over(std::uint64_t epoch) const { return stopping_ || epoch_ != epoch; }
  [[nodiscard]] bool take(int peer, const protocol::Message& message);
  void send_levels(int peer);
  void send_ranks(int peer);
  void misbehave(int peer, Mood mood);

  const std::string path_;
  Descriptor listener_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> epoch_ = 0;  // rises when the current connection is to end
  std::atomic<Mood> mood_ = Mood::good;
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<bool> snapshot_taken_ = false;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, protocol::JobUpdate> jobs_;      // guarded by mutex_
  std::map<std::string, protocol::NodeRecord> nodes_;      // guarded by mutex_
  std::optional<protocol::Privacy> privacy_;               // guarded by mutex_
  std::vector<std::string> order_;                         // guarded by mutex_
  std::optional<std::vector<protocol::JobLevel>> levels_;  // guarded by mutex_
  std::uint64_t generation_ = 0;
  std::thread thread_;
};

}  // namespace shapley::host
