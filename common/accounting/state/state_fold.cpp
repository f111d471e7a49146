// The changes that each kind of event, and the passing of time, make to the books.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "accounting/events/event_check.hpp"
#include "accounting/state/state_impl.hpp"
#include "base/text.hpp"

namespace shapley::accounting {

State::Impl::Impl(StateOptions state_options)
    : options(state_options),
      accounts(options.left_out),
      posting(present, organizations, nodes, kinds, placements, jobs, accounts) {
  set_organizations();
}

void State::Impl::set_organizations() {
  accounts.set_organizations(organizations, rows_by(kept.all<AdjustmentMade>(), organizations));
  forgotten_starts.resize(organizations.names().size(), k_beginning_of_time);
}

OrgId State::Impl::join(std::string_view name) {
  const std::size_t before = organizations.names().size();
  const OrgId id = organizations.join(name);
  if (organizations.names().size() != before) set_organizations();
  return id;
}

template <typename Fact>
void State::Impl::fold(const Fact& event) {
  if constexpr (requires { jobs.note(event); }) {
    jobs.note(event);
  } else if constexpr (requires { posting.post(event); }) {
    posting.post(event);
  } else {
    kept.keep(event);
  }
}

template <>
void State::Impl::fold(const SegmentOpened& event) {
  join(event.organization);
  RememberedJob& job = jobs.obtain(event.key.job);
  SegmentRecord& record = job.obtain(event.key);
  record.live.opened = event;
  for (const NodeShare& share : event.nodes) nodes.named(share.node).jobs.push_back(event.key.job);
  if (record.retracted) {
    record.opened = true;
  } else {
    posting.enter(record, 1, [&] { record.opened = true; });
  }
  job.refresh();
}

template <>
void State::Impl::fold(const SegmentClosed& event) {
  SegmentRecord& record = jobs.obtain(event.key.job).obtain(event.key);
  const auto mutate = [&] {
    record.live.end = event.end;
    record.reason = event.reason;
    record.job_state_hash = fnv1a(event.job_state);
  };
  if (!record.counts()) return mutate();
  posting.close(record, event.end, mutate);
}

template <>
void State::Impl::fold(const SegmentRetracted& event) {
  RememberedJob& job = jobs.obtain(event.key.job);
  SegmentRecord& record = job.obtain(event.key);
  const auto mutate = [&] {
    record.retracted = true;
    record.retracted_at = event.at;
  };
  if (record.counts()) {
    posting.enter(record, -1, mutate);
  } else {
    mutate();
  }
  job.refresh();
}

template <>
void State::Impl::fold(const OrganizationsDeclared& event) {
  for (const std::string& name : event.names) join(name);
  organizations.declare(event.at, event.names);
}

std::vector<Ownership::Span> State::Impl::spans_of(const OwnershipStated& event) {
  std::vector<Ownership::Span> spans;
  for (const OwnershipSpan& span : event.spans) {
    Ownership::Span& known = spans.emplace_back(Ownership::Span{span.from, {}});
    std::int64_t commons = k_whole_node;
    for (const OwnerPart& part : span.owners) {
      const OrgId owner = join(part.organization);
      if (owner == k_commons_id) continue;
      known.owners.push_back({owner, part.parts_per_million});
      commons -= part.parts_per_million;
    }
    if (commons > 0) known.owners.push_back({k_commons_id, commons});
  }
  return spans;
}

template <>
void State::Impl::fold(const OwnershipStated& event) {
  std::vector<Ownership::Span> spans = spans_of(event);
  kept.keep(event);
  const std::uint32_t node = nodes.index_of(event.node);
  posting.change_ownership(node, event.effective, [&] {
    nodes.state(node, {event.effective, event.revision}, std::move(spans), present.now);
  });
}

template <>
void State::Impl::fold(const ConfigurationLoaded& event) {
  configurations[event.at] = fnv1a(event.text);
}

template <>
void State::Impl::fold(const AdjustmentMade& event) {
  for (const std::string* name : {&event.organization, &event.into}) {
    if (!name->empty()) join(*name);
  }
  const auto keep = [&] {
    kept.keep(event);
    accounts.set_rows(rows_by(kept.all<AdjustmentMade>(), organizations));
  };
  const bool joins = event.kind == AdjustmentKind::rename || event.kind == AdjustmentKind::merge;
  if (joins || event.kind == AdjustmentKind::reverse) {
    posting.change_rows(keep);
  } else {
    keep();
  }
}

template <>
void State::Impl::fold(const WorkSettled& event) {
  const OrgId from = join(event.from);
  const OrgId to = join(event.to);
  kept.keep(event);
  accounts.settle({from, to, event.at, event.work});
  closed_stale = true;
}

template <>
void State::Impl::fold(const HindsightBounded& event) {
  kept.keep(event);
  accounts.keep_at_most(event.coalitions);
}

template <>
void State::Impl::fold(const HindsightDefined& event) {
  kept.keep(event);
  posting.define(event);
}

// Ranks are made from the newest statement of each cluster only.
template <>
void State::Impl::fold(const StandingReceived& event) {
  const auto& all = kept.all<StandingReceived>();
  const auto last = std::ranges::find(all, event.cluster, &StandingReceived::cluster);
  if (last != all.end() && last->at > event.at) return;
  if (last != all.end()) kept.forget(*last);
  kept.keep(event);
}

void State::Impl::fold(const Event& event) {
  present.first_event = std::min(present.first_event, begin_by(event));
  std::visit([this](const auto& fact) { fold(fact); }, event);
}

void State::Impl::note_start(const SegmentRecord& record, std::vector<Instant>& starts) const {
  const SegmentKey& key = record.live.opened.key;
  if (!record.counts() || key.kind != SegmentKind::run) return;
  Instant& last = starts[posting.organization_of(record).value];
  last = std::max(last, key.anchor);
}

void State::Impl::advance(Instant t) {
  t = std::min(t, k_last_instant);
  // The known length of a run grows while it goes on, and so do the figures of a closed period.
  if (t > present.now) closed_stale = true;
  while (true) {
    const Instant next = std::min(nodes.next_hand_over(), accounts.next_boundary());
    if (next > t) break;
    present.now = next;
    if (next == accounts.next_boundary()) {
      accounts.close_period();
    }
    while (nodes.next_hand_over() == next) {
      const std::uint32_t node = nodes.next_to_hand_over();
      posting.change_ownership(node, next, [&] { nodes.hand_over(node, next); });
    }
  }
  present.now = std::max(present.now, t);
}

bool State::Impl::compact(Instant keep, std::uint64_t effort) {
  if (present.now == k_beginning_of_time) return true;
  const Instant far_enough =
      std::max(present.now - options.memory_horizon,
               std::min(present.now - options.shortest_memory_horizon, jobs.begin_of_latest(options.most_finished)));
  const Instant wanted = std::min(far_enough, keep);
  if (wanted <= present.memory_horizon) return true;
  const Instant next = accounts.forgettable(wanted, effort);
  if (next <= present.memory_horizon) return false;
  present.memory_horizon = next;
  accounts.forget_before(next);
  // Data derived from jobs is updated for the forgotten jobs only: most stay, and a walk over all takes long.
  std::unordered_set<JobId> changed;
  std::vector<bool> lose_some(nodes.size());  // nodes that lose some of their jobs; by index
  jobs.forget_before(next, [&](const SegmentRecord& record) {
    note_start(record, forgotten_starts);
    posting.forget(record);
    const SegmentOpened& opened = record.live.opened;
    if (opened.nodes.empty()) return;
    changed.insert(opened.key.job);
    for (const NodeShare& share : opened.nodes) lose_some[nodes.index_of(share.node)] = true;
  });
  // Which kinds of nodes a job may use was determined by its placement when it was released.
  placements.forget_before(kinds.empty() ? next : std::min(next, jobs.first_release()));
  nodes.forget_before(next);
  posting.forget_jobs_of_nodes(changed, lose_some);
  return next == wanted;
}

}  // namespace shapley::accounting
