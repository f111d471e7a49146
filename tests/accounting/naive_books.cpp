#include "naive_books.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <tuple>

#include "naive_facts.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::accounting::naive {

namespace {

// Since when Slurm could have started what a run or a wait asks for, and the job that it waits as. The scenarios are
// shorter than the time for which a run is believed that was not seen to wait.
Instant released_at(const SegmentOpened& opened) {
  if (opened.key.kind == SegmentKind::wait) return opened.key.anchor;
  return opened.released ? *opened.released : opened.begin;
}
JobId waiting_job(const SegmentOpened& opened) {
  return opened.waited_as == JobId{} ? opened.key.job : opened.waited_as;
}

// The definition of hindsight in force at t; nullptr: none.
const HindsightDefined* defined_at(const Facts& facts, Instant t) {
  const HindsightDefined* last = nullptr;
  for (const HindsightDefined& definition : facts.definitions) {
    if (definition.at <= t) last = &definition;
  }
  return last;
}

std::size_t kind_by(const HindsightDefined* definition, const std::string& node) {
  if (definition == nullptr) return 0;
  for (std::size_t i = 0; i < definition->kinds.size(); ++i) {
    if (names_of(definition->kinds[i]).contains(node)) return i + 1;
  }
  return 0;
}

// What a task of this wait or run asks for: how much starts together, and the kinds that it may use as of its release.
struct Wish {
  std::int64_t width = 0;
  std::set<std::size_t> kinds{0};
  friend bool operator==(const Wish&, const Wish&) = default;
};

Wish wish_of(const Facts& facts, const SegmentOpened& opened) {
  Wish wish;
  const Instant released = released_at(opened);
  const HindsightDefined* definition = defined_at(facts, released);
  if (definition == nullptr) return wish;
  if (definition->jobs == JobsStart::whole)
    wish.width = opened.processors.value / std::max<std::int64_t>(opened.tasks, 1);
  const std::set<std::string> usable = usable_at(facts, opened.placement, released);
  if (!usable.empty()) wish.kinds.clear();
  for (const std::string& node : usable) wish.kinds.insert(kind_by(definition, node));
  for (const HindsightDefined& so_far : facts.definitions) {  // any kind that nodes have been of
    for (const std::string& node : facts.nodes) {
      if (usable.empty() && so_far.at <= released) wish.kinds.insert(kind_by(&so_far, node));
    }
  }
  return wish;
}

// The kinds in the order in which they are tried: ascending, and those that later became ones of their own right behind
// the one that they were part of.
std::vector<std::size_t> tried(const Facts& facts, const Wish& wish, Instant released) {
  std::vector<std::size_t> kinds(wish.kinds.begin(), wish.kinds.end());
  std::set<std::size_t> used{0};
  const HindsightDefined* before = nullptr;
  for (const HindsightDefined& definition : facts.definitions) {
    std::map<std::size_t, std::set<std::size_t>> parts;  // by what they were part of
    std::set<std::size_t> now;
    for (const std::string& node : facts.nodes) {
      const std::size_t kind = kind_by(&definition, node);
      now.insert(kind);
      if (!used.contains(kind)) parts[kind_by(before, node)].insert(kind);
    }
    for (const auto& [of, added] : parts) {
      if (definition.at <= released) continue;
      for (auto kind = added.rbegin(); kind != added.rend(); ++kind) {
        const auto place = std::find(kinds.begin(), kinds.end(), of);
        const bool is_there = std::find(kinds.begin(), kinds.end(), *kind) != kinds.end();
        if (place != kinds.end() && !is_there) kinds.insert(place + 1, *kind);
      }
    }
    used.merge(now);
    before = &definition;
  }
  return kinds;
}

// Since when the job of this wait has waited for the same.
Instant asked_since(const Facts& facts, const std::vector<const Held*>& waits, const Held& wait) {
  Instant since = wait.opened.begin;
  bool is_first = true;
  for (auto before = waits.rbegin(); before != waits.rend(); ++before) {
    const SegmentOpened& opened = (*before)->opened;
    if (opened.key.job != wait.opened.key.job || opened.begin >= since) continue;
    if (wish_of(facts, opened) != wish_of(facts, wait.opened)) {
      is_first = false;
      break;
    }
    since = opened.begin;
  }
  return is_first ? released_at(wait.opened) : since;
}

// A request as it is asked for: by itself, or, of a run, by the last wait before it that it can have ended.
void ask(const Facts& facts, const Held& held, hindsight::naive::Request& request) {
  const SegmentOpened& opened = held.opened;
  std::vector<const Held*> waits;  // of what is released and ordered together, by begin
  for (const Held& other : facts.segments) {
    const SegmentOpened& o = other.opened;
    if (o.key.kind == SegmentKind::wait && other.end > o.begin && o.processors.value > 0 &&
        o.organization == opened.organization && released_at(o) == released_at(opened) &&
        waiting_job(o) == waiting_job(opened))
      waits.push_back(&other);
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Held* a, const Held* b) { return a->opened.begin < b->opened.begin; });
  const Held* by = &held;
  if (opened.key.kind == SegmentKind::run) {
    for (const JobId job : {waiting_job(opened), opened.key.job}) {
      for (const Held* wait : waits) {
        const bool has_begun = wait->opened.begin < opened.begin;
        if (has_begun && wait->end >= opened.begin && wait->opened.key.job == job) by = wait;
      }
    }
  }
  const Wish wish = wish_of(facts, by->opened);
  if (by->opened.key.kind == SegmentKind::wait) request.release = asked_since(facts, waits, *by).value;
  request.width = wish.width;
  request.kinds = tried(facts, wish, {request.release});
  if (opened.key.kind == SegmentKind::run && wish.width > 0) request.charged = opened.processors.value;
}

// What the virtual coalitions know of: every run is a request, and so is what still waits. Those of an organization
// come by release and job; of one job by what they ask for; of that those that started first, and then what waits.
hindsight::naive::Facts virtual_facts(const Facts& facts, Instant begin, Instant now) {
  const std::vector<std::string> names(facts.organizations.begin(), facts.organizations.end());
  const auto index_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
  };
  using Form = std::pair<std::vector<std::size_t>, std::int64_t>;
  using Place = std::tuple<Instant, std::size_t, JobId, Form, std::int64_t, std::uint32_t, std::uint32_t>;
  std::map<Place, hindsight::naive::Request> in_order;
  for (const Held& held : facts.segments) {
    const SegmentOpened& opened = held.opened;
    const bool waits = opened.key.kind == SegmentKind::wait;
    const bool is_closed = held.end != k_end_of_time;
    if (held.end == opened.begin || (waits && is_closed)) continue;
    hindsight::naive::Request request;
    request.organization = index_of(opened.organization);
    request.amount = opened.processors.value;
    const Instant released = released_at(opened);
    request.release = released.value;
    if (is_closed) request.duration = (held.end - opened.begin).value;
    ask(facts, held, request);
    in_order[{{request.release},
              request.organization,
              waiting_job(opened),
              Form{request.kinds, request.width},
              waits ? std::numeric_limits<std::int64_t>::max() : opened.begin.value,
              opened.key.job.value,
              opened.key.ordinal}] = request;
  }
  hindsight::naive::Facts virtual_facts;
  for (auto& [place, request] : in_order) {
    request.order = virtual_facts.requests.size();
    virtual_facts.requests.push_back(request);
  }
  virtual_facts.processor = k_micro;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> owned;  // by organization and kind
  for (Instant t = begin; t < now; t = t + Duration{1}) {
    Second second = during(facts, t);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> owns;
    for (const auto& [node, parts] : second.offered) {
      for (const auto& [name, part] : parts) owns[{index_of(name), kind_by(defined_at(facts, t), node)}] += part;
    }
    for (const auto& [of, amount] : owned) owns.try_emplace(of, 0);
    for (const auto& [of, amount] : owns) {
      if (amount != owned[of]) virtual_facts.capacity.push_back({t.value, of.first, amount - owned[of], of.second});
      owned[of] = amount;
    }
  }
  return virtual_facts;
}

// Splits `total` as the Shapley values of v say, by marginal contributions to every coalition, and what each has
// besides, times players!.
std::vector<Int128> split_by_coalitions(const std::vector<Int128>& values, const std::vector<Int128>& besides,
                                        Int128 total) {
  const std::size_t players = besides.size();
  std::vector<Int128> scaled = besides;
  const Int128 scale = hindsight::naive::factorial(players);
  for (std::uint32_t c = 0; c < values.size(); ++c) {
    for (std::size_t u = 0; u < players; ++u) {
      if (hindsight::naive::holds(c, u)) continue;
      const auto size = static_cast<std::size_t>(std::popcount(c));
      scaled[u] += hindsight::naive::factorial(size) * hindsight::naive::factorial(players - 1 - size) *
                   (values[c | 1U << u] - values[c]);
    }
  }
  std::vector<std::pair<Int128, std::size_t>> remainders;
  std::vector<Int128> parts(players);
  for (std::size_t u = 0; u < players; ++u) {
    const Int128 remainder = ((scaled[u] % scale) + scale) % scale;
    parts[u] = (scaled[u] - remainder) / scale;
    remainders.emplace_back(-remainder, u);
    total -= parts[u];
  }
  std::sort(remainders.begin(), remainders.end());
  for (const auto& [remainder, u] : remainders) {
    if (total <= 0) break;
    ++parts[u];
    --total;
  }
  return parts;
}

// Who plays before t: each organization that asked, could have started, ran or offered before, in the order of names.
std::vector<std::size_t> players_before(const hindsight::naive::Facts& virtual_facts, const Facts& facts,
                                        const std::vector<std::string>& names, Instant t) {
  std::set<std::size_t> players;
  for (const auto& change : virtual_facts.capacity) {
    if (change.at < t.value) players.insert(change.organization);
  }
  for (const Held& held : facts.segments) {
    const Instant joined = std::min(held.opened.begin, released_at(held.opened));
    if (held.end == joined || joined >= t) continue;
    const auto name = std::lower_bound(names.begin(), names.end(), held.opened.organization);
    players.insert(static_cast<std::size_t>(name - names.begin()));
  }
  return {players.begin(), players.end()};
}

// Who offers a processor in the second [s, s+1), or has a request that was released and has not ended; as `players`.
std::set<std::size_t> present_at(const hindsight::naive::Facts& virtual_facts, const Facts& facts,
                                 const std::vector<std::string>& names, const std::vector<std::size_t>& players,
                                 Instant s) {
  std::set<std::size_t> present;
  for (std::size_t i = 0; i < players.size(); ++i) {
    std::int64_t owned = 0;
    for (const auto& change : virtual_facts.capacity) {
      if (change.organization == players[i] && change.at <= s.value) owned += change.by;
    }
    const bool asks = std::any_of(facts.segments.begin(), facts.segments.end(), [&](const Held& held) {
      const Instant joined = std::min(held.opened.begin, released_at(held.opened));
      return held.opened.organization == names[players[i]] && joined <= s && s < held.end;
    });
    if (owned > 0 || asks) present.insert(i);
  }
  return present;
}

// phi and work given by `hindsight` in the seconds [begin, t), from all that is known at `now`. first: of all facts.
void add_hindsight(const Facts& facts, Instant first, Instant begin, Instant t, Instant now,
                   std::map<std::string, Row>& rows) {
  const hindsight::naive::Facts virtual_schedules = virtual_facts(facts, first, now);
  const std::vector<std::string> names(facts.organizations.begin(), facts.organizations.end());
  const std::vector<std::size_t> players = players_before(virtual_schedules, facts, names, t);
  for (const std::string& name : names) rows[name].credits["hindsight"] = {};
  if (players.empty()) return;
  std::vector<Int128> utility(std::size_t{1} << players.size());
  std::vector<Int128> work(utility.size());
  for (std::uint32_t c = 1; c < utility.size(); ++c) {
    std::uint32_t members = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
      if (hindsight::naive::holds(c, i)) members |= 1U << players[i];
    }
    const auto before = hindsight::naive::value_of(virtual_schedules, members, begin.value);
    const auto after = hindsight::naive::value_of(virtual_schedules, members, t.value);
    utility[c] = after.utility - before.utility - (t - begin).value * before.work;
    work[c] = after.work - before.work;
  }
  Int128 psi = 0;
  Int128 got = 0;
  for (const std::string& name : facts.organizations) {
    psi += rows[name].psi;
    got += rows[name].got;
  }
  std::uint32_t all = 0;
  for (const std::size_t player : players) all |= 1U << player;
  const Int128 scale = hindsight::naive::factorial(players.size());
  std::vector<Int128> gap_of_utility(players.size());
  std::vector<Int128> gap_of_work(players.size());
  for (Instant s = begin; s < t; s = s + Duration{1}) {
    Int128 gap = hindsight::naive::value_of(virtual_schedules, all, s.value).work -
                 hindsight::naive::value_of(virtual_schedules, all, s.value + 1).work;
    Second second = during(facts, s);
    for (const std::string& name : names) gap += second.used[name];
    std::set<std::size_t> sharing = present_at(virtual_schedules, facts, names, players, s);
    if (sharing.empty() && gap != 0) {
      for (Instant then = first; then < s; then = then + Duration{1}) {
        sharing.merge(present_at(virtual_schedules, facts, names, players, then));
      }
    }
    for (const std::size_t i : sharing) {
      const Int128 part = scale / static_cast<Int128>(sharing.size()) * gap;
      gap_of_work[i] += part;
      gap_of_utility[i] += part * (t - s).value;
    }
  }
  const std::vector<Int128> phi = split_by_coalitions(utility, gap_of_utility, psi);
  const std::vector<Int128> given = split_by_coalitions(work, gap_of_work, got);
  for (std::size_t i = 0; i < players.size(); ++i)
    rows[names[players[i]]].credits["hindsight"] = {.phi = {phi[i]}, .given = {given[i]}};
}

// As if all that runs ended now, and all that waits was withdrawn.
Facts ended(Facts facts, Instant now) {
  std::erase_if(facts.segments, [](const Held& held) {
    return held.opened.key.kind == SegmentKind::wait && held.end == k_end_of_time;
  });
  for (Held& held : facts.segments) {
    if (held.end == k_end_of_time) held.end = std::max(now, held.opened.begin + Duration{1});
  }
  return facts;
}

constexpr std::string_view k_estimators[] = {"direct_contr", "hindsight"};

}  // namespace

std::span<const std::string_view> estimators() {
  return k_estimators;
}

std::map<Members, Alone> coalitions(const std::vector<Event>& events, const Span& span) {
  const Facts facts = facts_of(events);
  const hindsight::naive::Facts holding = virtual_facts(facts, span.first, span.now);
  hindsight::naive::Facts ending = virtual_facts(ended(facts, span.now), span.first, span.now);
  ending.capacity = holding.capacity;
  const std::vector<std::string> names(facts.organizations.begin(), facts.organizations.end());
  const std::vector<std::size_t> players = players_before(holding, facts, names, span.end);
  std::map<Members, Alone> coalitions;
  for (std::uint32_t c = 1; c < 1U << players.size(); ++c) {
    Members members;
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < players.size(); ++i) {
      if (!hindsight::naive::holds(c, i)) continue;
      members.insert(names[players[i]]);
      mask |= 1U << players[i];
    }
    const auto in_period = [&](const hindsight::naive::Facts& of) {
      const auto before = hindsight::naive::value_of(of, mask, span.begin.value);
      auto value = hindsight::naive::value_of(of, mask, span.end.value);
      value.utility -= before.utility + (span.end - span.begin).value * before.work;
      value.work -= before.work;
      return value;
    };
    const auto held = in_period(holding);
    coalitions[members] = {held.utility, held.work, in_period(ending).utility};
  }
  return coalitions;
}

namespace {

void add_settled(const Facts& facts, Instant begin, Instant t, std::map<std::string, Row>& rows) {
  for (const WorkSettled& settled : facts.settled) {
    if (settled.at < begin || settled.at >= t) continue;
    const Int128 worth = (t - settled.at).value * settled.work.value;
    rows[settled.to].psi += worth;
    rows[settled.to].got += settled.work.value;
    for (auto& [estimator, credit] : rows[settled.from].credits) {
      credit.phi.value += worth;
      credit.given.value += settled.work.value;
    }
  }
}

}  // namespace

std::map<std::string, Row> books(const std::vector<Event>& events, const Span& span) {
  const auto [first, begin, t, last, now] = span;
  const Facts facts = facts_of(events);
  std::map<std::string, Row> rows;
  for (Instant s = begin; s < t; s = s + Duration{1}) {
    Second second = during(facts, s);
    const Int128 age = (t - s).value;
    for (const std::string& name : facts.organizations) {
      Row& row = rows[name];
      row.psi += age * second.used[name];
      row.got += second.used[name];
      Credit& credit = row.credits["direct_contr"];
      credit.phi.value += age * second.busy[name];
      credit.given.value += second.busy[name];
    }
  }
  add_hindsight(facts, first, begin, t, now, rows);
  Second priced = during(facts, last);
  Second second = during(facts, last, By::blocked);
  for (const std::string& name : facts.organizations) {
    Row& row = rows[name];
    row.charged = priced.used[name];
    row.waiting = priced.waiting[name];
    row.owned = second.owned[name];
    row.used = second.used[name];
    row.lent = second.busy[name] - second.on_own[name];
    row.borrowed = second.used[name] - second.on_own[name];
  }
  add_settled(facts, begin, t, rows);
  return rows;
}

}  // namespace shapley::accounting::naive
