// The query scheduler: whose query is answered next, so that no user's questions keep slurmctld or other users waiting.
//
// One query of a user at a time. After one that took t, its user rests for three times t and everybody for t: one user
// takes at most a quarter, all users together at most half of the daemon's one thread, and the feeder has the rest.
// First come, first served among those who may. Pure: time is passed in, sockets are the server's.
#pragma once

#include <chrono>
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
    protocol::Query query;
  };
  // Whether a user may be served now, as far as others than this class know (its last answer was read).
  using MayServe = std::function<bool(std::uint32_t uid)>;

  void add(Waiting waiting) { waiting_.push_back(std::move(waiting)); }
  // The session is gone.
  void forget(const Session& session);

  // Takes the first one that may be served.
  [[nodiscard]] std::optional<Waiting> next(Clock::time_point now, const MayServe& may_serve);
  // When next() will answer somebody, nobody new and nothing else changing; nullopt: not by waiting alone.
  [[nodiscard]] std::optional<Clock::time_point> next_at(const MayServe& may_serve) const;
  // A query of this user was answered.
  void done(std::uint32_t uid, Clock::time_point began, Clock::time_point ended);

 private:
  [[nodiscard]] Clock::time_point rested_at(std::uint32_t uid) const;

  std::deque<Waiting> waiting_;
  std::map<std::uint32_t, Clock::time_point> users_rest_until_;  // of those who rest still
  Clock::time_point all_rest_until_{};
};

}  // namespace shapley::daemon
