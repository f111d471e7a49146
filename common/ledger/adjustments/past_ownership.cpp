#include "ledger/adjustments/past_ownership.hpp"

#include <map>
#include <utility>

namespace shapley::ledger {

namespace {

using accounting::OwnershipSpan;
using accounting::OwnershipStated;

// Those that speak, by when they are in force from: the highest revision of each below `below`.
std::map<Instant, OwnershipStated> speaking(const OwnershipStatements& known, std::uint32_t below) {
  std::map<Instant, OwnershipStated> by_effective;
  for (const OwnershipStated& statement : known) {
    if (statement.revision >= below) continue;
    const auto [there, is_new] = by_effective.try_emplace(statement.effective, statement);
    if (!is_new && there->second.revision < statement.revision) there->second = statement;
  }
  return by_effective;
}

// What the statement that speaks at `t` says; nothing where there is none.
std::vector<OwnershipSpan> spans_at(const std::map<Instant, OwnershipStated>& statements, Instant t) {
  const auto later = statements.upper_bound(t);
  return later == statements.begin() ? std::vector<OwnershipSpan>{} : std::prev(later)->second.spans;
}

}  // namespace

OwnershipStatements revise_ownership(const std::string& node, const OwnershipStatements& known,
                                     std::vector<accounting::OwnerPart> owners, Instant since, Instant until,
                                     std::uint32_t revision) {
  const auto statements = speaking(known, revision);
  OwnershipStatements revised;
  const auto state = [&](Instant effective, std::vector<OwnershipSpan> spans) {
    revised.push_back({.node = node, .effective = effective, .spans = std::move(spans), .revision = revision});
  };
  state(since, {{since, owners}});
  for (auto next = statements.upper_bound(since); next != statements.end() && next->first < until; ++next) {
    state(next->first, {{next->first, owners}});
  }
  if (!statements.contains(until)) state(until, spans_at(statements, until));
  return revised;
}

OwnershipStatements restore_ownership(const OwnershipStatements& known, std::uint32_t taken_back,
                                      std::uint32_t revision) {
  const auto before = speaking(known, taken_back);
  OwnershipStatements restored;
  for (const OwnershipStated& statement : known) {
    if (statement.revision != taken_back) continue;
    restored.push_back({.node = statement.node,
                        .effective = statement.effective,
                        .spans = spans_at(before, statement.effective),
                        .revision = revision});
  }
  return restored;
}

}  // namespace shapley::ledger
