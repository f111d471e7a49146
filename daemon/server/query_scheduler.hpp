// The query scheduler: chooses the next query, so that no user's questions keep slurmctld or other users waiting.
//
// One query of a user at a time. After one that took t, its user rests for three times t and all users for t: one user
// takes at most a quarter, all users together at most half of the daemon's one thread, and the rest is for the feeder.
// Administrators rest for t only, and go first, but no two of them in a row while a user waits. Otherwise first come,
// first served. Pure: time is passed in, and sockets belong to the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "daemon/requests/queries.hpp"
#include "daemon/requests/reading_thread.hpp"
#include "ledger/store/ledger.hpp"

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
    std::uint64_t id = 0;  // of the query, which its reply repeats
    ParsedRequest request = {};
  };
  // Whether the query may be answered now, by conditions outside of this class (its user's last answer was read).
  using MayServe = std::function<bool(const Waiting& waiting)>;

  void add(Waiting waiting) { waiting_.push_back(std::move(waiting)); }
  // The session is gone. Returns how many of its queries waited.
  std::size_t forget(const Session& session);
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  // Takes the first query that may be answered.
  [[nodiscard]] std::optional<Waiting> next(Clock::time_point now, const MayServe& may_serve);
  // When next() will return a query, if no new one comes and nothing else changes; nullopt: not by waiting alone.
  [[nodiscard]] std::optional<Clock::time_point> next_at(const MayServe& may_serve) const;
  // Reports that a query that was taken is answered.
  void done(const Waiting& taken, Clock::time_point began, Clock::time_point ended);

 private:
  [[nodiscard]] Clock::time_point rested_at(const Waiting& waiting) const;

  std::deque<Waiting> waiting_;
  std::map<std::uint32_t, Clock::time_point> users_rest_until_;  // of users that are still resting
  Clock::time_point all_rest_until_{};
  bool administrator_was_last_ = false;
};

// Readers' queries outside of the serving thread: chooses the next one, and has a thread that answers it.
//
// One is answered at a time. There are two such lanes (Lane of queries.hpp), each with a scheduler and a thread of its
// own, so that a report on months of the ledger delays neither a user's list of jobs nor the other controller.
// Everything except the questions themselves runs in the io_context's one thread.
class ReadingLane {
 public:
  struct Hooks {
    QueryScheduler::MayServe may_serve;
    // Returns a function that answers the query, or the answer itself (a refusal).
    std::function<Answer(const QueryScheduler::Waiting& taken)> prepare;
    std::function<ledger::QueryBudget(const QueryScheduler::Waiting& taken)> budget;
    // Called when the query is answered and its session still exists.
    std::function<void(const QueryScheduler::Waiting& taken, std::string text)> reply;
    // Called when other queries may be answered.
    std::function<void()> done;
  };

  ReadingLane(boost::asio::io_context& io, std::filesystem::path ledger, Hooks hooks);

  void add(QueryScheduler::Waiting waiting) { scheduler_.add(std::move(waiting)); }
  // The session is gone; an answer under way for it ends soon. Returns how many of its queries were dropped.
  std::size_t forget(const Session& session);
  // Sets the timer for the next one.
  void schedule();
  // Ends the query under way, and the thread.
  void stop();

  [[nodiscard]] std::size_t waiting() const { return scheduler_.waiting(); }
  [[nodiscard]] bool is_reading() const { return reading_.has_value(); }

 private:
  struct Reading {
    QueryScheduler::Waiting query;  // its session is null once that has gone
    QueryScheduler::Clock::time_point began;
  };
  void take_next();
  void finish(std::string text);

  boost::asio::io_context& io_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  QueryScheduler scheduler_;
  std::optional<Reading> reading_;
  bool open_ = true;
  ReadingThread thread_;  // the last member: it is destroyed first
};

}  // namespace shapley::daemon
