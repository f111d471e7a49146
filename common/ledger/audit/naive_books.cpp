#include "ledger/audit/naive_books.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace shapley::ledger {

std::optional<accounting::Credit> credit_of(const NaiveRow& row, accounting::EstimatorId estimator) {
  return accounting::estimators()[estimator.value].by_owner ? std::optional(row.by_owner) : std::nullopt;
}

NaiveBooks::NaiveBooks(const Facts& facts, const std::vector<Instant>& instants)
    : facts_(facts), owners_(facts.organizations) {
  commons_ = owners_.number_of(std::string(accounting::k_commons));
  for (std::uint32_t node = 0; node < facts.nodes.size(); ++node) nodes_.push_back(stretches_of(node));
  present_.resize(owners_.size());
  for (const Instant t : instants) not_yet_retracted_.emplace(t, present_);
}

// The statement with the greatest effective <= t is in force, and in it the last span that has begun; commons owns what
// it leaves.
std::vector<NaiveBooks::Part> NaiveBooks::owners_at(
    const std::map<Instant, std::vector<accounting::OwnershipSpan>>& statements, Instant t) {
  const std::vector<accounting::OwnershipSpan>* speaking = nullptr;
  for (const auto& [effective, spans] : statements) {
    if (effective <= t) speaking = &spans;
  }
  const accounting::OwnershipSpan* holding = nullptr;
  if (speaking != nullptr) {
    for (const accounting::OwnershipSpan& span : *speaking) {
      if (span.from <= t) holding = &span;
    }
  }
  std::vector<Part> parts;
  std::int64_t rest = accounting::k_whole_node;
  if (holding != nullptr) {
    for (const accounting::OwnerPart& owner : holding->owners) {
      if (owner.organization == accounting::k_commons) continue;
      parts.push_back({owners_.number_of(owner.organization), owner.parts_per_million});
      rest -= owner.parts_per_million;
    }
  }
  if (rest > 0) parts.push_back({commons_, rest});
  return parts;
}

std::vector<NaiveBooks::Stretch> NaiveBooks::stretches_of(std::uint32_t node) {
  const auto known = facts_.ownership.find(node);
  if (known == facts_.ownership.end())
    return {{k_beginning_of_time, k_end_of_time, {{commons_, accounting::k_whole_node}}}};
  std::set<Instant> cuts{k_beginning_of_time};
  for (const auto& [effective, spans] : known->second) {
    cuts.insert(effective);
    for (const accounting::OwnershipSpan& span : spans) cuts.insert(span.from);
  }
  std::vector<Stretch> stretches;
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    const auto next = std::next(cut);
    stretches.push_back({*cut, next == cuts.end() ? k_end_of_time : *next, owners_at(known->second, *cut)});
  }
  return stretches;
}

Instant NaiveBooks::period_begin_at(Instant t) const {
  Instant begin = k_beginning_of_time;
  for (auto rule = facts_.periods.begin(); rule != facts_.periods.end() && rule->first <= t; ++rule) {
    // This rule's boundaries lie after its own declaration, up to the next declaration's instant.
    const auto next = std::next(rule);
    const Instant last = next == facts_.periods.end() ? t : std::min(t, next->first);
    const Instant boundary = period_begin(rule->second, last);
    if (boundary > rule->first) begin = std::max(begin, boundary);
  }
  return begin;
}

void NaiveBooks::credit(std::uint32_t user, std::uint32_t node, const HeldStretch& held, int sign,
                        NaiveAccounts& accounts) const {
  for (const Stretch& stretch : nodes_[node]) {
    const Instant a = std::max(held.begin, stretch.begin);
    const Instant b = std::min(held.end, stretch.end);
    if (a >= b) continue;
    accounts[user].used.add(sign * static_cast<Int128>(held.processors), a, b);
    std::vector<std::int64_t> parts;
    for (const Part& part : stretch.parts) parts.push_back(part.parts_per_million);
    const auto amounts = divided(held.processors, parts);
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      accounts[stretch.parts[i].owner].given.add(sign * static_cast<Int128>(amounts[i]), a, b);
    }
  }
}

std::map<std::uint32_t, NaiveBooks::NodeUses> NaiveBooks::uses_in(const Span& span) const {
  std::map<std::uint32_t, NodeUses> by_node;
  for (const auto& [key, segment] : facts_.segments) {
    if (key.kind != accounting::SegmentKind::run || !segment.begin || *segment.begin > span.known) continue;
    if (segment.retracted && *segment.retracted <= span.known) continue;
    const bool ended = segment.end && *segment.end <= span.known;
    const Instant begin = std::max(*segment.begin, span.begin);
    const Instant end = ended ? std::min(*segment.end, span.end) : span.end;
    if (begin >= end) continue;
    for (const auto& [node, claimed] : segment.nodes) {
      NodeUses& there = by_node[node];
      there.uses.push_back({begin, end, claimed.value});
      there.users.push_back(segment.organization);
    }
  }
  return by_node;
}

void NaiveBooks::fold_node(std::uint32_t node, const NodeUses& uses, const Span& span, int sign,
                           NaiveAccounts& accounts) const {
  WholeNode whole;
  if (const auto known = facts_.whole_nodes.find(node); known != facts_.whole_nodes.end()) {
    for (const auto& [when, worth] : known->second) {
      if (when.first <= span.known) whole.emplace(when, worth);
    }
  }
  const auto held = held_stretches(uses.uses, whole);
  for (std::size_t i = 0; i < held.size(); ++i) {
    for (const HeldStretch& stretch : held[i]) credit(uses.users[i], node, stretch, sign, accounts);
  }
}

void NaiveBooks::fold(const Span& span, NaiveAccounts& accounts) const {
  for (const auto& [node, uses] : uses_in(span)) fold_node(node, uses, span, 1, accounts);
}

NaiveRows NaiveBooks::rows_of(const NaiveAccounts& accounts, Instant t) const {
  NaiveRows rows;
  for (std::uint32_t i = 0; i < accounts.size(); ++i) {
    const NaiveAccount& account = accounts[i];
    rows.emplace(owners_.name_of(i), NaiveRow{.psi = account.used.utility_at(t),
                                              .got = account.used.work(),
                                              .by_owner = {account.given.utility_at(t), account.given.work()}});
  }
  return rows;
}

NaiveRows NaiveBooks::at(Instant t) const {
  const Instant begin = period_begin_at(t);
  NaiveAccounts accounts(owners_.size());
  if (settled_ > begin) {
    accounts = present_;
    if (const auto more = not_yet_retracted_.find(t); more != not_yet_retracted_.end()) {
      for (std::size_t i = 0; i < accounts.size(); ++i) {
        accounts[i].used += more->second[i].used;
        accounts[i].given += more->second[i].given;
      }
    }
  }
  fold({std::max(begin, settled_), t, t}, accounts);
  add_settled(begin, t + Duration{1}, accounts);
  return rows_of(accounts, t);
}

void NaiveBooks::add_settled(Instant begin, Instant until, NaiveAccounts& accounts) const {
  for (const auto& [number, settled] : facts_.settled) {
    if (settled.at < begin || settled.at >= until) continue;
    for (std::uint32_t i = 0; i < accounts.size(); ++i) {
      NaiveAccount& account = accounts[i];
      if (owners_.name_of(i) == settled.to) account.used.add(settled.work.value, settled.at, settled.at + Duration{1});
      if (owners_.name_of(i) == settled.from)
        account.given.add(settled.work.value, settled.at, settled.at + Duration{1});
    }
  }
}

NaiveRows NaiveBooks::of_period(const Span& span) const {
  SHAPLEY_REQUIRE(settled_ <= span.begin);
  NaiveAccounts accounts(owners_.size());
  fold(span, accounts);
  add_settled(span.begin, span.end, accounts);
  return rows_of(accounts, span.end);
}

std::vector<std::uint32_t> NaiveBooks::nodes_of_retracted(const Span& span) const {
  std::set<std::uint32_t> nodes;
  for (const auto& [key, segment] : facts_.segments) {
    if (!segment.retracted || *segment.retracted <= span.known || !segment.begin || *segment.begin >= span.end)
      continue;
    for (const auto& [node, claimed] : segment.nodes) nodes.insert(node);
  }
  return {nodes.begin(), nodes.end()};
}

void NaiveBooks::settle_within_period(Instant upto) {
  const Span last{settled_, upto, k_end_of_time};
  const auto uses_at_last = uses_in(last);
  for (const auto& [node, uses] : uses_at_last) fold_node(node, uses, last, 1, present_);
  for (auto& [t, accounts] : not_yet_retracted_) {
    if (t < upto) continue;
    const Span then{settled_, upto, t};
    const auto nodes = nodes_of_retracted(then);
    if (nodes.empty()) continue;
    const auto uses_then = uses_in(then);
    for (const std::uint32_t node : nodes) {
      if (const auto found = uses_then.find(node); found != uses_then.end()) {
        fold_node(node, found->second, then, 1, accounts);
      }
      if (const auto found = uses_at_last.find(node); found != uses_at_last.end()) {
        fold_node(node, found->second, last, -1, accounts);
      }
    }
  }
  settled_ = upto;
}

void NaiveBooks::close_period(Instant end) {
  add_settled(period_begin_at(end - Duration{1}), end, present_);
  closed_.emplace(end, rows_of(present_, end));
  present_.assign(owners_.size(), {});
  for (auto& [t, accounts] : not_yet_retracted_) accounts.assign(owners_.size(), {});
}

void NaiveBooks::settle(Instant upto) {
  if (upto <= settled_) return;
  std::erase_if(not_yet_retracted_, [&](const auto& entry) { return entry.first < settled_; });
  std::vector<Instant> boundaries;
  for (Instant b = period_begin_at(upto); b > settled_; b = period_begin_at(b - Duration{1})) boundaries.push_back(b);
  for (auto boundary = boundaries.rbegin(); boundary != boundaries.rend(); ++boundary) {
    settle_within_period(*boundary);
    close_period(*boundary);
  }
  settle_within_period(upto);
}

namespace {

// Whether the claims of some instant exceed the least that the node was ever worth: then runs may have to share.
bool may_be_shared(const std::vector<NodeClaim>& uses, const WholeNode& whole) {
  std::int64_t least = 0;
  for (const auto& [when, worth] : whole) {
    if (worth > 0 && (least == 0 || worth < least)) least = worth;
  }
  if (least == 0) return false;
  std::map<Instant, Int128> changes;
  for (const NodeClaim& use : uses) {
    changes[use.begin] += use.claimed;
    changes[use.end] -= use.claimed;
  }
  Int128 sum = 0;
  return std::any_of(changes.begin(), changes.end(),
                     [&](const auto& change) { return (sum += change.second) > least; });
}

// The set of claims present at instants that come in ascending order.
class Present {
 public:
  explicit Present(const std::vector<NodeClaim>& uses) : uses_(uses), by_begin_(uses.size()) {
    std::iota(by_begin_.begin(), by_begin_.end(), std::size_t{0});
    std::stable_sort(by_begin_.begin(), by_begin_.end(),
                     [&](std::size_t a, std::size_t b) { return uses[a].begin < uses[b].begin; });
  }

  // Indices, ascending.
  const std::set<std::size_t>& at(Instant t) {
    std::erase_if(present_, [&](std::size_t i) { return uses_[i].end <= t; });
    for (; next_ < by_begin_.size() && uses_[by_begin_[next_]].begin <= t; ++next_) {
      if (uses_[by_begin_[next_]].end > t) present_.insert(by_begin_[next_]);
    }
    return present_;
  }

 private:
  const std::vector<NodeClaim>& uses_;
  std::vector<std::size_t> by_begin_;
  std::size_t next_ = 0;
  std::set<std::size_t> present_;
};

void add(std::vector<HeldStretch>& stretches, const HeldStretch& next) {
  if (!stretches.empty() && stretches.back().end == next.begin && stretches.back().processors == next.processors) {
    stretches.back().end = next.end;
  } else if (next.processors > 0) {
    stretches.push_back(next);
  }
}

}  // namespace

std::vector<std::int64_t> divided(std::int64_t total, const std::vector<std::int64_t>& parts) {
  struct Loss {
    Int128 amount;
    std::size_t index;
  };
  Int128 all = 0;
  for (const std::int64_t part : parts) all += part;
  SHAPLEY_REQUIRE(all != 0);
  std::vector<std::int64_t> result;
  std::vector<Loss> losses;
  std::int64_t left = total;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Int128 exact = static_cast<Int128>(total) * parts[i];
    result.push_back(static_cast<std::int64_t>(exact / all));
    losses.push_back({exact - static_cast<Int128>(result.back()) * all, i});
    left -= result.back();
  }
  std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.amount > b.amount; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++result[losses[i].index];
  return result;
}

std::vector<std::vector<HeldStretch>> held_stretches(const std::vector<NodeClaim>& uses, const WholeNode& whole) {
  std::vector<std::vector<HeldStretch>> held(uses.size());
  if (!may_be_shared(uses, whole)) {
    for (std::size_t i = 0; i < uses.size(); ++i) add(held[i], {uses[i].begin, uses[i].end, uses[i].claimed});
    return held;
  }
  std::set<Instant> cuts;
  for (const NodeClaim& use : uses) cuts.insert({use.begin, use.end});
  for (const auto& [when, worth] : whole) cuts.insert(when.first);
  Present all(uses);
  auto next_worth = whole.begin();
  std::int64_t worth = 0;
  for (auto cut = cuts.begin(); cut != cuts.end() && std::next(cut) != cuts.end(); ++cut) {
    const std::set<std::size_t>& present = all.at(*cut);
    std::vector<std::int64_t> claims;
    Int128 sum = 0;
    for (const std::size_t i : present) {
      claims.push_back(uses[i].claimed);
      sum += uses[i].claimed;
    }
    for (; next_worth != whole.end() && next_worth->first.first <= *cut; ++next_worth) worth = next_worth->second;
    if (worth > 0 && sum > worth) claims = divided(worth, claims);
    std::size_t next = 0;
    for (const std::size_t i : present) add(held[i], {*cut, *std::next(cut), claims[next++]});
  }
  return held;
}

}  // namespace shapley::ledger
