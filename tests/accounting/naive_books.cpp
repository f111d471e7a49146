#include "naive_books.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/game/naive_shapley.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::accounting::naive {

namespace {

template <typename Fact>
std::vector<Fact> all_of_kind(const std::vector<Event>& events) {
  std::vector<Fact> facts;
  for (const Event& event : events) {
    const Fact* fact = std::get_if<Fact>(&event);
    if (fact != nullptr && std::find(facts.begin(), facts.end(), *fact) == facts.end()) facts.push_back(*fact);
  }
  return facts;
}

struct Held {
  SegmentOpened opened;
  Instant end;
};

struct Facts {
  std::vector<Held> segments;
  std::vector<OwnershipStated> statements;
  std::vector<CapacityChanged> capacities;
  std::vector<PlacementResolved> placements;
  std::set<std::string> organizations{std::string(k_guests), std::string(k_commons)};
  std::set<std::string> nodes;
  std::vector<WorkSettled> settled;
};

Facts facts_of(const std::vector<Event>& events) {
  Facts facts;
  facts.statements = all_of_kind<OwnershipStated>(events);
  facts.capacities = all_of_kind<CapacityChanged>(events);
  facts.placements = all_of_kind<PlacementResolved>(events);
  facts.settled = all_of_kind<WorkSettled>(events);
  const auto closed = all_of_kind<SegmentClosed>(events);
  const auto retracted = all_of_kind<SegmentRetracted>(events);
  for (const SegmentOpened& opened : all_of_kind<SegmentOpened>(events)) {
    facts.organizations.insert(opened.organization);
    for (const NodeShare& share : opened.nodes) facts.nodes.insert(share.node);
    if (std::any_of(retracted.begin(), retracted.end(), [&](const auto& r) { return r.key == opened.key; })) continue;
    Held held{opened, k_end_of_time};
    for (const SegmentClosed& close : closed) {
      if (close.key == opened.key) held.end = close.end;
    }
    facts.segments.push_back(held);
  }
  for (const OwnershipStated& s : facts.statements) {
    facts.nodes.insert(s.node);
    for (const OwnershipSpan& span : s.spans) {
      for (const OwnerPart& part : span.owners) facts.organizations.insert(part.organization);
    }
  }
  for (const CapacityChanged& c : facts.capacities) facts.nodes.insert(c.node);
  for (const OrganizationsDeclared& d : all_of_kind<OrganizationsDeclared>(events)) {
    facts.organizations.insert(d.names.begin(), d.names.end());
  }
  return facts;
}

std::vector<OwnerPart> owners_at(const Facts& facts, const std::string& node, Instant t) {
  const OwnershipStated* speaks = nullptr;
  for (const OwnershipStated& s : facts.statements) {
    if (s.node == node && s.effective <= t && (speaks == nullptr || s.effective > speaks->effective)) speaks = &s;
  }
  std::vector<OwnerPart> owners;
  if (speaks != nullptr) {
    for (const OwnershipSpan& span : speaks->spans) {
      if (span.from <= t) owners = span.owners;
    }
  }
  std::int64_t rest = 1'000'000;
  for (const OwnerPart& part : owners) rest -= part.parts_per_million;
  if (rest > 0) owners.push_back({std::string(k_commons), rest});
  return owners;
}

std::map<std::string, std::int64_t> split(std::int64_t total, const std::vector<OwnerPart>& owners) {
  std::vector<Int128> weights;
  for (const OwnerPart& part : owners) weights.push_back(part.parts_per_million);
  const auto parts = game::naive::apportion_by_remainders(total, weights);
  std::map<std::string, std::int64_t> result;
  for (std::size_t i = 0; i < owners.size(); ++i) result[owners[i].organization] += parts[i];
  return result;
}

const CapacityChanged* capacity_at(const Facts& facts, const std::string& node, Instant t) {
  const CapacityChanged* last = nullptr;
  for (const CapacityChanged& c : facts.capacities) {
    if (c.node != node || c.at > t) continue;
    if (last == nullptr || std::pair(c.at, c.ordinal) > std::pair(last->at, last->ordinal)) last = &c;
  }
  return last;
}

// What a run blocks of a node of which CPUs are counted: by each resource as many processors as it has of the resource
// for each that the node has, times the node's CPUs; the most of these.
std::int64_t blocked_by(const NodeShare& share, const CapacityChanged& node) {
  if (share.cpus == 0) return share.processors.value;
  const std::int64_t all = k_micro * node.cpus;
  std::int64_t most = k_micro * share.cpus;
  if (node.memory > 0) most = std::max(most, all * share.memory / node.memory);
  for (const Resource& has : node.gres) {
    for (const Resource& holds : share.gres) {
      if (holds.name == has.name && has.count > 0) most = std::max(most, all * holds.count / has.count);
    }
  }
  return std::clamp(most, std::int64_t{1}, all);
}

// By price: what runs are charged, what nodes are worth and offer. By blocked: in processors.
enum class By { price, blocked };

bool counts_cpus(const CapacityChanged* capacity, By by) {
  return by == By::blocked && capacity != nullptr && capacity->usable_cpus;
}

std::int64_t offered(const CapacityChanged* capacity, By by) {
  if (counts_cpus(capacity, by)) return k_micro * *capacity->usable_cpus;
  return capacity == nullptr ? 0 : capacity->processors.value;
}

// What each segment holds of `node` during [t, t+1): what it claims or, where all claim more than the whole node is
// worth, its part of that, by key.
std::map<SegmentKey, std::int64_t> held_on(const Facts& facts, const std::string& node, Instant t, By by) {
  const CapacityChanged* capacity = capacity_at(facts, node, t);
  std::map<SegmentKey, std::int64_t> held;
  std::int64_t sum = 0;
  for (const Held& segment : facts.segments) {
    if (segment.opened.begin > t || segment.end <= t) continue;
    for (const NodeShare& share : segment.opened.nodes) {
      if (share.node != node) continue;
      held[segment.opened.key] = counts_cpus(capacity, by) ? blocked_by(share, *capacity) : share.processors.value;
      sum += held[segment.opened.key];
    }
  }
  const std::int64_t whole = counts_cpus(capacity, by) ? k_micro * capacity->cpus
                             : capacity == nullptr     ? 0
                                                       : capacity->whole.value;
  if (whole == 0 || sum <= whole) return held;
  std::vector<Int128> weights;
  for (const auto& [key, claimed] : held) weights.push_back(claimed);
  const auto parts = game::naive::apportion_by_remainders(whole, weights);
  std::size_t i = 0;
  for (auto& [key, amount] : held) amount = parts[i++];
  return held;
}

// The nodes that jobs of the placement may use at t, as the scenarios write them: names and commas.
std::set<std::string> usable_at(const Facts& facts, const std::string& placement, Instant t) {
  const PlacementResolved* last = nullptr;
  for (const PlacementResolved& p : facts.placements) {
    if (p.placement != placement || p.at > t) continue;
    if (last == nullptr || std::pair(p.at, p.ordinal) > std::pair(last->at, last->ordinal)) last = &p;
  }
  std::set<std::string> nodes;
  std::istringstream names(last == nullptr ? std::string{} : last->nodes);
  for (std::string name; std::getline(names, name, ',');) nodes.insert(name);
  return nodes;
}

struct Placed {
  std::map<std::string, std::int64_t> waiting, used;
};

// Everything that holds during the second [t, t+1).
struct Second {
  std::map<std::string, std::int64_t> used, waiting, owned, busy, on_own, rate;
  std::map<std::string, Placed> placed;                                // of `waiting` and `used`, by placement
  std::map<std::string, std::map<std::string, std::int64_t>> offered;  // `owned` by node
};

void add_rates(const Facts& facts, Instant t, Second& second) {
  std::map<std::string, std::int64_t> anywhere = second.used;
  std::int64_t running = 0;
  for (const std::string& name : facts.organizations) {
    anywhere[name] += second.waiting[name];
    running += second.used[name];
  }
  std::vector<game::naive::Players> placements;
  for (auto& [placement, placed] : second.placed) {
    std::map<std::string, std::int64_t> demand = placed.waiting, offered, with_runs = placed.waiting;
    std::int64_t sum_offered = 0, sum_running = 0;
    for (const std::string& node : usable_at(facts, placement, t)) {
      for (const auto& [name, part] : second.offered[node]) {
        offered[name] += part;
        sum_offered += part;
      }
    }
    for (const auto& [name, used] : placed.used) {
      with_runs[name] += used;
      sum_running += used;
    }
    if (sum_running <= sum_offered) demand = with_runs;
    placements.emplace_back();
    for (const std::string& name : facts.organizations) {
      placements.back().emplace_back(demand[name], offered[name]);
      anywhere[name] -= demand[name];
    }
  }
  game::naive::Players players;
  for (const std::string& name : facts.organizations) players.emplace_back(anywhere[name], second.owned[name]);
  const auto rates = game::naive::apportion_by_remainders(running, game::naive::shapley_by_orders(players, placements));
  std::size_t i = 0;
  for (const std::string& name : facts.organizations) second.rate[name] = rates[i++];
}

Second during(const Facts& facts, Instant t, By by = By::price) {
  Second second;
  std::map<SegmentKey, std::string> organization_of, placement_of;
  for (const Held& held : facts.segments) {
    if (held.opened.begin > t || held.end <= t) continue;
    organization_of[held.opened.key] = held.opened.organization;
    placement_of[held.opened.key] = held.opened.placement;
    if (held.opened.key.kind == SegmentKind::wait) {
      second.waiting[held.opened.organization] += held.opened.processors.value;
      if (!held.opened.placement.empty()) {
        second.placed[held.opened.placement].waiting[held.opened.organization] += held.opened.processors.value;
      }
    }
  }
  for (const std::string& node : facts.nodes) {
    std::int64_t running = 0;
    for (const auto& [key, amount] : held_on(facts, node, t, by)) {
      const std::string& organization = organization_of[key];
      second.used[organization] += amount;
      if (const std::string& placement = placement_of[key]; !placement.empty()) {
        second.placed[placement].used[organization] += amount;
      }
      running += amount;
      for (const auto& [owner, part] : split(amount, owners_at(facts, node, t))) {
        second.busy[owner] += part;
        if (owner == organization) second.on_own[owner] += part;
      }
    }
    const CapacityChanged* capacity = capacity_at(facts, node, t);
    const std::int64_t there = std::max(offered(capacity, by), running);
    for (const auto& [owner, part] : split(there, owners_at(facts, node, t))) {
      second.owned[owner] += part;
      second.offered[node][owner] += part;
    }
  }
  add_rates(facts, t, second);
  return second;
}

// Since when Slurm could have started what a run or a wait asks for, and the job that it waits as. The scenarios are
// shorter than the time for which a run is believed that was not seen to wait.
Instant released_at(const SegmentOpened& opened) {
  if (opened.key.kind == SegmentKind::wait) return opened.key.anchor;
  return opened.released ? *opened.released : opened.begin;
}
JobId waiting_job(const SegmentOpened& opened) {
  return opened.waited_as == JobId{} ? opened.key.job : opened.waited_as;
}

// What the virtual coalitions know of: every run is a request, and so is what still waits. Those of an organization
// come by release and job; of one job those that started first, and then what waits.
hindsight::naive::Facts virtual_facts(const Facts& facts, Instant begin, Instant now) {
  const std::vector<std::string> names(facts.organizations.begin(), facts.organizations.end());
  const auto index_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
  };
  using Place = std::tuple<Instant, std::size_t, JobId, std::int64_t, std::uint32_t, std::uint32_t>;
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
    in_order[{released, request.organization, waiting_job(opened),
              waits ? std::numeric_limits<std::int64_t>::max() : opened.begin.value, opened.key.job.value,
              opened.key.ordinal}] = request;
  }
  hindsight::naive::Facts virtual_facts;
  for (auto& [place, request] : in_order) {
    request.order = virtual_facts.requests.size();
    virtual_facts.requests.push_back(request);
  }
  std::map<std::string, std::int64_t> owned;
  for (Instant t = begin; t < now; t = t + Duration{1}) {
    Second second = during(facts, t);
    for (std::size_t u = 0; u < names.size(); ++u) {
      const std::int64_t by = second.owned[names[u]] - owned[names[u]];
      if (by != 0) virtual_facts.capacity.push_back({t.value, u, by});
      owned[names[u]] += by;
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

constexpr std::string_view k_estimators[] = {"direct_contr", "shapley_rate", "hindsight"};

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
      for (auto& [estimator, given] :
           {std::pair("direct_contr", &second.busy), std::pair("shapley_rate", &second.rate)}) {
        Credit& credit = row.credits[estimator];
        credit.phi.value += age * (*given)[name];
        credit.given.value += (*given)[name];
      }
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
