// The sets of nodes that jobs of one placement may use, and how much of them is free. Jobs that need a generic resource
// may only use nodes that have it.
//
// A node's free part is its CPUs times what the largest used part of its CPUs, memory and generic resources leaves of
// it: nothing, if a run has it to itself. A run or node that changes changes the sums of the sets with its nodes; which
// node is in which set, and of which kinds a set's nodes are, is found when something is asked for that needs it. What
// is free of a set may be in pieces that are too small for a job, or on nodes that have too little for it: room(). Of
// a node that others may use in part, too, a set has what its jobs may use (limits.hpp).
// Amounts are in millionths of a processor. Single-threaded (the scanning thread).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/client/requests/limits.hpp"
#include "plugin/client/requests/owners.hpp"
#include "protocol/messages.hpp"
#include "request/charging.hpp"
#include "request/placement.hpp"

namespace shapley::client {

using NodeSetId = std::uint32_t;
// The set of all nodes, reserved ones, too.
inline constexpr NodeSetId k_any_node = 0;
// What slurmctld knows of a node that is not passed on.
struct NodeFacts {
  std::int64_t reserved_from = 0;       // when jobs must have left it, in seconds of Unix time; 0: they need not
  bool starts_no_jobs = false;          // for a while: nothing is free there
  std::vector<std::string> types = {};  // of its generic resources, such as "gres/gpu:tesla"; ascending
  std::vector<NodeLimit> limits = {};   // ascending
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};
// At most so many at a time, that one included; jobs of further placements count for any node.
inline constexpr std::size_t k_max_node_sets = 256;

class NodeSets {
 public:
  NodeSets() : sets_(1) {}

  // Forgets everything but the rule.
  void clear() noexcept;

  void note(const protocol::NodeRecord& record, NodeFacts facts = {});
  void forget(std::string_view node);
  // The partitions in which nothing may start now, in any order. A placement in several of which some are open is in
  // these alone; in closed ones alone it has their nodes, which will be there when one opens.
  void note_closed(std::vector<std::string> partitions);
  void set_rule(const request::ChargeRule& rule);
  [[nodiscard]] const request::Charging& charging() const { return charging_; }

  // ---- runs ----
  struct Holding {
    std::vector<request::Share> shares = {};
    bool exclusive = false;
    std::string partition = {}, reservation = {};
    OnlyUser only = k_any_user;
  };
  // What a run holds on its nodes; the same is passed when it no longer does.
  void hold(const Holding& run) { count(run, true); }
  void release(const Holding& run) { count(run, false); }
  // nullptr: the node is not known. Valid until the next note() or forget().
  [[nodiscard]] const request::NodeKind* kind_of(std::string_view node) const;
  // REQUIRES: not nullptr. The same one again changes nothing.
  void set_owners(std::shared_ptr<const NodeOwners> owners);
  // nullptr: nothing is known of them. Valid until the next set_owners() or forget().
  [[nodiscard]] const OwnerShares* owners_of(std::string_view node) const;
  // Rises when kind_of() or owners_of() may have changed.
  [[nodiscard]] std::uint64_t nodes_epoch() const { return nodes_epoch_; }

  // ---- sets ----
  // The set of the placement's nodes that have these generic resources (names, with types or without, ascending), a new
  // one if necessary;
  // k_any_node if there is no room. It keeps its meaning while it has users, and until another one needs its room.
  [[nodiscard]] NodeSetId set_of(const std::string& placement, std::vector<std::string> gres = {});
  void add_user(NodeSetId set);
  void remove_user(NodeSetId set);
  // One more than the greatest id.
  [[nodiscard]] std::size_t size() const { return sets_.size(); }

  // What no run holds of the nodes that are usable, and all of these. 0 for an id without a set.
  [[nodiscard]] std::int64_t free(NodeSetId set);
  [[nodiscard]] std::int64_t all(NodeSetId set);
  // Of usable nodes, the part that this organization owns; and what of that no run holds.
  struct Owned {
    std::int64_t all = 0;
    std::int64_t free = 0;
  };
  [[nodiscard]] Owned owned(std::uint32_t organization);
  // Of what is free, as much as parts of a job fill (request::room_for of each node) that may run until `ends`, in
  // seconds of Unix time; nothing where fewer nodes have room than it needs, or not all that it names. Time: the
  // different kinds and free parts of its nodes.
  struct Part {
    request::LeastPart least = {};
    bool whole_nodes = false;
    std::int64_t nodes = 1;  // at least so many
    OnlyUser only = k_any_user;
  };
  [[nodiscard]] std::int64_t room(NodeSetId set, const Part& part, std::int64_t ends);
  // Whether a node is reserved from an instant before `ends`.
  [[nodiscard]] bool is_reserved_before(std::int64_t ends);
  // Rises when room() may have changed.
  [[nodiscard]] std::uint64_t room_epoch();
  // Whether they have a node in common; whether each node of `inner` is in `outer`, where no less of it is free. Usable
  // or not.
  [[nodiscard]] bool overlap(NodeSetId a, NodeSetId b);
  [[nodiscard]] bool contains(NodeSetId outer, NodeSetId inner);
  // The kinds of the set's nodes, of those that will be in it when reservations are over, and of all nodes: each once,
  // usable or not. Valid until the next note() or forget().
  [[nodiscard]] request::Kinds kinds(NodeSetId set);
  // Rises when the kinds of any set have changed.
  [[nodiscard]] std::uint64_t kinds_epoch();

 private:
  class Bits {
   public:
    void set(NodeSetId bit) { words_[bit / k_word] |= std::uint64_t{1} << (bit % k_word); }
    void reset(NodeSetId bit) { words_[bit / k_word] &= ~(std::uint64_t{1} << (bit % k_word)); }
    [[nodiscard]] bool test(NodeSetId bit) const { return ((words_[bit / k_word] >> (bit % k_word)) & 1U) != 0; }
    Bits& operator|=(const Bits& other);
    Bits& operator&=(const Bits& other);
    template <typename Visit>
    void for_each(const Visit& visit) const {
      for (std::size_t w = 0; w < words_.size(); ++w) {
        for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
          visit(static_cast<NodeSetId>(w * k_word + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
    friend auto operator<=>(const Bits&, const Bits&) = default;

   private:
    static constexpr std::size_t k_word = 64;
    std::array<std::uint64_t, k_max_node_sets / k_word> words_{};
  };

  static constexpr std::size_t k_no_group = static_cast<std::size_t>(-1);
  struct Node {
    protocol::NodeRecord record;
    NodeFacts facts;
    bool known = false;    // slurmctld has it; otherwise only runs do
    bool changed = false;  // `sets` may be wrong
    request::NodeKind kind;
    Bits sets;
    Bits fits;                  // in these, or it would be without reservations
    std::uint32_t holders = 0;  // runs
    std::uint32_t exclusive = 0;
    request::Share held;  // of all runs
    // CPUs, by what may have a limit: partitions (false) and reservations.
    std::map<std::pair<bool, std::string>, std::int64_t> held_in;
    OnlyUser only = k_any_user;  // whose the node is alone, by so many runs
    std::uint32_t only_runs = 0;
    const OwnerShares* owners = nullptr;
    // What its sets count of it.
    std::vector<NodeLimit> limits;
    Left left;
    Left all;
    std::size_t group = k_no_group;
  };
  // Nodes of one kind that are in the same sets: of how many so much is left.
  struct Group {
    request::NodeKind kind;
    Bits sets;
    Bits fits;
    std::int64_t reserved_from = 0;
    std::vector<NodeLimit> limits;
    std::map<Left, std::uint32_t> by_left;
  };

  // A placement's text, and names of generic resources, with types or without.
  using SetKey = std::pair<std::string, std::vector<std::string>>;
  struct Set {
    request::Placement placement{std::string()};
    std::vector<std::string> gres;
    std::uint32_t users = 0;
    bool fresh = false;  // its nodes are not known yet
    std::int64_t free = 0;
    std::int64_t all = 0;
    std::vector<request::NodeKind> usable;
    std::vector<request::NodeKind> fitting;
    Bits overlaps;  // with these it has a node in common
    Bits within;    // these have all of its nodes, and no less free of any
    std::set<std::string> bounds;
  };

  // Reads the placement of a key.
  void read(Set& set, const SetKey& key);
  void count(const Holding& run, bool more);
  // Counts in the node's sets what is free now.
  void recount(Node& node);
  void recount(Node& node, Left left, Left all);
  // What jobs of the set may use of what is left of a node.
  [[nodiscard]] std::int64_t part_of(NodeSetId set, std::span<const NodeLimit> limits, const Left& left) const;
  void refresh();
  void find_sets(Node& node, std::span<const NodeSetId> fresh);
  // Whether the node, which is known, is in the set.
  bool find_set(Node& node, NodeSetId id);
  void find_groups();
  void find_kinds();  // by the groups
  void find_bounds();
  void count_owned(const OwnerShares* owners, const Owned& before, const Owned& now);

  request::Charging charging_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::vector<Set> sets_;
  std::vector<Group> groups_;
  std::map<SetKey, NodeSetId> by_key_;
  std::vector<std::string> closed_;  // ascending
  std::shared_ptr<const NodeOwners> owners_ = std::make_shared<const NodeOwners>();
  std::vector<Owned> owned_;  // by organization
  bool stale_ = false;        // a node has changed, or a set is fresh
  std::uint64_t nodes_epoch_ = 1;
  std::uint64_t kinds_epoch_ = 1;
  std::uint64_t room_epoch_ = 1;
  std::int64_t first_reserved_from_ = 0;  // of all nodes; 0: none
};

}  // namespace shapley::client
