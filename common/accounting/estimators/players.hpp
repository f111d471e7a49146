// Who plays: every organization from the first of its facts on, a job that waited or ran, or processors that it
// offered.
//
// Players come in the order in which they joined, so that those of an instant are the first ones: whoever joins later
// changes nothing of what was before. A fact that is taken back counts for nothing, unless it lies before the horizon,
// where nothing is taken back. Single-threaded; the estimator owns it.
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

  // One more fact of the organization at t, or (sign -1) one less.
  void fold(int sign, OrgId organization, Instant t);
  // Who joined before the horizon stays.
  void settle(Instant horizon);

  // Those that are there by now, in their order.
  [[nodiscard]] const std::vector<OrgId>& all();
  // How many of them joined before t.
  [[nodiscard]] std::size_t joined_before(Instant t);
  // Of each of the first `players`, its place in the order by name.
  [[nodiscard]] std::vector<std::uint32_t> ranks(std::size_t players);

  // Those that stay, in their order, and when they joined; for checkpoints.
  struct Joined {
    Instant at;
    OrgId organization;
    friend auto operator<=>(const Joined&, const Joined&) = default;
  };
  [[nodiscard]] const std::vector<Joined>& settled() const { return settled_; }
  // After facts were told that the books remember: those before the horizon are in `settled`.
  void restore(std::vector<Joined> settled, Instant horizon);

 private:
  void refresh();

  std::vector<OrgId> by_name_;
  std::vector<Joined> settled_;
  std::set<OrgId> settled_ids_;
  std::map<OrgId, std::multiset<Instant>> facts_;  // of the others
  bool is_stale_ = true;
  std::vector<OrgId> all_;
  std::vector<Instant> joined_;  // of all_
};

}  // namespace shapley::accounting
