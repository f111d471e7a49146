// A small slurmctld with the plugin, on a host. They know no time but the wall clock's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "host.hpp"
#include "true_records.hpp"

namespace shapley::daemon {

class Slurmctld {
 public:
  explicit Slurmctld(Host& host, std::string cluster = "box") : host_(&host), cluster_(std::move(cluster)) {
    plugins_[host_];
  }

  void start(std::uint32_t job, const std::string& account, const std::string& node);
  void end(std::uint32_t job);
  void submit(std::uint32_t job, const std::string& account);
  // REQUIRES: the job waits.
  void cancel(std::uint32_t job);
  [[nodiscard]] bool runs(std::uint32_t job) const { return is(job, protocol::JobState::running); }
  [[nodiscard]] bool waits(std::uint32_t job) const { return is(job, protocol::JobState::pending); }
  // It begins a new life, and so does the plugin.
  void restart() { move_to(*host_); }
  // To a shapleyd that has just started.
  void connect_again() { connect(instance_); }
  // It ends, and begins a new life on this host, with the plugin. What the plugin has not sent stays in the spool of
  // the former host.
  void move_to(Host& host);
  [[nodiscard]] Host& host() { return *host_; }

  // Time passes, and everything looks at the clock at its end.
  void pass(std::int64_t seconds);
  // Everything looks at the clock; time has passed.
  void look();
  void set_wall_by(std::int64_t seconds);
  // Everything has long enough to come to rest.
  void settle();

  // REQUIRES: no shapleyd runs. `shapleyctl import --into` takes the true records of all runs. What went wrong; empty:
  // nothing did.
  [[nodiscard]] std::string import_records();

  // The messages that the plugin keeps.
  [[nodiscard]] std::size_t unacknowledged() const { return backlog().size(); }
  // Starts and ends that shapleyd acknowledged on the present host and that its books lack, a sentence each. REQUIRES:
  // no wall clock was ever wrong.
  [[nodiscard]] std::vector<std::string> lost() const;
  // The ledger of the present host is another one from now on.
  void forget_acknowledged(const Host& host) { plugins_[&host].acknowledged.clear(); }

 private:
  struct Acknowledged {
    std::int64_t start = 0;
    std::int64_t end = 0;  // 0: not yet
  };
  // What stays on a host.
  struct Plugin {
    std::deque<FeederFrame> spool;  // not acknowledged
    std::map<std::uint32_t, Acknowledged> acknowledged;
  };

  [[nodiscard]] std::deque<FeederFrame>& backlog() { return plugins_[host_].spool; }
  [[nodiscard]] const std::deque<FeederFrame>& backlog() const { return plugins_.at(host_).spool; }
  [[nodiscard]] bool is(std::uint32_t job, protocol::JobState state) const;
  void connect(std::uint64_t instance);
  // Whether the session has begun; with two controllers it begins when this host's shapleyd writes.
  [[nodiscard]] bool begins_session();
  void scan(bool whole);
  void add(FeederFrame frame);
  // Sends what is not sent, lets shapleyd work, takes the acknowledgements.
  void exchange(bool tick);
  void note_acknowledged(const FeederFrame& frame);
  void purge();

  Host* host_;
  std::string cluster_;
  TrueRecords records_;
  std::map<std::uint32_t, protocol::JobUpdate> jobs_;
  std::map<std::uint32_t, protocol::JobUpdate> seen_;  // as scanned last
  std::uint64_t instance_ = 1;
  std::uint64_t sequence_ = 0;
  std::int64_t last_message_ = 0;
  std::int64_t last_scan_ = 0;
  std::map<const Host*, Plugin> plugins_;
  std::size_t sent_ = 0;              // messages of the backlog
  std::int64_t begun_ = 0;            // when this life of the plugin began
  std::int64_t observed_before_ = 0;  // until when an earlier one on this host observed; 0: not known
  std::int64_t ran_before_ = 0;       // when slurmctld's former life ended
  std::uint64_t snapshot_after_ = 0;  // this message is acknowledged; 0: no snapshot is wanted
  bool snapshot_wanted_ = false;
  bool is_connected_ = false;
  std::uint64_t reading_generation_ = 0;
};

}  // namespace shapley::daemon
