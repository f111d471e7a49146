#include "accounting/ownership/placement.hpp"

#include <algorithm>
#include <utility>

namespace shapley::accounting {

namespace {

auto moment_of(const PlacementResolved& fact) {
  return std::pair(fact.at, fact.ordinal);
}

}  // namespace

bool PlacementHistory::Resolution::holds(std::uint32_t node) const {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

const PlacementResolved* PlacementHistory::find(Instant at, std::uint32_t ordinal) const {
  const auto found = std::find_if(resolutions_.begin(), resolutions_.end(), [&](const Resolution& resolution) {
    return moment_of(resolution.fact) == std::pair(at, ordinal);
  });
  return found == resolutions_.end() ? nullptr : &found->fact;
}

const PlacementResolved* PlacementHistory::last() const {
  return resolutions_.empty() ? nullptr : &resolutions_.back().fact;
}

void PlacementHistory::insert(const PlacementResolved& fact, std::vector<std::uint32_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto later = std::find_if(resolutions_.begin(), resolutions_.end(), [&](const Resolution& resolution) {
    return moment_of(resolution.fact) > moment_of(fact);
  });
  resolutions_.insert(later, {fact, std::move(nodes)});
}

bool PlacementHistory::holds(std::uint32_t node, Instant t) const {
  return holds_before(node, t + Duration{1});
}

bool PlacementHistory::holds_before(std::uint32_t node, Instant t) const {
  const auto later = std::find_if(resolutions_.begin(), resolutions_.end(),
                                  [&](const Resolution& resolution) { return resolution.fact.at >= t; });
  return later != resolutions_.begin() && std::prev(later)->holds(node);
}

std::vector<Instant> PlacementHistory::changes_since(Instant from) const {
  std::vector<Instant> instants;
  for (const Resolution& resolution : resolutions_) {
    if (resolution.fact.at >= from) instants.push_back(resolution.fact.at);
  }
  return instants;
}

std::vector<std::uint32_t> PlacementHistory::nodes() const {
  std::vector<std::uint32_t> all;
  for (const Resolution& resolution : resolutions_)
    all.insert(all.end(), resolution.nodes.begin(), resolution.nodes.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool PlacementHistory::ever_holds(std::uint32_t node) const {
  return std::any_of(resolutions_.begin(), resolutions_.end(),
                     [&](const Resolution& resolution) { return resolution.holds(node); });
}

void PlacementHistory::forget_before(Instant horizon) {
  // The last one from before the horizon is in force there.
  const auto kept = std::find_if(resolutions_.begin(), resolutions_.end(),
                                 [&](const Resolution& resolution) { return resolution.fact.at >= horizon; });
  if (kept != resolutions_.begin()) resolutions_.erase(resolutions_.begin(), std::prev(kept));
}

bool PlacementHistory::is_over(Instant horizon) const {
  if (uses > 0) return false;
  return resolutions_.empty() ||
         (resolutions_.size() == 1 && resolutions_.front().nodes.empty() && resolutions_.front().fact.at < horizon);
}

}  // namespace shapley::accounting
