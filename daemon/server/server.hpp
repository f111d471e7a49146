// The Unix socket: decides who may connect and who may feed, and sends messages to feeders.
//
// The socket's mode is 0666 on purpose. Every right is decided by the peer's kernel-given user id, not by the file: any
// user on the host may ask (the books are for all members), only root and `slurm_user` may feed, and a reader cannot
// change anything. So the file's mode gives no user more than `shapleyctl status`; numbers of connections, sizes of
// frames and queues, and the time spent on queries (query_scheduler.hpp) are bounded, in total and per user. The limits
// with their reasons: docs/operating/security.md.
//
// There is one feeder at a time, because there is one slurmctld. A new feeder replaces the old one, whose connection is
// dead after a restart of slurmctld; a feeder of another cluster, or of a second slurmctld, is refused
// (books/cluster_name.hpp). Everything runs in the io_context's one thread, except for queries that read the ledger:
// they have two lanes (ReadingLane), each with a thread of its own, and their answers come back through the io_context.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/server/query_scheduler.hpp"
#include "daemon/server/session.hpp"
#include "daemon/service.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

class Server final : public SessionOwner {
 public:
  struct Limits {
    std::size_t connections = 256;
    std::size_t connections_per_user = 16;  // of root and slurm_user all, of others each
    Session::Timeouts timeouts = {};
    // Unread answers of all connections: beyond this limit no further query is answered.
    std::size_t unread_bytes = 64U << 20U;
    ledger::QueryBudget query = {.steps = 50'000'000, .rows = 500'000};
    ledger::QueryBudget administrators_query = {.steps = 200'000'000, .rows = 1'000'000};  // of root and slurm_user
  };
  using Clock = std::function<Instant()>;

  // `service` must outlive the server.
  Server(boost::asio::io_context& io, Service& service, Clock clock, Limits limits);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens on the configured socket. Errors: those of Listener::open().
  [[nodiscard]] Expected<void> open();
  // Ends every connection and removes the socket file.
  void close();
  // After a reload: sends the changes to feeders.
  void push();

  [[nodiscard]] Expected<void> on_message(Session& session, protocol::Message message) override;
  [[nodiscard]] bool may_read(const Session& session) const override;
  void on_written_out(Session& session) override;
  void on_closed(Session& session) override;

 private:
  void admit(Session::Socket socket, const Peer& peer);
  [[nodiscard]] bool may_feed(const Peer& peer) const;
  [[nodiscard]] Expected<void> greet(Session& session, const protocol::Hello& hello);
  [[nodiscard]] Expected<void> check_books(const protocol::Hello& hello) const;
  [[nodiscard]] Expected<void> take_author(Session& session, const protocol::Hello& hello) const;
  [[nodiscard]] Expected<void> feed(Session& session, protocol::Message message);
  void take_query(Session& session, const protocol::Query& query);
  [[nodiscard]] bool may_serve(const QueryScheduler::Waiting& waiting) const;
  [[nodiscard]] Answer answer_to(const QueryScheduler::Waiting& taken);
  void schedule_answers();
  void answer_next();
  void reply(const QueryScheduler::Waiting& taken, std::string text);
  [[nodiscard]] ReadingLane::Hooks lane_hooks();
  void install_feeder(Session& session, const protocol::Hello& hello);
  // For two controllers: a feeder gets its Welcome when this one has all events of the other one.
  void hold_feeder(Session& session, const protocol::Hello& hello);
  void admit_held();
  // Replaces the present feeder, if there is one.
  void replace_feeder();
  void process_soon();
  void tick();
  // While an estimator is behind: lets it continue between all other work.
  void catch_up();
  void push_to(Session& session);
  // Sends the answers to orders that are on both hosts, or wait no longer.
  void release_orders();
  bool push_levels_first(Session& session);
  [[nodiscard]] bool worth_logging(std::uint32_t uid);

  boost::asio::io_context& io_;
  Service& service_;
  Clock clock_;
  Limits limits_;
  Listener listener_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer answer_timer_;
  boost::asio::steady_timer catch_up_pause_;
  bool catching_up_ = false;
  QueryScheduler query_scheduler_;      // of queries that are answered in this thread
  protocol::QueryCounts query_counts_;  // since the start; the present ones are counted at each query
  std::set<std::shared_ptr<Session>> sessions_;
  Session* feeder_ = nullptr;
  struct Held {
    Session* session;
    protocol::Hello hello;
  };
  std::optional<Held> held_;  // then there is no feeder_
  // The answer to an order that is booked here, in events up to `head`.
  struct HeldOrder {
    QueryScheduler::Waiting taken;
    std::string text;
    std::int64_t head = 0;
    Session::Clock::time_point since;
  };
  std::vector<HeldOrder> orders_;
  bool process_pending_ = false;
  bool open_ = false;
  std::map<std::uint32_t, Instant> complaints_;  // when a user's refused feeding was last logged
  ReadingLane ledger_lane_;                      // the last members: they end first
  ReadingLane report_lane_;
};

}  // namespace shapley::daemon
