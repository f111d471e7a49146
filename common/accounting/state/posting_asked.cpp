// What waits and runs ask for by the definition of hindsight, and what changes that.
#include <span>
#include <utility>

#include "accounting/state/posting.hpp"

namespace shapley::accounting {

// Which kinds a job may use is what its placement's nodes were when it was released; any, if that is not known.
Asked Posting::asked_by(const SegmentOpened& opened, Instant released) const {
  if (kinds_.empty()) return {};
  const std::int64_t charged = opened.processors.value;
  const auto tasks = std::max<std::int64_t>(opened.tasks, 1);
  Asked asked;
  if (kinds_.starts_whole(released)) asked.width = charged % tasks == 0 ? charged / tasks : charged;
  const PlacementHistory* placement = opened.placement.empty() ? nullptr : placements_.find(opened.placement);
  const auto [since, indices] = placement == nullptr ? std::pair(k_beginning_of_time, std::span<const std::uint32_t>{})
                                                     : placement->in_force(released);
  if (indices.empty()) {
    asked.kinds = kinds_.kinds_of({}, released);
    return asked;
  }
  std::map<std::pair<Instant, Instant>, KindSet>& known = known_kinds_[opened.placement];
  const auto [kinds, is_new] = known.try_emplace({since, kinds_.defined_before(released)});
  if (is_new) {
    std::vector<std::string_view> names;
    for (const std::uint32_t index : indices) names.push_back(nodes_[index].name);
    kinds->second = kinds_.kinds_of(names, released);
  }
  asked.kinds = kinds->second;
  return asked;
}

template <typename Change>
void Posting::change_asked(Instant from, std::optional<std::string_view> placement, Change&& change) {
  std::vector<const SegmentRecord*> concerned;
  jobs_.for_each_counted([&](const SegmentRecord& segment) {
    const SegmentOpened& opened = segment.live.opened;
    if (placement && opened.placement != *placement) return;
    if (could_start_since(opened) >= from) concerned.push_back(&segment);
  });
  for (const SegmentRecord* segment : concerned) fold_segment(-1, *segment);
  change();
  known_kinds_.clear();
  for (const SegmentRecord* segment : concerned) fold_segment(1, *segment);
}

void Posting::post(const PlacementResolved& event) {
  PlacementHistory& placement = placements_.obtain(event.placement);
  std::vector<std::uint32_t> nodes = indices_of(event, nodes_);
  const auto insert = [&] { placement.insert(event, std::move(nodes)); };
  if (kinds_.empty()) return insert();
  change_asked(event.at, event.placement, insert);
}

void Posting::define(const HindsightDefined& event) {
  change_asked(event.at, std::nullopt, [&] {
    offers_.change_kinds(event.at, [&] { kinds_.define(event); });
    accounts_.divide_kinds(kinds_.divisions());
  });
}

void Posting::restore(const HindsightDefined& event) {
  kinds_.define(event);
  accounts_.divide_kinds(kinds_.divisions());
}

}  // namespace shapley::accounting
