// What jobs block and are charged, and what is free on the nodes that they may use, by the records that the scans read.
//
// A waiting job asks, with each of its tasks, for what the daemon books as its demand (request/charging.hpp): the least
// over the kinds of nodes that it may use. Equal requests for the same nodes are kept once, and are measured when they
// are asked for.
//
// A run blocks what Slurm allocated to it on each of its nodes until its record says that it has ended; while it
// completes, too. A suspended one keeps its memory and generic resources, but not its CPUs: Slurm gives them to others.
//
// Memory: 16 to 32 bytes for each job, and some hundred for each different request, each run and each node. Single-
// threaded (the scanning thread). note() and forget() run under slurmctld's read locks and look at no nodes but the
// run's own. What needs all nodes is found, after a change of them, by the first call of another function except
// held(): call those without locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugin/client/requests/node_sets.hpp"
#include "protocol/messages.hpp"
#include "request/charging.hpp"

namespace shapley::client {

using protocol::ChargeRule;
// In millionths of a processor. `charge`: the price, what one task that starts takes from its organization's lead (the
// unit of psi). `blocked`: processors of nodes that no other job can use meanwhile; > 0.
using request::Measure;

// A number for each waiting job: a flat table, at most half full.
class WaitingJobs {
 public:
  // nullptr: not there. Valid until the next insertion or removal.
  [[nodiscard]] const std::uint32_t* find(std::uint32_t job_id) const;
  // REQUIRES: job_id > 0, which is not there.
  void insert(std::uint32_t job_id, std::uint32_t value);
  void erase(std::uint32_t job_id);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t job_id = 0;  // 0: free
    std::uint32_t value = 0;
  };
  void rebuild(std::size_t slots);

  std::vector<Slot> slots_;  // a power of two or none
  std::size_t size_ = 0;
};

class Requests {
 public:
  // A record that is new or changed. `least`: of one that waits, what it needs of one node. `one_user`: its nodes must
  // be, or are, its user's alone.
  void note(const protocol::JobUpdate& job, const request::LeastPart& least = {}, bool one_user = false);
  void note(const protocol::NodeRecord& node, NodeFacts facts = {}) { nodes_.note(node, std::move(facts)); }
  // slurmctld no longer has it.
  void forget(std::uint32_t job_id);
  void forget_node(std::string_view name) { nodes_.forget(name); }
  // The partitions in which nothing may start now: as in NodeSets.
  void note_closed(std::vector<std::string> partitions) { nodes_.note_closed(std::move(partitions)); }
  // What time it is, in seconds of Unix time.
  void note_time(std::int64_t now) { now_ = now; }
  // Forgets all jobs and nodes.
  void clear() noexcept;

  // The daemon's rule; `dominant` without weights until then. What was noted before is charged by it, too, except where
  // the charge is a sum (`weights`, `billing`): of these a record's figures are taken when it is noted, and the daemon
  // asks for all records again when its rule changes. Until then what a job blocks stands for its charge.
  void set_rule(ChargeRule rule);
  // As NodeSets::set_owners.
  void set_owners(std::shared_ptr<const NodeOwners> owners) { nodes_.set_owners(std::move(owners)); }
  [[nodiscard]] const ChargeRule& rule() const { return rule_; }

  static constexpr std::int64_t k_any_room = std::numeric_limits<std::int64_t>::max();
  struct Asked {
    Measure task;  // of one task
    NodeSetId nodes = k_any_node;
    std::int64_t room = k_any_room;  // as in NodeSets
  };
  // What a waiting job asks for; one that is not known: one processor on any node. `time_limit_s`: as in
  // shapley_waiting_t.
  [[nodiscard]] Asked asked(std::uint32_t job_id, std::uint32_t time_limit_s = 0) const;
  // What a job holds that runs or completes; one that is not known: one processor.
  [[nodiscard]] Measure held(std::uint32_t job_id) const;
  // What of a run is on whose nodes, where that is known. Valid until the next call that is not const.
  struct Given {
    std::uint32_t organization = 0;
    Measure part{};
  };
  [[nodiscard]] std::span<const Given> given(std::uint32_t job_id) const;

  // The sets of nodes that waiting jobs may use: as in NodeSets.
  [[nodiscard]] std::size_t node_sets() const { return nodes_.size(); }
  [[nodiscard]] std::int64_t free(NodeSetId set) const { return nodes_.free(set); }
  [[nodiscard]] std::int64_t all(NodeSetId set) const { return nodes_.all(set); }
  [[nodiscard]] NodeSets::Owned owned(std::uint32_t organization) const { return nodes_.owned(organization); }
  [[nodiscard]] bool overlap(NodeSetId a, NodeSetId b) const { return nodes_.overlap(a, b); }
  [[nodiscard]] bool contains(NodeSetId outer, NodeSetId inner) const { return nodes_.contains(outer, inner); }

 private:
  struct AskKey {
    request::Request request;
    request::LeastPart least;
    NodeSetId nodes = k_any_node;
    OnlyUser only = k_any_user;
    friend auto operator<=>(const AskKey&, const AskKey&) = default;
  };
  using Asks = std::map<AskKey, std::uint32_t>;
  // A request that jobs have in common.
  struct Ask {
    Asks::const_iterator key;
    std::uint32_t jobs = 0;
    std::uint64_t rule = 0;  // under which it was noted
    Measure measure = {};
    std::uint64_t epoch = 0;  // NodeSets::kinds_epoch() of `measure`; 0: not measured
    std::int64_t room = 0;
    std::uint64_t room_epoch = 0;  // NodeSets::room_epoch() of `room`
  };
  struct Run {
    NodeSets::Holding held = {};  // with charges where these are sums
    std::uint64_t rule = 0;       // under which it was noted: what its shares are charged, where that is a sum
    Measure measure = {};
    std::vector<Given> given = {};
    std::uint64_t epoch = 0;  // NodeSets::nodes_epoch() of both
  };

  void note_waiting(const protocol::JobUpdate& job, const request::LeastPart& least, OnlyUser only);
  void note_run(const protocol::JobUpdate& job, OnlyUser only);
  void forget_waiting(std::uint32_t job_id);
  void forget_run(std::uint32_t job_id);
  [[nodiscard]] std::uint32_t ask_of(const protocol::JobUpdate& job, const request::LeastPart& least, OnlyUser only);
  [[nodiscard]] Measure measure_of(const Ask& ask) const;
  void measure(Run& run) const;
  // The run's figures, as of now; nullptr: it is not known.
  [[nodiscard]] const Run* measured(std::uint32_t job_id) const;

  std::int64_t now_ = 0;
  ChargeRule rule_;
  std::uint64_t rule_number_ = 1;
  // What is computed when it is asked for.
  mutable NodeSets nodes_;
  mutable std::vector<Ask> asks_;
  mutable std::unordered_map<std::uint32_t, Run> runs_;
  Asks ask_ids_;
  std::vector<std::uint32_t> unused_asks_;
  WaitingJobs waiting_;
};

}  // namespace shapley::client
