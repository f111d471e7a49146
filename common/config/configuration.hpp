// shapleyd's configuration file as structs with defaults. docs/reference/configuration.md explains every key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "base/charge.hpp"
#include "base/error.hpp"
#include "base/mode.hpp"
#include "base/rule_kind.hpp"
#include "config/values.hpp"
#include "game/serving_order.hpp"
#include "workflow/settings.hpp"

namespace shapley::config {

using shapley::Mode;
using shapley::Order;
using shapley::RuleKind;

struct Rule {
  RuleKind kind = RuleKind::account;
  std::string name;
  int line = 0;
  friend bool operator==(const Rule&, const Rule&) = default;
};

// `share` of every node in `nodes` belongs to the organization during [from, until).
struct NodeClaim {
  std::vector<std::string> nodes;  // expanded from bracket notation
  Share share;
  Instant from = k_beginning_of_time;
  Instant until = k_end_of_time;
  int line = 0;
  friend bool operator==(const NodeClaim&, const NodeClaim&) = default;
};

struct OrganizationConfig {
  std::string name;
  std::string title;  // for people; the name if empty
  std::vector<Rule> rules;
  std::vector<NodeClaim> nodes;
  std::int64_t guarantee = game::k_default_guarantee.millionths;  // of its own, else the file's
  workflow::Settings workflows;                                   // of its own, else the file's
  int line = 0;
  friend bool operator==(const OrganizationConfig&, const OrganizationConfig&) = default;
};

// How a run is charged (base/charge.hpp).
using shapley::Charge;
[[nodiscard]] std::string_view name_of(Charge charge);

// A CPU of these nodes is worth so many processors.
struct NodeWeight {
  std::vector<std::string> nodes;  // expanded from bracket notation
  std::int64_t weight = 1;
  std::string expression;  // as written
  friend bool operator==(const NodeWeight&, const NodeWeight&) = default;
};

// Another cluster of the consortium.
struct OtherClusterConfig {
  std::string name;      // its ClusterName
  std::string standing;  // where its statements are: HOST:PORT, or several with commas between; or a file's path
  std::filesystem::path public_key;                  // of the key that signs them
  std::int64_t weight = accounting::k_whole_weight;  // of a processor there, parts per million
  Duration stale_after;  // how long its last statement is extrapolated; 0: the mean residual run time, an hour at least
  std::vector<accounting::NameElsewhere> names;  // of organizations that are called otherwise there; ascending by it
  int line = 0;
  friend bool operator==(const OtherClusterConfig&, const OtherClusterConfig&) = default;
};

struct ConsortiumConfig {
  std::string name;                                  // empty: this cluster is in none
  std::int64_t weight = accounting::k_whole_weight;  // of a processor here, parts per million
  Duration every{60};                                // the interval in which the others are asked
  std::vector<OtherClusterConfig> clusters;          // as the file has them
  friend bool operator==(const ConsortiumConfig&, const ConsortiumConfig&) = default;
};

// How jobs start in hindsight's virtual schedules. unchanged: as the ledger has it; new ones begin with whole jobs.
enum class HindsightJobs : std::uint8_t { unchanged, parts, whole };

struct Configuration {
  std::filesystem::path ledger = "/var/lib/shapley/ledger.db";
  std::filesystem::path socket = "/run/shapley/shapleyd.sock";
  // The other one of two controllers: the path of its socket, or HOST:PORT; empty: no other controller.
  std::string peer;
  std::string listen;                  // HOST:PORT at which this shapleyd serves the other controller; empty: none
  std::filesystem::path munge_socket;  // of munged; empty: where libmunge looks for it
  std::filesystem::path signing_key;   // private key for heads of the ledger; empty: none are signed
  std::string slurm_user = "slurm";    // the only user besides root whose plugin may send records
  accounting::EstimatorId contribution = accounting::k_default_estimator;
  accounting::EstimatorSet off;       // by the key of their name: not kept beside the other estimators
  std::int64_t hindsight_memory = 0;  // bytes that estimators of coalitions may use; 0: as the daemon's cgroup allows
  HindsightJobs hindsight_jobs = HindsightJobs::unchanged;
  accounting::KeyRule rule = accounting::KeyRule::braking;  // horizon: the published one, which looks no time ahead
  std::int64_t guarantee = game::k_default_guarantee.millionths;  // part of what is owned
  accounting::Guests guests = accounting::Guests::last;
  Order order = Order::strict;
  std::uint32_t rank_weight = 10000;  // order weighted
  Mode mode = Mode::priorities;
  Period period = Period::none;
  Duration stale_after{300};
  Charge charge = Charge::dominant;
  std::vector<std::pair<std::string, std::int64_t>> weights{{"cpu", 1}};  // charge weights: TRES name -> weight
  std::vector<NodeWeight> node_weights;                                   // each node once
  workflow::Settings workflows;                                           // the defaults of organizations
  ConsortiumConfig consortium;
  std::vector<OrganizationConfig> organizations;
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// One fault of a file. what: the fault; remedy: what is allowed or what to do.
struct Fault {
  int line = 0;  // 1-based; 0: the file as a whole
  std::string what;
  std::string remedy;
};

struct Loaded {
  Configuration configuration;
  std::string text;  // the file as read
};

// Reads and validates. On failure the faults, all of them, in line order; never empty. Never throws.
[[nodiscard]] tl::expected<Loaded, std::vector<Fault>> load(const std::filesystem::path& file);
[[nodiscard]] tl::expected<Configuration, std::vector<Fault>> parse(std::string_view yaml);

// A text that an earlier release may have accepted, as ledgers and running daemons have it. Keys and estimators that
// there are no more (k_former_keys, former_estimators) are no faults; they are read as if they were not there.
struct Recorded {
  Configuration configuration;
  std::vector<std::string> former;  // of each of these, why there is none any more; as the text has them
};
[[nodiscard]] tl::expected<Recorded, std::vector<Fault>> parse_recorded(std::string_view yaml);

// "FILE:LINE: what; remedy" per fault, one a line. Printable: faults quote the file.
[[nodiscard]] std::string format_faults(const std::vector<Fault>& faults, std::string_view file);

// The ownership of every claimed node as events that are effective at `effective` (accounting/events/event.hpp).
[[nodiscard]] std::vector<accounting::OwnershipStated> ownership_statements(const Configuration& configuration,
                                                                            Instant effective);

// The estimators that are kept in the books: all except those that the file turns off and those that are not kept for
// this number of organizations.
[[nodiscard]] accounting::EstimatorSet kept_estimators(const Configuration& configuration);

// The rule of ranks and the rule of charging, as events of `at`.
[[nodiscard]] accounting::RankingDeclared ranking_statement(const Configuration& configuration, Instant at);
[[nodiscard]] accounting::ChargeDeclared charge_statement(const Configuration& configuration, Instant at);
// `last`: what the ledger has; nullptr: nothing. nullopt: that stays.
[[nodiscard]] std::optional<accounting::HindsightDefined> hindsight_statement(const Configuration& configuration,
                                                                              Instant at, bool is_new_ledger,
                                                                              const accounting::HindsightDefined* last);
// The clusters of the consortium, as an event. `keys`: the fingerprints of their public keys, in the configuration's
// order.
[[nodiscard]] accounting::ConsortiumDeclared consortium_statement(const Configuration& configuration,
                                                                  const std::vector<std::string>& keys, Instant at);

// Collects the faults of one file, so that all of them are reported at once.
class FaultList {
 public:
  // Further faults are dropped: a file that is one long mistake must not become a report of gigabytes.
  static constexpr std::size_t k_most = 1000;

  // line: 1-based; 0: the file as a whole.
  void add(int line, std::string what, std::string remedy);
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] bool full() const { return faults_.size() >= k_most; }
  // In line order; within a line in the order found. Leaves the list empty.
  [[nodiscard]] std::vector<Fault> take();

 private:
  std::vector<Fault> faults_;
};

}  // namespace shapley::config
