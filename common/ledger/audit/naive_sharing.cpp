#include "ledger/audit/naive_sharing.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace shapley::ledger {

namespace {

// Whether the claims of some instant exceed the least that the node was ever worth: then somebody may have to share.
bool may_be_shared(const std::vector<NodeUse>& uses, const WholeNode& whole) {
  std::int64_t least = 0;
  for (const auto& [when, worth] : whole) {
    if (worth > 0 && (least == 0 || worth < least)) least = worth;
  }
  if (least == 0) return false;
  std::map<Instant, Int128> changes;
  for (const NodeUse& use : uses) {
    changes[use.begin] += use.claimed;
    changes[use.end] -= use.claimed;
  }
  Int128 sum = 0;
  return std::any_of(changes.begin(), changes.end(),
                     [&](const auto& change) { return (sum += change.second) > least; });
}

// Who is there at instants that come in ascending order.
class Present {
 public:
  explicit Present(const std::vector<NodeUse>& uses) : uses_(uses), by_begin_(uses.size()) {
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
  const std::vector<NodeUse>& uses_;
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

std::vector<std::vector<HeldStretch>> held_stretches(const std::vector<NodeUse>& uses, const WholeNode& whole) {
  std::vector<std::vector<HeldStretch>> held(uses.size());
  if (!may_be_shared(uses, whole)) {
    for (std::size_t i = 0; i < uses.size(); ++i) add(held[i], {uses[i].begin, uses[i].end, uses[i].claimed});
    return held;
  }
  std::set<Instant> cuts;
  for (const NodeUse& use : uses) cuts.insert({use.begin, use.end});
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
