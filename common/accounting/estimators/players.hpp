// The players: every organization from the first of its facts on. A fact is a job that waited or ran, or processors
// that it offered.
//
// Players are ordered by the instants at which they joined, so that the players of an instant are the first ones, and a
// later player changes nothing that was before. A fact that is taken back does not count.
//
// A run is a fact at its release, and may be taken back until the horizon has passed its begin. If a player joined
// before the horizon by such facts alone, its presence depends on them: none of them may be taken back any more.
// Single-threaded; the estimator owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/types.hpp"

namespace shapley::accounting {

class Players {
 public:
  void set_organizations(const std::vector<OrgId>& by_name) { by_name_ = by_name; }

  struct Fact {
    Instant at;
    Instant firm;  // the fact may be taken back until the horizon has passed this instant
    friend auto operator<=>(const Fact&, const Fact&) = default;
  };
  // Adds a fact of the organization (sign 1) or takes it back (-1).
  void fold(int sign, OrgId organization, const Fact& fact);
  // Whether the presence of the organization, which joined before the horizon, depends on this fact.
  [[nodiscard]] bool hangs_on(OrgId organization, const Fact& fact) const;
  // Every player that joined before the horizon stays.
  void settle(Instant horizon);

  // All players known by now, in their order.
  [[nodiscard]] const std::vector<OrgId>& all();
  // How many of them joined before t.
  [[nodiscard]] std::size_t joined_before(Instant t);
  // For each of the first `players`, its place in the order by name.
  [[nodiscard]] std::vector<std::uint32_t> ranks(std::size_t players);

  // The players that stay, in their order, and when they joined; for checkpoints.
  struct Joined {
    Instant at;
    OrgId organization;
    bool hangs = false;  // its presence depends on facts that might have been taken back
    friend auto operator<=>(const Joined&, const Joined&) = default;
  };
  [[nodiscard]] const std::vector<Joined>& settled() const { return settled_; }
  // Called after the facts that the books remember were added; `settled` has the players from before the horizon.
  void restore(std::vector<Joined> settled, Instant horizon);

 private:
  void refresh();

  std::vector<OrgId> by_name_;
  std::vector<Joined> settled_;
  std::set<OrgId> settled_ids_;
  std::map<OrgId, std::multiset<Fact>> facts_;  // of organizations that are not settled
  bool is_stale_ = true;
  std::vector<OrgId> all_;
  std::vector<Instant> joined_;  // of all_
};

}  // namespace shapley::accounting
