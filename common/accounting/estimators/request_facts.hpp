// What the books know of requests, for the virtual schedules (hindsight/virtual_schedules.hpp): which requests there
// are, when they were released, what became of them.
//
// A request is a run, or the demand of an open wait. Runs and waits of one job, or of one array, and one stretch of
// waiting are a group: what starts of the group's demand takes its first part, so that a start changes no virtual
// schedule. Runs go before what still waits, in the order of their starts.
//
// The release of a run is when Slurm could have started it: SegmentFact::released. Where the books did not see it wait
// it is believed for `k_believed` only; a run that does not say begins when it is released. Closed waits and segments
// without length are no requests: what they asked for has started, or was withdrawn.
//
// A request has a form (Asked): what one of its tasks asks for while it waits. A run has the form of the wait that it
// started out of, whatever it is charged; only one that was not seen to wait asks for what it is charged. Who changes
// what a waiting job asks for has withdrawn it, and made another request that is released then. What runs and was
// resized, too, is a request of its own.
//
// Facts of before a horizon are forgotten, except those waits that say since when a job asks for what it asks for.
//
// Single-threaded; the estimator owns it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "accounting/estimators/estimator.hpp"
#include "base/types.hpp"
#include "hindsight/request_queue.hpp"

namespace shapley::accounting {

// Approximate memory of malloc for each node of a standard map, in bytes (an upper estimate).
inline constexpr std::size_t k_allocation_bytes = 16;
template <typename Map>
inline constexpr std::size_t node_bytes = sizeof(typename Map::value_type) + 4 * sizeof(void*) + k_allocation_bytes;

// How long before its start a run that was not seen to wait may have been released. Less than the shortest horizon of
// the books.
inline constexpr Duration k_believed{6 * 3600};

struct GroupKey {
  Instant released;
  OrgId organization;
  JobId job;  // of the array, for its tasks
  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};
[[nodiscard]] GroupKey group_of(const SegmentFact& fact);

// A request as the facts describe it.
struct WantedRequest {
  std::int64_t release = 0;
  hindsight::Order order;
  std::int64_t amount = 0;
  std::int64_t begin = hindsight::k_never;
  std::int64_t duration = hindsight::k_unknown;
  Asked asked = {};
  friend bool operator==(const WantedRequest&, const WantedRequest&) = default;
};
// Where it is among the requests of its group: what was released together and asks for the same is together.
[[nodiscard]] inline auto place_of(const WantedRequest& request) {
  return std::tie(request.release, request.asked, request.order);
}

class RequestFacts {
 public:
  using Group = std::map<SegmentKey, SegmentFact>;

  void fold(int sign, const SegmentFact& fact);
  // Ascending.
  [[nodiscard]] const std::map<GroupKey, Group>& groups() const { return groups_; }
  // The requests of a group as known from instants before `until`, by release, form and order; of one release and form
  // at most one waits.
  [[nodiscard]] std::vector<WantedRequest> wanted(const GroupKey& key, Instant until) const;
  // When the request of a run or of a wait was released, and what it asks for, if the fact is added to those there are.
  struct Requested {
    Instant released;
    Asked asked;
    friend bool operator==(const Requested&, const Requested&) = default;
  };
  [[nodiscard]] Requested requested_by(const SegmentFact& fact) const;
  // Whether another request of the group was released at another instant, or asks for something else, if `before`
  // becomes `after`; nullptr: there is no such fact before, or after.
  [[nodiscard]] bool changes_others(const SegmentFact* before, const SegmentFact* after) const;
  // Memory in bytes, approximately.
  [[nodiscard]] std::size_t bytes() const;
  // Forgets facts that ended before the horizon.
  void forget_before(Instant horizon);
  // Waits that ended before the horizon and are kept; by job. `fold` takes them again.
  [[nodiscard]] std::vector<SegmentFact> kept_from_before(Instant horizon) const;

 private:
  std::map<GroupKey, Group> groups_;
  std::size_t facts_ = 0;  // in all of them
};

}  // namespace shapley::accounting
