// One node over time: what it offers (capacity), what runs on it, who owns it; and which jobs used it.
//
// Everything is measured twice: in the unit of psi, and in processors (Measured). In both,
// running(t) is what runs claim, at most what the whole node is worth (sharing.hpp).
// offered(t) = max(capacity(t), running(t)): a node that drains still contributes what its last jobs hold, and an
// unknown node (capacity 0) at least what is seen to run on it. So the processors of all organizations together always
// cover the running ones. Single-threaded; the caller owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounting/ownership/ownership.hpp"
#include "accounting/ownership/sharing.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

// One amount of a node by both measures. Where the node's capacity does not count its CPUs
// (CapacityChanged::usable_cpus) they are equal.
struct Measured {
  ProcessorMillionths charged{};  // or worth: in the unit of psi, by the rule of charge
  ProcessorMillionths blocked{};  // or there to be blocked: in processors, which are CPUs of nodes
  friend bool operator==(const Measured&, const Measured&) = default;
  friend Measured operator+(const Measured& a, const Measured& b) {
    return {a.charged + b.charged, a.blocked + b.blocked};
  }
  friend Measured operator-(const Measured& a, const Measured& b) {
    return {a.charged - b.charged, a.blocked - b.blocked};
  }
  Measured operator-() const { return {-charged, -blocked}; }
};
using Measure = ProcessorMillionths Measured::*;

// What the node offers and to whose credit, at one instant. Without owners: nothing at all.
struct Offer {
  Measured amount;
  const Owners* owners = nullptr;
  const CapacityChanged* known = nullptr;  // its capacity then; nullptr: not known
  // Whether it is the same by one measure.
  [[nodiscard]] bool same_as(const Offer& other, Measure by) const {
    if (amount.*by != other.amount.*by) return false;
    return owners == other.owners || (owners != nullptr && other.owners != nullptr && *owners == *other.owners);
  }
  [[nodiscard]] bool same_as(const Offer& other) const {
    return same_as(other, &Measured::charged) && same_as(other, &Measured::blocked);
  }
};

class Node {
 public:
  explicit Node(std::string node_name) : name(std::move(node_name)) {}

  std::string name;
  Ownership ownership;
  std::vector<CapacityChanged> capacities;  // ascending by (at, ordinal)
  std::vector<JobId> jobs;  // runs that touch the node: unordered, repeats allowed, forgotten jobs possible

  [[nodiscard]] const CapacityChanged* find_capacity(Instant at, std::uint32_t ordinal) const;
  void insert_capacity(const CapacityChanged& entry);
  // Whether the measures may differ at an instant that is remembered.
  [[nodiscard]] bool is_measured_apart() const;
  // Whether runs would claim something else from the entry's instant on, or from an instant soon after it, if it were
  // inserted: it counts the node's CPUs where none did, or counts others.
  [[nodiscard]] bool changes_claims(const CapacityChanged& entry) const;

  // Calls visit(begin, end, claimed) for the stretches of [begin, end) in which a run that holds the share claims the
  // same of the node, ascending: `charged` is its charge, `blocked` what that is of the node as it is then.
  template <typename Visit>
  void for_each_claim(const NodeShare& share, Instant begin, Instant end, Visit&& visit) const;
  // The most of each measure that it claims then.
  [[nodiscard]] Measured most_claimed(const NodeShare& share, Instant begin, Instant end) const;

  // From t on, `delta` more is claimed here.
  void change_claimed(Instant t, const Measured& delta);
  // Whether such a change would leave offered() as it is at every instant: then nothing else depends on it.
  [[nodiscard]] bool offer_ignores(Instant t, const Measured& delta) const;
  // Whether at some instant >= t more is claimed, by one of the measures, than the whole node is worth, or would be
  // with `more` (>= 0) from t on.
  [[nodiscard]] bool is_shared_since(Instant t, const Measured& more) const;
  // Whether at some instant >= t more is charged than `worth`, if that is known.
  [[nodiscard]] bool claims_exceed(ProcessorMillionths worth, Instant t) const;
  // The worth of the whole node over time.
  [[nodiscard]] std::vector<Worth> worths(Measure by) const;

  // Calls visit(begin, end, offer) for stretches of [from, until) in which the offer is the same, ascending.
  template <typename Visit>
  void for_each_offer(Instant from, Instant until, Visit&& visit) const;
  // Calls visit(at, before, after) for every change of the offer at an instant >= from, ascending.
  template <typename Visit>
  void for_each_offer_change(Instant from, Visit&& visit) const;

  // What the whole node is worth by what is known last. 0: not known.
  [[nodiscard]] Measured last_worth() const;

  // What it offers in the second before t. Valid until the node changes.
  [[nodiscard]] Offer offer_before(Instant t) const { return offer(before(t)); }

  // Drops history that differs only for instants before `horizon`.
  void forget_before(Instant horizon);

 private:
  struct ClaimChange {
    Instant at;
    Measured delta;
  };
  // A position in the three histories: everything at instants < some t has been passed.
  struct Cursor {
    std::size_t claim = 0, capacity = 0, stretch = 0;
    Measured claimed;
  };
  [[nodiscard]] Cursor before(Instant t) const;
  [[nodiscard]] Instant next_instant(const Cursor& cursor) const;
  void pass(Cursor& cursor, Instant t) const;
  // Whether holds(cursor) is true after all changes of some instant >= t, t itself included.
  template <typename Predicate>
  [[nodiscard]] bool any_since(Instant t, Predicate&& holds) const;
  [[nodiscard]] Offer offer(const Cursor& cursor) const;
  [[nodiscard]] Measured capacity(const Cursor& cursor) const;
  [[nodiscard]] Measured whole(const Cursor& cursor) const;
  [[nodiscard]] Measured running(const Cursor& cursor, const Measured& more = {}) const;
  // The number of capacities at or before t.
  [[nodiscard]] std::size_t capacities_until(Instant t) const;

  std::vector<ClaimChange> claims_;  // ascending, one entry per instant, no zero
  Measured claimed_;                 // after all of claims_
};

// What the whole node is worth, offered or not. 0: not known.
[[nodiscard]] Measured worth_of(const CapacityChanged& node);

// What a run that holds the share claims of a node while this is the node's capacity (nullptr: not known).
[[nodiscard]] Measured claim_of(const NodeShare& share, const CapacityChanged* capacity);

template <typename Visit>
void Node::for_each_claim(const NodeShare& share, Instant begin, Instant end, Visit&& visit) const {
  std::size_t next = capacities_until(begin);
  Measured claimed = claim_of(share, next == 0 ? nullptr : &capacities[next - 1]);
  Instant since = begin;
  for (; next < capacities.size() && capacities[next].at < end; ++next) {
    const Measured then = claim_of(share, &capacities[next]);
    if (then == claimed) continue;
    if (since < capacities[next].at) visit(since, capacities[next].at, claimed);
    since = capacities[next].at;
    claimed = then;
  }
  if (since < end) visit(since, end, claimed);
}

template <typename Visit>
void Node::for_each_offer(Instant from, Instant until, Visit&& visit) const {
  Cursor cursor = before(from);
  pass(cursor, from);
  while (from < until) {
    const Instant next = std::min(next_instant(cursor), until);
    visit(from, next, offer(cursor));
    pass(cursor, next);
    from = next;
  }
}

template <typename Visit>
void Node::for_each_offer_change(Instant from, Visit&& visit) const {
  Cursor cursor = before(from);
  Offer held = offer(cursor);
  for (Instant t = next_instant(cursor); t < k_end_of_time; t = next_instant(cursor)) {
    pass(cursor, t);
    const Offer now = offer(cursor);
    if (!now.same_as(held)) visit(t, held, now);
    held = now;
  }
}

// All nodes of the books, by index in the order in which the books met them; and the next change of owner of each.
class Nodes {
 public:
  // The node's index; a new node gets the next one.
  std::uint32_t index_of(std::string_view name);
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  Node& named(std::string_view name) { return nodes_[index_of(name)]; }
  [[nodiscard]] Node& operator[](std::uint32_t index) { return nodes_[index]; }
  [[nodiscard]] const Node& operator[](std::uint32_t index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] auto begin() const { return nodes_.begin(); }
  [[nodiscard]] auto end() const { return nodes_.end(); }
  [[nodiscard]] std::vector<std::string> names() const;  // ascending

  // As Ownership::state and Ownership::hand_over of one node.
  void state(std::uint32_t index, Ownership::Place place, std::vector<Ownership::Span> spans, Instant now);
  void hand_over(std::uint32_t index, Instant t);
  // The next known change of any node's owner, and that node; k_end_of_time if no change is known.
  [[nodiscard]] Instant next_hand_over() const;
  [[nodiscard]] std::uint32_t next_to_hand_over() const { return hand_overs_.begin()->second; }
  // Rises when a node is new or its owners may have changed.
  [[nodiscard]] std::uint64_t owners_epoch() const { return owners_epoch_; }

  // Whether the capacity known for the node at this place equals the event; nullopt: none is known.
  [[nodiscard]] std::optional<bool> repeats(const CapacityChanged& event) const;

  void forget_before(Instant horizon);

  // Lines of a checkpoint: names and capacities. Ownership follows from the statements, which the books keep whole.
  void save(TextWriter& out) const;
  void load(TextReader& in, Instant now, std::int64_t version);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  void schedule(std::uint32_t index);

  std::deque<Node> nodes_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> indices_;
  std::set<std::pair<Instant, std::uint32_t>> hand_overs_;  // known, not yet in force: (when, index of the node)
  std::uint64_t owners_epoch_ = 0;
};

}  // namespace shapley::accounting
