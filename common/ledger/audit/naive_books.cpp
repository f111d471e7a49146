#include "ledger/audit/naive_books.hpp"

#include <algorithm>
#include <set>

namespace shapley::ledger {

namespace {

// sum over i in [a, b) of (t - i): first term t - a, last term t - (b - 1). REQUIRES: a <= b <= t.
Int128 series(Instant a, Instant b, Instant t) {
  const Int128 terms = b.value - a.value;
  return terms * (static_cast<Int128>(t.value - a.value) + (t.value - b.value + 1)) / 2;
}

}  // namespace

std::optional<accounting::Credit> credit_of(const NaiveRow& row, accounting::EstimatorId estimator) {
  if (accounting::name_of(estimator) == "direct_contr") return row.direct;
  return std::nullopt;
}

NaiveBooks::NaiveBooks(const Facts& facts) : facts_(facts), owners_(facts.organizations) {
  commons_ = owners_.number_of(std::string(accounting::k_commons));
  for (std::uint32_t node = 0; node < facts.nodes.size(); ++node) nodes_.push_back(stretches_of(node));
}

// The statement with the greatest effective <= t speaks, and in it the last span that has begun; what it leaves is
// commons'.
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

void NaiveBooks::credit(std::uint32_t user, std::uint32_t node, std::int64_t held, const Window& window,
                        std::vector<NaiveRow>& rows) const {
  for (const Stretch& stretch : nodes_[node]) {
    const Instant a = std::max(window.begin, stretch.begin);
    const Instant b = std::min(window.end, stretch.end);
    if (a >= b) continue;
    const Int128 worth = series(a, b, window.t);
    const Int128 seconds = b.value - a.value;
    rows[user].psi.value += held * worth;
    rows[user].got.value += held * seconds;
    std::vector<std::int64_t> parts;
    for (const Part& part : stretch.parts) parts.push_back(part.parts_per_million);
    const auto amounts = divided(held, parts);
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      rows[stretch.parts[i].owner].direct.phi.value += amounts[i] * worth;
      rows[stretch.parts[i].owner].direct.given.value += amounts[i] * seconds;
    }
  }
}

std::vector<NaiveBooks::Run> NaiveBooks::runs_of(const Span& span) const {
  std::vector<Run> runs;
  for (const auto& [key, segment] : facts_.segments) {
    if (key.kind != accounting::SegmentKind::run || !segment.begin || *segment.begin > span.known) continue;
    if (segment.retracted && *segment.retracted <= span.known) continue;
    const bool ended = segment.end && *segment.end <= span.known;
    const Instant end = ended ? std::min(*segment.end, span.end) : span.end;
    if (*segment.begin < end) runs.push_back({&segment, end});
  }
  return runs;
}

std::map<std::string, NaiveRow> NaiveBooks::at(Instant t) const {
  return of_period({period_begin_at(t), t, t});
}

std::map<std::string, NaiveRow> NaiveBooks::of_period(const Span& span) const {
  std::vector<NaiveRow> rows(owners_.size());
  std::vector<std::vector<NodeUse>> uses(nodes_.size());
  std::vector<std::vector<std::uint32_t>> users(nodes_.size());
  for (const Run& run : runs_of(span)) {
    for (const auto& [node, claimed] : run.facts->nodes) {
      uses[node].push_back({*run.facts->begin, run.end, claimed.value});
      users[node].push_back(run.facts->organization);
    }
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    WholeNode whole;
    if (const auto known = facts_.whole_nodes.find(node); known != facts_.whole_nodes.end()) {
      for (const auto& [when, worth] : known->second) {
        if (when.first <= span.known) whole.emplace(when, worth);
      }
    }
    const auto held = held_stretches(uses[node], whole);
    for (std::size_t i = 0; i < held.size(); ++i) {
      for (const HeldStretch& stretch : held[i]) {
        const Window window{std::max(stretch.begin, span.begin), stretch.end, span.end};
        if (window.begin < window.end) credit(users[node][i], node, stretch.processors, window, rows);
      }
    }
  }
  std::map<std::string, NaiveRow> by_name;
  for (std::uint32_t i = 0; i < rows.size(); ++i) by_name.emplace(owners_.name_of(i), rows[i]);
  return by_name;
}

}  // namespace shapley::ledger
