// One consortium, several clusters: what other clusters say of its organizations, and which clusters belong to it.
//
// Jobs stay on their cluster, so what coalitions are worth adds up over clusters, v(C) = sum of v_c(C); the Shapley
// value is linear, and so are psi, work got and work given. Every cluster has books of its own and states the
// figures of its rows to the others, whole and never as increments: late events restate the past.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/calendar.hpp"
#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// Parts per million: what a processor of a cluster counts for.
inline constexpr std::int64_t k_whole_weight = 1'000'000;
inline constexpr std::int64_t k_least_weight = 1'000;
inline constexpr std::int64_t k_greatest_weight = 1'000'000'000;

// The figures from which an organization's key is computed, at one instant.
struct KeyFigures {
  Utility balance;                     // phi - psi
  CpuTime given_less_got;              // the work behind it
  ProcessorMillionths rate_less_used;  // credited per second from then on, minus what its jobs hold

  KeyFigures& operator+=(const KeyFigures& elsewhere);
  friend bool operator==(const KeyFigures&, const KeyFigures&) = default;
};
constexpr auto description_of(std::type_identity<KeyFigures>) {
  return describe(member("balance", &KeyFigures::balance), member("given_less_got", &KeyFigures::given_less_got),
                  member("rate_less_used", &KeyFigures::rate_less_used));
}

// What a processor of a cluster is worth among those of the consortium.
struct ClusterWeight {
  std::string cluster;
  std::int64_t weight = k_whole_weight;  // parts per million
  friend bool operator==(const ClusterWeight&, const ClusterWeight&) = default;
};
constexpr auto description_of(std::type_identity<ClusterWeight>) {
  return describe("cluster_weight", member("cluster", &ClusterWeight::cluster),
                  member("weight", &ClusterWeight::weight));
}

struct OrganizationElsewhere {
  std::string organization;  // its name on the cluster that states this
  KeyFigures figures;        // from that cluster's own books
  ProcessorMillionths owned;
  ProcessorMillionths used;
  ProcessorMillionths waiting;
  // Of the work behind `figures`: what was agreed on and no run did (WorkSettled), on each side.
  CpuTime settled_given = {};
  CpuTime settled_got = {};
  friend bool operator==(const OrganizationElsewhere&, const OrganizationElsewhere&) = default;
};
constexpr auto description_of(std::type_identity<OrganizationElsewhere>) {
  return describe("elsewhere", member("organization", &OrganizationElsewhere::organization),
                  flattened(&OrganizationElsewhere::figures), member("owned", &OrganizationElsewhere::owned),
                  member("used", &OrganizationElsewhere::used), member("waiting", &OrganizationElsewhere::waiting),
                  supplement("settled_given", &OrganizationElsewhere::settled_given),
                  supplement("settled_got", &OrganizationElsewhere::settled_got));
}

// The figures of one cluster's books at one instant that other clusters use for their ranks.
struct ClusterFigures {
  std::string consortium;
  std::string ledger;        // the identity of its ledger: 32 hexadecimal digits
  std::int64_t event = 0;    // the number of the last event that counts; 0: none does
  std::string hash;          // of that event: 64 hexadecimal digits
  Instant time;              // of the figures
  std::string contribution;  // the estimator of phi
  Period period = Period::none;
  Instant period_begin;
  std::vector<ClusterWeight> weights;                // in its configuration, its own included; ascending by cluster
  std::vector<OrganizationElsewhere> organizations;  // ascending by name
  // Since when it lost events that it had, by the last such gap of its books (GapCause::events_lost); 0: none.
  Instant lost = {};
  // All its nodes, whole, in processors or in the unit of psi, whichever is more (State::whole_processors): no more
  // work is done in a second. 0: it is not known.
  ProcessorMillionths whole = {};
  friend bool operator==(const ClusterFigures&, const ClusterFigures&) = default;
};
constexpr auto description_of(std::type_identity<ClusterFigures>) {
  return describe("figures", member("consortium", &ClusterFigures::consortium),
                  member("ledger", &ClusterFigures::ledger), member("event", &ClusterFigures::event),
                  member("hash", &ClusterFigures::hash), member("time", &ClusterFigures::time),
                  member("contribution", &ClusterFigures::contribution), member("period", &ClusterFigures::period),
                  member("period_begin", &ClusterFigures::period_begin), member("weights", &ClusterFigures::weights),
                  member("organizations", &ClusterFigures::organizations), supplement("lost", &ClusterFigures::lost),
                  supplement("whole", &ClusterFigures::whole));
}

// The standing statement of another cluster; ranks use it from `at` on until that cluster's next one. It is stored with
// its signature (ledger/consortium/standing.hpp), so that members can check it without the other cluster. The books do
// not depend on it; it is recorded to show what ranks were made from.
struct StandingReceived {
  Instant at;
  std::string cluster;  // its ClusterName
  ClusterFigures figures;
  std::string signature;  // Ed25519: 128 hexadecimal digits
  friend bool operator==(const StandingReceived&, const StandingReceived&) = default;
};
constexpr auto description_of(std::type_identity<StandingReceived>) {
  return describe("standing_received", member<Role::identity_and_time>("at", &StandingReceived::at),
                  member<Role::identity>("cluster", &StandingReceived::cluster), flattened(&StandingReceived::figures),
                  member("signature", &StandingReceived::signature))
      .kept("standing");
}

// The ledger of another cluster was begun again, or goes on from an earlier event (it was restored from a copy): its
// statements are of another line of events than before. shapleyd records it without a reason when it finds it, and
// from then on no statement of that cluster is taken. An administrator who accepts the line gives a reason; then ranks
// use only statements that were recorded at `at` or later.
struct LedgerReplaced {
  Instant at;
  std::string cluster;        // its ClusterName
  std::string former_ledger;  // the ledger and the number of the last event that were stated before
  std::int64_t former_event = 0;
  std::string ledger;  // those of the other line, with the event's hash
  std::int64_t event = 0;
  std::string hash;
  std::string author;  // "shapleyd", or as the kernel reports: "uid 0 (root)"
  std::string reason;  // empty: it was found, and is not accepted
  friend bool operator==(const LedgerReplaced&, const LedgerReplaced&) = default;
};
constexpr auto description_of(std::type_identity<LedgerReplaced>) {
  return describe("ledger_replaced", member<Role::identity_and_time>("at", &LedgerReplaced::at),
                  member<Role::identity>("cluster", &LedgerReplaced::cluster),
                  member("former_ledger", &LedgerReplaced::former_ledger),
                  member("former_event", &LedgerReplaced::former_event), member("ledger", &LedgerReplaced::ledger),
                  member("event", &LedgerReplaced::event), member("hash", &LedgerReplaced::hash),
                  member("author", &LedgerReplaced::author), member("reason", &LedgerReplaced::reason))
      .kept("replaced");
}

// An organization that has another name on the other cluster.
struct NameElsewhere {
  std::string here;
  std::string there;
  friend bool operator==(const NameElsewhere&, const NameElsewhere&) = default;
};
constexpr auto description_of(std::type_identity<NameElsewhere>) {
  return describe("name", member("here", &NameElsewhere::here), member("there", &NameElsewhere::there));
}

// What earlier weights make of an organization's figures on another cluster: what they counted when the weight changed,
// less what the same figures count by the weight of now; in processors of this cluster.
struct EarlierFigures {
  std::string organization;  // its name there
  Utility balance;           // at the instant of the declaration; it goes on growing by given_less_got
  CpuTime given_less_got;
  friend bool operator==(const EarlierFigures&, const EarlierFigures&) = default;
};
constexpr auto description_of(std::type_identity<EarlierFigures>) {
  return describe("earlier", member("organization", &EarlierFigures::organization),
                  member("balance", &EarlierFigures::balance),
                  member("given_less_got", &EarlierFigures::given_less_got));
}

struct OtherCluster {
  std::string cluster;                       // its ClusterName
  std::int64_t weight = k_whole_weight;      // of a processor there; parts per million
  std::int64_t stale_after = 0;              // seconds; 0: the mean residual run time here, an hour at least
  std::string key;                           // fingerprint of the key that signs its statements
  std::vector<NameElsewhere> names;          // ascending by `there`, each once; others have one name everywhere
  std::vector<EarlierFigures> earlier = {};  // ascending by organization; of the present period
  friend bool operator==(const OtherCluster&, const OtherCluster&) = default;
};
constexpr auto description_of(std::type_identity<OtherCluster>) {
  return describe("other_cluster", member("cluster", &OtherCluster::cluster), member("weight", &OtherCluster::weight),
                  member("stale_after", &OtherCluster::stale_after), member("key", &OtherCluster::key),
                  member("names", &OtherCluster::names), supplement("earlier", &OtherCluster::earlier));
}

// From `at` on ranks are made from the sum over this cluster and these others, until the next such event. A cluster
// that is no longer named does not count any more; one that joins counts from its first statement on.
struct ConsortiumDeclared {
  Instant at;
  std::string consortium;                // empty: this cluster is in none, and there are no others
  std::int64_t weight = k_whole_weight;  // of a processor here; parts per million
  std::vector<OtherCluster> clusters;    // ascending by cluster, each once
  friend bool operator==(const ConsortiumDeclared&, const ConsortiumDeclared&) = default;
};
constexpr auto description_of(std::type_identity<ConsortiumDeclared>) {
  return describe("consortium_declared", member<Role::identity_and_time>("at", &ConsortiumDeclared::at),
                  member("consortium", &ConsortiumDeclared::consortium), member("weight", &ConsortiumDeclared::weight),
                  member("clusters", &ConsortiumDeclared::clusters))
      .kept("consortium");
}

}  // namespace shapley::accounting
