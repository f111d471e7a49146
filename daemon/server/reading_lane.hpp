// Readers' queries that are not answered in the serving thread: whose is next, and the thread that answers it.
//
// One is answered at a time. There are two such lanes (Lane of queries.hpp), each with a scheduler and a thread of its
// own, so that a report on months of the ledger keeps nobody's list of jobs waiting, nor the other controller. All but
// the questions themselves runs in the io_context's one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "daemon/requests/queries.hpp"
#include "daemon/requests/reading_thread.hpp"
#include "daemon/server/query_scheduler.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

class ReadingLane {
 public:
  struct Hooks {
    QueryScheduler::MayServe may_serve;
    // What answers the query, or the answer at once (it is refused).
    std::function<Answer(const QueryScheduler::Waiting& taken)> prepare;
    std::function<ledger::QueryBudget(const QueryScheduler::Waiting& taken)> budget;
    // The query is answered, and its session there still.
    std::function<void(const QueryScheduler::Waiting& taken, std::string text)> reply;
    // Others may be answered now.
    std::function<void()> done;
  };

  ReadingLane(boost::asio::io_context& io, std::filesystem::path ledger, Hooks hooks);

  void add(QueryScheduler::Waiting waiting) { scheduler_.add(std::move(waiting)); }
  // The session is gone; what is answered for it ends soon. How many queries of it were dropped.
  std::size_t forget(const Session& session);
  // Sets the timer for the next one.
  void schedule();
  // Ends the question that is being answered, and the thread.
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
  ReadingThread thread_;  // the last member: it ends first
};

}  // namespace shapley::daemon
