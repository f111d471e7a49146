#include "daemon/books/placements.hpp"

#include <utility>
#include <variant>

#include "base/brackets.hpp"

namespace shapley::daemon {

namespace {

// What placements ask of a node.
bool is_asked_for_alike(const protocol::NodeRecord& a, const protocol::NodeRecord& b) {
  return a.partitions == b.partitions && a.features == b.features && a.reservations == b.reservations;
}

}  // namespace

void Placements::forget_nodes() {
  nodes_.clear();
  usable_.clear();
  complete_ = false;
}

void Placements::complete_nodes() {
  complete_ = true;
  stale_ = true;
}

void Placements::note(const protocol::NodeRecord& node) {
  // A node whose name is no node's name in the configuration and in events has no owner, and cannot be told there.
  if (const auto names = expand_brackets(node.name); !names || names->front() != node.name) return;
  const auto [entry, is_new] = nodes_.try_emplace(node.name, node);
  if (!is_new && is_asked_for_alike(std::exchange(entry->second, node), node)) return;
  usable_.clear();
  stale_ = true;
}

void Placements::note_gone(std::string_view node) {
  const auto entry = nodes_.find(node);
  if (entry == nodes_.end()) return;
  nodes_.erase(entry);
  usable_.clear();
  stale_ = true;
}

void Placements::note(const accounting::Event& event) {
  // The last wait or run of its placement may be gone with it.
  if (std::holds_alternative<accounting::SegmentRetracted>(event)) stale_ = true;
  const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
  if (opened != nullptr && !opened->placement.empty() && !usable_.contains(opened->placement)) stale_ = true;
  // Where not all have nodes, who asks for what decides.
  const bool is_demand = opened != nullptr || std::holds_alternative<accounting::SegmentClosed>(event);
  if (!warned_.empty() && is_demand) stale_ = true;
}

bool Placements::due(const accounting::State& books) const {
  return complete_ && (stale_ || books.horizon() != horizon_);
}

Observation Placements::resolve(const accounting::State& books, Instant observed_at) {
  Observation observation = resolve_placements(books, nodes_, usable_, observed_at);
  stale_ = false;
  horizon_ = books.horizon();
  if (std::exchange(warned_, observation.warnings) == observation.warnings) observation.warnings.clear();
  return observation;
}

}  // namespace shapley::daemon
