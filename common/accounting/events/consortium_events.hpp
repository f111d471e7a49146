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
  friend bool operator==(const OrganizationElsewhere&, const OrganizationElsewhere&) = default;
};
constexpr auto description_of(std::type_identity<OrganizationElsewhere>) {
  return describe("elsewhere", member("organization", &OrganizationElsewhere::organization),
                  flattened(&OrganizationElsewhere::figures), member("owned", &OrganizationElsewhere::owned),
                  member("used", &OrganizationElsewhere::used), member("waiting", &OrganizationElsewhere::waiting));
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
  friend bool operator==(const ClusterFigures&, const ClusterFigures&) = default;
};
constexpr auto description_of(std::type_identity<ClusterFigures>) {
  return describe("figures", member("consortium", &ClusterFigures::consortium),
                  member("ledger", &ClusterFigures::ledger), member("event", &ClusterFigures::event),
                  member("hash", &ClusterFigures::hash), member("time", &ClusterFigures::time),
                  member("contribution", &ClusterFigures::contribution), member("period", &ClusterFigures::period),
                  member("period_begin", &ClusterFigures::period_begin), member("weights", &ClusterFigures::weights),
                  member("organizations", &ClusterFigures::organizations));
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

// An organization that has another name on the other cluster.
struct NameElsewhere {
  std::string here;
  std::string there;
  friend bool operator==(const NameElsewhere&, const NameElsewhere&) = default;
};
constexpr auto description_of(std::type_identity<NameElsewhere>) {
  return describe("name", member("here", &NameElsewhere::here), member("there", &NameElsewhere::there));
}

struct OtherCluster {
  std::string cluster;                   // its ClusterName
  std::int64_t weight = k_whole_weight;  // of a processor there; parts per million
  std::int64_t stale_after = 0;          // seconds; 0: the mean residual run time here, an hour at least
  std::string key;                       // fingerprint of the key that signs its statements
  std::vector<NameElsewhere> names;      // ascending by `there`, each once; others have one name everywhere
  friend bool operator==(const OtherCluster&, const OtherCluster&) = default;
};
constexpr auto description_of(std::type_identity<OtherCluster>) {
  return describe("other_cluster", member("cluster", &OtherCluster::cluster), member("weight", &OtherCluster::weight),
                  member("stale_after", &OtherCluster::stale_after), member("key", &OtherCluster::key),
                  member("names", &OtherCluster::names));
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
