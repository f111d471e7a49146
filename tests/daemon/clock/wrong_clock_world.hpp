// A host with its clocks, a small slurmctld on it with the plugin, and shapleyd: for tests of what a wrong clock does.
// slurmctld and the plugin know no time but the wall clock's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "daemon/service.hpp"
#include "host_clock.hpp"
#include "tests/daemon/records.hpp"
#include "tests/support/temp_directory.hpp"
#include "true_records.hpp"

namespace shapley::daemon {

class WrongClockWorld {
 public:
  WrongClockWorld();

  // ---- the host ----
  // Time passes, and everything looks at the clock at its end.
  void pass(std::int64_t seconds);
  void set_wall_by(std::int64_t seconds);
  // Everything has long enough to come to rest.
  void settle();

  // ---- slurmctld ----
  void start(std::uint32_t job, const std::string& account, const std::string& node);
  void end(std::uint32_t job);
  void submit(std::uint32_t job, const std::string& account);
  [[nodiscard]] bool runs(std::uint32_t job) const;
  void restart_slurmctld() { connect(++instance_); }

  // ---- shapleyd ----
  void kill() { service.reset(); }
  void restart();
  // A boot of the host, which takes no time here: both daemons are started again.
  void boot();

  // While no shapleyd runs: `shapleyctl import --into` takes the true records of all runs.
  void import_records();

  // Rows of a query on the ledger, columns joined by '|'.
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) const;
  // Runs as the books have them: job, organization, begin and end in true seconds since the world began.
  [[nodiscard]] std::vector<std::string> run_rows() const;
  // Gaps of observation in the ledger, those that follow each other as one: begin and end in true seconds since the
  // world began, and the cause.
  [[nodiscard]] std::vector<std::string> gaps() const;
  [[nodiscard]] nlohmann::json ask(const std::string& request);
  // Messages that the plugin keeps.
  [[nodiscard]] std::size_t unacknowledged() const { return backlog_.size(); }

  HostClock host;
  std::unique_ptr<Service> service;
  const std::int64_t began;

 private:
  void connect(std::uint64_t instance);
  void scan(bool whole);
  void add(FeederFrame frame);
  // Sends what is not sent, lets the service work, takes the acknowledgements.
  void exchange(bool tick);
  void purge();
  [[nodiscard]] Instant now();

  TempDirectory directory_;
  Site site_ = site_in(directory_);
  int boots_ = 0;

  TrueRecords records_;
  std::map<std::uint32_t, protocol::JobUpdate> jobs_;  // slurmctld's
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
