// A small slurmctld with the plugin, on a host. They know no time but the wall clock's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "host.hpp"
#include "tests/daemon/clock/true_records.hpp"

namespace shapley::daemon {

class Slurmctld {
 public:
  explicit Slurmctld(Host& host) : host_(host) {}

  void start(std::uint32_t job, const std::string& account, const std::string& node);
  void end(std::uint32_t job);
  void submit(std::uint32_t job, const std::string& account);
  [[nodiscard]] bool runs(std::uint32_t job) const;
  // It begins a new life, and so does the plugin.
  void restart() { connect(instance_ + 1); }
  // To a shapleyd that has just started.
  void connect_again() { connect(instance_); }

  // Time passes, and everything looks at the clock at its end.
  void pass(std::int64_t seconds);
  void set_wall_by(std::int64_t seconds);
  // Everything has long enough to come to rest.
  void settle();

  // REQUIRES: no shapleyd runs. `shapleyctl import --into` takes the true records of all runs.
  void import_records();

  // The messages that the plugin keeps.
  [[nodiscard]] std::size_t unacknowledged() const { return backlog_.size(); }

 private:
  void connect(std::uint64_t instance);
  void scan(bool whole);
  void add(FeederFrame frame);
  // Sends what is not sent, lets shapleyd work, takes the acknowledgements.
  void exchange(bool tick);
  void purge();

  Host& host_;
  TrueRecords records_;
  std::map<std::uint32_t, protocol::JobUpdate> jobs_;
  std::map<std::uint32_t, protocol::JobUpdate> seen_;  // as scanned last
  std::uint64_t instance_ = 1;
  std::uint64_t sequence_ = 0;
  std::deque<FeederFrame> backlog_;   // not acknowledged
  std::size_t sent_ = 0;              // of those
  std::uint64_t snapshot_after_ = 0;  // this message is acknowledged; 0: no snapshot is wanted
  bool snapshot_wanted_ = false;
  std::uint64_t reading_generation_ = 0;
};

}  // namespace shapley::daemon
