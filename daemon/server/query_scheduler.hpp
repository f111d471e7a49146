// The query scheduler: whose query is answered next, so that no user's questions keep slurmctld or other users waiting.
//
// One query of a user at a time. After one that took t, its user rests for three times t and everybody for t: one user
// takes at most a quarter, all users together at most half of the daemon's one thread, and the feeder has the rest.
// Administrators rest with everybody only, and go first, but no two of them in a row while a user waits. First come,
// first served among those who may. Pure: time is passed in, sockets are the server's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "protocol/messages.hpp"

namespace shapley::daemon {

class Session;

class QueryScheduler {
 public:
  using Clock = std::chrono::steady_clock;
  // Rests as multiples of the time that the last query took.
  static constexpr int k_user_rest = 3;
  static constexpr int k_common_rest = 1;

  struct Waiting {
    Session* session = nullptr;
    std::uint32_t uid = 0;
    bool administrator = false;
    protocol::Query query;
  };
  // Whether one may be served now, as far as others than this class know (its user's last answer was read).
  using MayServe = std::function<bool(const Waiting& waiting)>;

  void add(Waiting waiting) { waiting_.push_back(std::move(waiting)); }
  // The session is gone. How many queries of it waited.
  std::size_t forget(const Session& session);
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  // Takes the first one that may be served.
  [[nodiscard]] std::optional<Waiting> next(Clock::time_point now, const MayServe& may_serve);
  // When next() will answer somebody, nobody new and nothing else changing; nullopt: not by waiting alone.
  [[nodiscard]] std::optional<Clock::time_point> next_at(const MayServe& may_serve) const;
  // One that was taken is answered.
  void done(const Waiting& taken, Clock::time_point began, Clock::time_point ended);

 private:
  [[nodiscard]] Clock::time_point rested_at(const Waiting& waiting) const;

  std::deque<Waiting> waiting_;
  std::map<std::uint32_t, Clock::time_point> users_rest_until_;  // of those who rest still
  Clock::time_point all_rest_until_{};
  bool administrator_was_last_ = false;
};

}  // namespace shapley::daemon
