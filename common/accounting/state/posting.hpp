// From facts to the accounts (accounts.hpp): what runs hold of nodes, as pieces by owner, and what waits ask for; what
// nodes offer is entered by offers.hpp. What is held is posted by both measures (ownership/node.hpp): by charge for psi
// and its estimators, by what is blocked for the levels.
//
// Every change is expressed as "remove what the old facts made, add what the new facts make", so that the accounts
// depend on the set of facts only. Nothing here can fail. Single-threaded; the caller owns it and what it refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "accounting/estimators/period_sums.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/ownership/placement.hpp"
#include "accounting/state/accounts.hpp"
#include "accounting/state/job_memory.hpp"
#include "accounting/state/offers.hpp"
#include "accounting/state/organizations.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

// The instants that describe how far the books are.
struct Present {
  Instant now = k_beginning_of_time;
  Instant memory_horizon = k_beginning_of_time;  // earlier facts are forgotten; what they came to is in sums
  Instant first_event = k_end_of_time;           // the first time of an event that begins books
};

class Posting {
 public:
  Posting(const Present& present, const Organizations& organizations, Nodes& nodes, KindHistory& kinds,
          Placements& placements, const Jobs& jobs, Accounts& accounts)
      : present_(present),
        organizations_(organizations),
        nodes_(nodes),
        kinds_(kinds),
        placements_(placements),
        jobs_(jobs),
        accounts_(accounts),
        offers_(nodes, kinds, accounts) {
    accounts_.complete_by([this] { put_back_held(); });
  }
  Posting(const Posting&) = delete;
  Posting& operator=(const Posting&) = delete;

  // Adds a segment as a whole (sign 1), or takes it back (-1); `mutate` makes the same change in the memory of jobs.
  void enter(SegmentRecord& segment, int sign, const std::function<void()>& mutate);
  // Ends an open segment at `end`; `mutate` makes the same change in the memory of jobs.
  void close(SegmentRecord& segment, Instant end, const std::function<void()>& mutate);
  void post(const CapacityChanged& event);
  // Runs `change` on a node whose ownership will differ from `from` on, and moves what ran there since.
  void change_ownership(std::uint32_t node, Instant from, const std::function<void()>& change);
  void post(const PlacementResolved& event);
  // Changes what hindsight is from event.at on.
  void define(const HindsightDefined& event);
  // The same before anything was entered, for a checkpoint.
  void restore(const HindsightDefined& event);
  void post(const PeriodDeclared& event);
  // Runs `change`, which changes which organizations are parts of others.
  void change_rows(const std::function<void()>& change);
  // Takes one use from the placement of a segment that was forgotten.
  void forget(const SegmentRecord& segment);
  // In the nodes that forgotten segments touched (by index), keeps only the remaining segments of these jobs.
  void forget_jobs_of_nodes(const std::unordered_set<JobId>& changed, const std::vector<bool>& lose_some);

  [[nodiscard]] OrgId organization_of(const SegmentRecord& segment) const {
    return *organizations_.find(segment.live.opened.organization);
  }
  [[nodiscard]] SegmentFact fact_of(const SegmentRecord& segment) const;
  // While it is open, and without what it asked for; or with that.
  [[nodiscard]] static SegmentFact fact_of(const SegmentOpened& opened, OrgId organization);
  [[nodiscard]] SegmentFact fact_of_asked(const SegmentOpened& opened, OrgId organization) const;

  using VisitPiece = std::function<void(const SegmentRecord& run, const Piece& piece)>;
  // Calls visit for what remembered runs held during [from, until).
  void for_each_held_during(Instant from, Instant until, const VisitPiece& visit) const;
  // psi without the remembered segments: what forgotten ones left.
  [[nodiscard]] PeriodSums got_by_forgotten() const;
  [[nodiscard]] Estimator::Remembered remembered() const;

  // For checkpoints: restore() enters a segment before it is in the memory of jobs; restore_all(), once, what follows
  // from all.
  void restore(const SegmentRecord& segment);
  void restore_all();
  // Computes the levels of the periods that are not settled from the remembered facts.
  void restate_levels();

 private:
  // Calls visit(piece) for each piece, by the ownership in force, of what `count` runs of the organization hold on the
  // node, each of them `held`.
  template <typename Visit>
  void for_each_piece(const Node& node, OrgId organization, const Work& held, std::int64_t count, Visit&& visit) const;
  // Calls visit(organization, count, work) for what remembered runs hold of the node at instants >= from, by the
  // measure: `count` runs of the organization hold `work` each (sharing.hpp).
  template <typename Visit>
  void for_each_class_on(const Node& node, Measure by, Instant from, Visit&& visit) const;
  // From this second on everything that was held is remembered. Before it a run may have shared a node with one that is
  // forgotten, and what it held then is in the sums.
  [[nodiscard]] Instant remembered_since() const;
  // Calls visit(piece) for all pieces of remembered runs since then, by the measure.
  template <typename Visit>
  void for_each_remembered_piece(Measure by, Visit&& visit) const;
  // The remembered runs that claim some of the node at an instant >= from, ascending by key.
  struct Holder {
    const SegmentRecord* run;
    const NodeShare* share;
  };
  [[nodiscard]] std::vector<Holder> holders_of(const Node& node, Instant from) const;
  void pass_remembered(Estimator& listener, int sign) const;

  [[nodiscard]] Asked asked_by(const SegmentOpened& opened, Instant released) const;
  // Makes a change after which some requests that were released at instants >= from may ask for something else: those
  // of this placement, or all of them.
  template <typename Change>
  void change_asked(Instant from, std::optional<std::string_view> placement, Change&& change);
  void fold_segment(int sign, const SegmentRecord& segment) { accounts_.fold_segment(sign, fact_of(segment)); }
  // What runs of the organization hold by charge; it is what they block, too, unless the node is measured apart.
  void fold_pieces(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count = 1);
  // What they block of a node that is measured apart.
  void fold_blocked(int sign, const Node& node, OrgId organization, const Work& held, std::int64_t count = 1);
  // Both, of a run that shares the node with no other.
  void fold_share(int sign, const Node& node, OrgId organization, const NodeShare& share, Instant from, Instant end);
  // Folds the pieces of all that is held of the node at instants >= from; fold_node() also how many processors run.
  void fold_node_pieces(int sign, const Node& node, Instant from);
  void fold_node_blocked(int sign, const Node& node, Instant from);
  void fold_node(int sign, const Node& node, Instant from);
  void fold_running(int sign, OrgId organization, const Work& held);
  // Folds everything that is remembered, except levels.
  void fold_remembered(int sign);
  // Makes a change of what runs hold of these nodes at instants >= from. Where runs share a node, every run that comes
  // or goes changes what each of them holds. So what they hold is taken back before the change, and put back once for
  // many changes: when the accounts are read.
  template <typename Change>
  void change_held(const std::vector<std::uint32_t>& nodes, Instant from, Change&& change);
  void put_back_held();

  // The wait asks (sign 1), or no longer asks (-1), for its processors at instants >= from.
  void change_wait(const SegmentRecord& wait, Instant from, int sign);
  // The run claims, or no longer claims, its part of its nodes at instants >= from and before its end. `mutate` makes
  // the same change in the memory of jobs.
  void change_run(SegmentRecord& run, Instant from, int sign, const std::function<void()>& mutate);
  // Calls change(t, delta) for the instants at which what a run that holds the share claims of the node changes, if it
  // claims it (sign 1), or no longer claims it (-1), during [from, end).
  template <typename Change>
  static void for_each_claim_change(const Node& node, const NodeShare& share, Instant from, Instant end, int sign,
                                    Change&& change);
  void change_claimed(Node& node, Instant t, const Measured& delta);
  // The runs on the node claim (sign 1), or no longer claim (-1), what they do by its capacities from t on.
  void change_claims(Node& node, Instant t, int sign);
  void restore_runs();
  [[nodiscard]] std::vector<OrganizationLevel> levels_before(Instant t) const;

  const Present& present_;
  const Organizations& organizations_;
  Nodes& nodes_;
  KindHistory& kinds_;
  Placements& placements_;
  const Jobs& jobs_;
  Accounts& accounts_;
  Offers offers_;
  // By placement and instant: the kinds of its nodes, as far as they were asked for since the last change.
  mutable std::map<std::string, std::map<std::pair<Instant, Instant>, KindSet>, std::less<>> known_kinds_;
  // By the node's index: the instant from which on what runs hold of it is taken back.
  std::map<std::uint32_t, Instant> taken_back_;
};

}  // namespace shapley::accounting
