// Which events are new, repetitions, contradictions, or too old.
#include <algorithm>
#include <string>

#include "accounting/state/state_impl.hpp"
#include "base/fnv1a.hpp"

namespace shapley::accounting {

namespace {

Expected<Applied> same_or_conflict(bool same, const Event& event) {
  if (same) return Applied::duplicate;
  return fail(Errc::conflict, event_key(event) + ": recorded before with another content; the first fact stays");
}

tl::unexpected<Error> ends_before_it_begins(const Event& event) {
  return fail(Errc::conflict, event_key(event) + ": the segment would end before it begins");
}

}  // namespace

Applied State::Impl::fresh_since(Instant reach) const {
  return reach < horizon && !memory_only ? Applied::needs_replay : Applied::changed;
}

bool State::Impl::is_too_old_for_estimators(const SegmentOpened& event) const {
  // Of an organization that the books have not met yet, its first id.
  const auto organization =
      organizations.find(event.organization).value_or(OrgId{static_cast<std::uint32_t>(row_by_id.size())});
  const SegmentFact fact = fact_of(event, organization);
  return std::any_of(estimators.begin(), estimators.end(),
                     [&](const auto& estimator) { return estimator->is_too_old(fact); });
}

// Whether an estimator needs that a segment that counts goes on to count.
bool State::Impl::stays_for_estimators(const SegmentRecord& segment) const {
  if (!segment.counts()) return false;
  const SegmentFact fact = fact_of(segment);
  return std::any_of(estimators.begin(), estimators.end(),
                     [&](const auto& estimator) { return estimator->stays(fact); });
}

const SegmentRecord* State::Impl::find(const SegmentKey& key) const {
  const auto job = jobs.find(key.job);
  return job == jobs.end() ? nullptr : job->second.find(key);
}

template <>
Expected<Applied> State::Impl::validate(const SegmentOpened& event) const {
  const SegmentRecord* known = find(event.key);
  if (known != nullptr && known->opened) return same_or_conflict(known->live.opened == event, event);
  if (known != nullptr && known->end() < event.begin) return ends_before_it_begins(event);
  if (fresh_since(event.begin) == Applied::needs_replay) return Applied::needs_replay;
  return is_too_old_for_estimators(event) ? Applied::needs_replay : Applied::changed;
}

template <>
Expected<Applied> State::Impl::validate(const SegmentClosed& event) const {
  const SegmentRecord* known = find(event.key);
  if (known != nullptr && known->live.end) {
    return same_or_conflict(known->live.end == event.end && known->reason == event.reason &&
                                known->job_state_hash == fnv1a(event.job_state),
                            event);
  }
  if (known != nullptr && known->opened && event.end < known->live.opened.begin) return ends_before_it_begins(event);
  if (fresh_since(event.end) == Applied::needs_replay) return Applied::needs_replay;
  const bool vanishes = known != nullptr && known->opened && event.end == known->live.opened.begin;
  return vanishes && stays_for_estimators(*known) ? Applied::needs_replay : Applied::changed;
}

template <>
Expected<Applied> State::Impl::validate(const SegmentRetracted& event) const {
  const SegmentRecord* known = find(event.key);
  if (known != nullptr && known->retracted) return same_or_conflict(known->retracted_at == event.at, event);
  // It reaches back to the segment's begin. An unknown segment from before the horizon may have been forgotten.
  if (known != nullptr && known->opened) {
    return stays_for_estimators(*known) ? Applied::needs_replay : fresh_since(known->live.opened.begin);
  }
  return fresh_since(std::min(event.at, event.key.anchor));
}

template <>
Expected<Applied> State::Impl::validate(const OrganizationsDeclared& event) const {
  if (const auto* known = organizations.declared_at(event.at)) return same_or_conflict(*known == event.names, event);
  return fresh_since(event.at);
}

template <>
Expected<Applied> State::Impl::validate(const OwnershipStated& event) const {
  if (const OwnershipStated* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return fresh_since(event.effective);
}

template <>
Expected<Applied> State::Impl::validate(const CapacityChanged& event) const {
  if (const auto index = node_index.find(event.node); index != node_index.end()) {
    const CapacityChanged* known = nodes[index->second].find_capacity(event.at, event.ordinal);
    if (known != nullptr) return same_or_conflict(*known == event, event);
  }
  return fresh_since(event.at);
}

template <>
Expected<Applied> State::Impl::validate(const PeriodDeclared& event) const {
  if (const auto known = period_rules.declared_at(event.at)) return same_or_conflict(*known == event.period, event);
  return fresh_since(event.at);
}

template <>
Expected<Applied> State::Impl::validate(const JobDescribed& event) const {
  if (const auto job = jobs.find(event.job); job != jobs.end()) {
    for (const JobDescription& known : job->second.descriptions) {
      if (known.submit == event.submit) return same_or_conflict(known.content_hash == content_hash(event), event);
    }
  }
  return Applied::changed;  // however old: the books do not depend on it
}

template <>
Expected<Applied> State::Impl::validate(const JobChanged& event) const {
  if (const auto job = jobs.find(event.job); job != jobs.end()) {
    for (const JobChange& known : job->second.changes) {
      if (known.submit != event.submit || known.at != event.at) continue;
      return same_or_conflict(known.content_hash == content_hash(event.description()), event);
    }
  }
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ConfigurationLoaded& event) const {
  const auto known = configurations.find(event.at);
  if (known != configurations.end()) return same_or_conflict(known->second == fnv1a(event.text), event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const RankingDeclared& event) const {
  if (const RankingDeclared* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ResidualMeasured& event) const {
  if (const ResidualMeasured* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ChargeDeclared& event) const {
  if (const ChargeDeclared* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const HistoryImported& event) const {
  if (const HistoryImported* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const AdjustmentMade& event) const {
  if (const AdjustmentMade* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise: what it is made of are facts of their own
}

template <>
Expected<Applied> State::Impl::validate(const ObservationsMistimed& event) const {
  if (const ObservationsMistimed* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ControllerBegan& event) const {
  if (const ControllerBegan* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ObservationGap& event) const {
  if (const ObservationGap* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const HindsightBounded& event) const {
  if (const HindsightBounded* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;
}

template <>
Expected<Applied> State::Impl::validate(const StateLost& event) const {
  if (const StateLost* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const ClusterNamed& event) const {
  if (const ClusterNamed* known = kept.find(event)) return same_or_conflict(*known == event, event);
  return Applied::changed;  // likewise
}

template <>
Expected<Applied> State::Impl::validate(const PlacementResolved& event) const {
  if (const auto placement = placements.find(event.placement); placement != placements.end()) {
    const PlacementResolved* known = placement->second.find(event.at, event.ordinal);
    if (known != nullptr) return same_or_conflict(*known == event, event);
  }
  return fresh_since(event.at);
}

Expected<Applied> State::Impl::validate(const Event& event) const {
  return std::visit([this](const auto& fact) { return validate(fact); }, event);
}

}  // namespace shapley::accounting
