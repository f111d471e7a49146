#include "accounting/ownership/placement.hpp"

#include <algorithm>
#include <utility>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "base/contract.hpp"
#include "base/slurm_text.hpp"

namespace shapley::accounting {

namespace {

auto moment_of(const PlacementResolved& fact) {
  return std::pair(fact.at, fact.ordinal);
}

}  // namespace

const PlacementResolved* PlacementHistory::find(Instant at, std::uint32_t ordinal) const {
  const auto found = std::find_if(resolutions_.begin(), resolutions_.end(), [&](const Resolution& resolution) {
    return moment_of(resolution.fact) == std::pair(at, ordinal);
  });
  return found == resolutions_.end() ? nullptr : &found->fact;
}

std::pair<Instant, std::span<const std::uint32_t>> PlacementHistory::in_force(Instant t) const {
  const auto later =
      std::ranges::find_if(resolutions_, [t](const Resolution& resolution) { return resolution.fact.at > t; });
  if (later == resolutions_.begin()) return {k_beginning_of_time, {}};
  return {std::prev(later)->fact.at, std::prev(later)->nodes};
}

const PlacementResolved* PlacementHistory::last() const {
  return resolutions_.empty() ? nullptr : &resolutions_.back().fact;
}

void PlacementHistory::insert(const PlacementResolved& fact, std::vector<std::uint32_t> nodes) {
  SHAPLEY_REQUIRE(find(fact.at, fact.ordinal) == nullptr);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto later = std::find_if(resolutions_.begin(), resolutions_.end(), [&](const Resolution& resolution) {
    return moment_of(resolution.fact) > moment_of(fact);
  });
  resolutions_.insert(later, {fact, std::move(nodes)});
}

void PlacementHistory::forget_before(Instant horizon) {
  // The last one from before the memory horizon is in force there.
  const auto kept = std::find_if(resolutions_.begin(), resolutions_.end(),
                                 [&](const Resolution& resolution) { return resolution.fact.at >= horizon; });
  if (kept != resolutions_.begin()) resolutions_.erase(resolutions_.begin(), std::prev(kept));
}

bool PlacementHistory::is_over(Instant horizon) const {
  if (uses > 0) return false;
  return resolutions_.empty() ||
         (resolutions_.size() == 1 && resolutions_.front().nodes.empty() && resolutions_.front().fact.at < horizon);
}

const PlacementHistory* Placements::find(std::string_view name) const {
  const auto known = placements_.find(name);
  return known == placements_.end() ? nullptr : &known->second;
}

PlacementHistory& Placements::obtain(std::string_view name) {
  if (const auto known = placements_.find(name); known != placements_.end()) return known->second;
  return placements_.try_emplace(std::string(name)).first->second;
}

std::vector<std::string> Placements::in_use() const {
  std::vector<std::string> names;
  for (const auto& [name, placement] : placements_) {
    if (placement.uses > 0) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Placements::resolved() const {
  std::vector<std::string> names;
  for (const auto& [name, placement] : placements_) {
    if (placement.last() != nullptr && !placement.last()->nodes.empty()) names.push_back(name);
  }
  return names;
}

std::optional<bool> Placements::repeats(const PlacementResolved& event) const {
  const PlacementHistory* placement = find(event.placement);
  const PlacementResolved* known = placement == nullptr ? nullptr : placement->find(event.at, event.ordinal);
  return known == nullptr ? std::nullopt : std::optional(*known == event);
}

void Placements::count_use(std::string_view name, int sign) {
  if (name.empty()) return;
  std::size_t& uses = obtain(name).uses;
  sign > 0 ? ++uses : --uses;
}

void Placements::forget_before(Instant horizon) {
  for (auto& [name, placement] : placements_) placement.forget_before(horizon);
  std::erase_if(placements_, [=](const auto& entry) { return entry.second.is_over(horizon); });
}

void Placements::save(TextWriter& out) const {
  for (const auto& [name, placement] : placements_) {
    placement.for_each([&](const PlacementResolved& fact) { write_value(out.line("placement"), fact); });
  }
}

void Placements::load(TextReader& in, Instant now, Nodes& nodes) {
  while (in.next("placement")) {
    PlacementResolved fact;
    read_value(in, fact);
    if (!accept(in, fact, now)) return;
    if (repeats(fact)) return in.fault("a placement twice");
    obtain(fact.placement).insert(fact, indices_of(fact, nodes));
  }
}

std::vector<std::uint32_t> indices_of(const PlacementResolved& event, Nodes& nodes) {
  std::vector<std::uint32_t> indices;
  if (event.nodes.empty()) return indices;
  const auto names = expand_brackets(event.nodes);  // check() has read it
  if (!names) return indices;
  for (const std::string& name : *names) indices.push_back(nodes.index_of(name));
  return indices;
}

}  // namespace shapley::accounting
