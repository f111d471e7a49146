// Which events are new, repetitions, contradictions, or too old.
#include <algorithm>
#include <type_traits>
#include <variant>

#include "accounting/state/state_impl.hpp"
#include "base/text.hpp"

namespace shapley::accounting {

namespace {

tl::unexpected<Error> ends_before_it_begins(const Event& event) {
  return fail(Errc::conflict, event_key(event) + ": the segment would end before it begins");
}

}  // namespace

template <typename Fact>
std::optional<bool> State::Impl::repeats(const Fact& event) const {
  if constexpr (requires { jobs.repeats(event); }) return jobs.repeats(event);
  if constexpr (requires { nodes.repeats(event); }) return nodes.repeats(event);
  if constexpr (requires { placements.repeats(event); }) return placements.repeats(event);
  if constexpr (requires { organizations.repeats(event); }) return organizations.repeats(event);
  if constexpr (requires { accounts.rules().repeats(event); }) return accounts.rules().repeats(event);
  const Fact* known = kept.find(event);
  return known == nullptr ? std::nullopt : std::optional(*known == event);
}

template <>
std::optional<bool> State::Impl::repeats(const ConfigurationLoaded& event) const {
  const auto known = configurations.find(event.at);
  return known == configurations.end() ? std::nullopt : std::optional(known->second == fnv1a(event.text));
}

Applied State::Impl::fresh_since(Instant reach) const {
  return reach < present.memory_horizon && !memory_only ? Applied::needs_replay : Applied::changed;
}

bool State::Impl::stays_for_estimators(const SegmentRecord& segment) const {
  return segment.counts() && accounts.stays(posting.fact_of(segment));
}

template <typename Fact>
Expected<Applied> State::Impl::check_reach(const Fact& event) const {
  constexpr bool k_is_dated = std::is_same_v<Fact, OrganizationsDeclared> || std::is_same_v<Fact, OwnershipStated> ||
                              std::is_same_v<Fact, CapacityChanged> || std::is_same_v<Fact, PeriodDeclared> ||
                              std::is_same_v<Fact, PlacementResolved> || std::is_same_v<Fact, HindsightDefined>;
  return k_is_dated ? fresh_since(time_of(event)) : Applied::changed;
}

template <>
Expected<Applied> State::Impl::check_reach(const SegmentOpened& event) const {
  const SegmentRecord* known = jobs.find(event.key);
  if (known != nullptr && known->end() < event.begin) return ends_before_it_begins(event);
  if (fresh_since(event.begin) == Applied::needs_replay) return Applied::needs_replay;
  // An organization that is new to the books would get this id.
  const OrgId next{static_cast<std::uint32_t>(organizations.names().size())};
  const OrgId organization = organizations.find(event.organization).value_or(next);
  SegmentFact fact = posting.fact_of_asked(event, organization);
  if (known != nullptr) fact.end = known->end();
  return accounts.is_too_old(nullptr, &fact) ? Applied::needs_replay : Applied::changed;
}

template <>
Expected<Applied> State::Impl::check_reach(const SegmentClosed& event) const {
  const SegmentRecord* known = jobs.find(event.key);
  const bool is_opened = known != nullptr && known->opened;
  if (is_opened && event.end < known->live.opened.begin) return ends_before_it_begins(event);
  if (fresh_since(event.end) == Applied::needs_replay) return Applied::needs_replay;
  const bool vanishes = is_opened && event.end == known->live.opened.begin;
  if (vanishes && stays_for_estimators(*known)) return Applied::needs_replay;
  // Runs change nothing of other requests.
  if (!is_opened || !known->counts() || event.key.kind == SegmentKind::run) return Applied::changed;
  const SegmentFact before = posting.fact_of(*known);
  SegmentFact after = before;
  after.end = event.end;
  return accounts.is_too_old(&before, &after) ? Applied::needs_replay : Applied::changed;
}

template <>
Expected<Applied> State::Impl::check_reach(const SegmentRetracted& event) const {
  const SegmentRecord* known = jobs.find(event.key);
  // It reaches back to the segment's begin. A segment from before the memory horizon that is not known may be
  // forgotten.
  if (known == nullptr || !known->opened) return fresh_since(std::min(event.at, event.key.anchor));
  if (stays_for_estimators(*known)) return Applied::needs_replay;
  const Applied fresh = fresh_since(known->live.opened.begin);
  if (fresh == Applied::needs_replay || !known->counts() || event.key.kind == SegmentKind::run) return fresh;
  const SegmentFact fact = posting.fact_of(*known);
  return accounts.is_too_old(&fact, nullptr) ? Applied::needs_replay : Applied::changed;
}

Expected<Applied> State::Impl::validate(const Event& event) const {
  return std::visit(
      [&](const auto& fact) -> Expected<Applied> {
        const std::optional<bool> same = repeats(fact);
        if (!same) return check_reach(fact);
        if (*same) return Applied::duplicate;
        return fail(Errc::conflict, event_key(event) + ": recorded before with another content; the first fact stays");
      },
      event);
}

}  // namespace shapley::accounting
