// The whole of shapleyd in one process, by a seed: two clusters of a consortium, of which the first one has a backup
// slurmctld with a shapleyd of its own, and a third one on which nothing fails and which has the same jobs.
//
// Jobs wait, run, end and are cancelled. shapleyd is killed or restarted, hosts lose power at any change of a ledger's
// files, disks fill up, wall clocks are set, slurmctld restarts or moves to the other host, connections between hosts
// are cut. Then everything is repaired, and the books are compared with what really happened:
// - what was acknowledged is in the ledger after every death, with its exact times;
// - every run of the books took place, and what they lack lies in gaps that they name;
// - an import of the true records makes them those of the cluster on which nothing failed, to the unit;
// - both controllers have the same events; every audit is clean, that of the consortium, too.
//
// A seed gives the same life each time. A life has wrong clocks, or a second controller, or neither: which times of two
// hosts whose clocks differ are the true ones, the books cannot know.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "slurmctld.hpp"

namespace shapley::daemon {

class World {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint64_t steps = 60;
    bool is_lying_disk = false;  // syncs do nothing: losses must be found
  };
  explicit World(const Options& options);

  // Lives, is repaired and compared. REQUIRES: called once.
  void live();
  // What is not as it must be, a sentence each.
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }
  // What was done, in order.
  [[nodiscard]] const std::vector<std::string>& steps() const { return steps_; }

 private:
  enum class Kind { plain, wrong_clocks, two_controllers };
  struct Step {
    std::uint64_t weight = 0;
    std::string name;
    std::function<bool()> act;  // false: not possible now
  };

  [[nodiscard]] std::vector<Step> possible_steps();
  void add_steps_of_jobs(std::vector<Step>& steps);
  void add_steps_of_hosts(std::vector<Step>& steps);
  void add_steps_of_controllers(std::vector<Step>& steps);

  void prepare(Host& host, const std::string& name);
  // shapleyd begins there, after a boot if the host lost its power.
  void start(Host& host);
  void die(Host& host);
  void pass(std::int64_t seconds);
  void each_asks();
  void poll(Host& from, Host& to);
  void state_standings();
  // The controller whose ledger parted from the other one's begins again.
  void set_aside_what_parted();
  [[nodiscard]] bool set_clock();
  void live_and_compare();
  void repair();
  void settle();
  void compare();
  void compare_with_truth();
  void compare_after_import();
  void expect_equal(const std::string& what, const std::vector<std::string>& is,
                    const std::vector<std::string>& must_be);
  void audit(Host& host);
  void audit_statements();

  [[nodiscard]] Host& some_host() { return *faulty_[rng_.below(faulty_.size())]; }
  [[nodiscard]] bool has_backup() const { return kind_ == Kind::two_controllers; }
  [[nodiscard]] Slurmctld& of(const Host& host) { return &host == &south_ ? southern_ : northern_; }

  Options options_;
  Rng rng_;
  Kind kind_;
  Host north_, backup_, south_, flawless_;
  Slurmctld northern_{north_, "north"}, southern_{south_, "south"}, truthful_{flawless_, "north"};
  std::vector<Host*> faulty_;
  bool is_peer_cut_ = false;
  bool is_south_cut_ = false;
  std::uint32_t last_job_ = 0;
  std::uint32_t last_southern_job_ = 0;
  std::vector<std::string> steps_;
  std::vector<std::string> wrong_;
};

}  // namespace shapley::daemon
