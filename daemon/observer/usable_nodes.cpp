#include "daemon/observer/usable_nodes.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/slurm_text.hpp"

namespace shapley::daemon {

namespace {

// Compares the books with the usable nodes; collects what resolve_placements returns.
class Resolver {
 public:
  Resolver(const accounting::State& books, const NodeTable& nodes, UsableNodes& known, Instant observed_at)
      : books_(books), nodes_(nodes), known_(known), observed_at_(observed_at) {}

  Observation resolve() {
    const std::vector<std::string> remembered = books_.placements();
    const auto is_remembered = [&](std::string_view placement) {
      return std::binary_search(remembered.begin(), remembered.end(), placement);
    };
    std::erase_if(known_, [&](const auto& entry) { return !is_remembered(entry.first); });
    for (const std::string& placement : books_.resolved_placements()) {
      if (!is_remembered(placement)) state(placement, observed_at_, "");
    }
    Names in_use;
    for (const std::string& placement : remembered) {
      if (is_retired(placement)) {
        known_.erase(placement);  // so that the next request for it is noticed
      } else {
        in_use.insert(in_use.end(), placement);
      }
    }
    const Names without_room = choose_those_without_room(in_use);
    for (const std::string& placement : in_use) {
      const bool has_room = !without_room.contains(placement);
      resolve(placement, has_room ? usable(placement) : std::string{});
      if (!has_room && uses().at(placement).demand.empty()) known_.erase(placement);
    }
    return std::move(out_);
  }

 private:
  using Names = std::set<std::string, std::less<>>;
  using Uses = std::map<std::string, accounting::PlacementUse, std::less<>>;

  // Walks over all remembered jobs, so only where it is needed.
  const Uses& uses() {
    if (!uses_) uses_ = books_.placement_uses();
    return *uses_;
  }

  // Whether its last statement has no nodes, and no request for it came since.
  bool is_retired(const std::string& placement) {
    const accounting::PlacementResolved* last = books_.last_placement(placement);
    return last != nullptr && last->nodes.empty() && uses().at(placement).since == k_end_of_time;
  }

  // Which of the placements with nodes are beyond k_max_placements.
  Names choose_those_without_room(const Names& in_use) {
    Names candidates;
    for (const std::string& placement : in_use) {
      if (!usable(placement).empty()) candidates.insert(placement);
    }
    if (candidates.size() <= k_max_placements) return {};
    const std::vector<std::string> asked_for = in_turn(candidates);
    for (std::size_t i = 0; i < std::min(asked_for.size(), k_max_placements); ++i) candidates.erase(asked_for[i]);
    if (asked_for.size() > k_max_placements) {
      out_.warnings.push_back(
          fmt::format("observer: jobs that wait or run ask for more than {} different sets of nodes (partition, "
                      "nodelist, exclude, constraint, reservation); of each organization those of the most demand "
                      "count, and what waits for further ones counts nothing until fewer are asked for",
                      k_max_placements));
    }
    return candidates;
  }

  // The candidates with open requests: of every organization the one for which it requests most, then of every
  // organization the second, and so on.
  std::vector<std::string> in_turn(const Names& candidates) {
    std::map<OrgId, std::vector<std::pair<ProcessorMillionths, std::string>>> by_organization;
    for (const std::string& placement : candidates) {
      for (const auto& [organization, demand] : uses().at(placement).demand) {
        by_organization[organization].emplace_back(ProcessorMillionths{-demand.value}, placement);
      }
    }
    std::map<std::string, std::size_t> turns;
    for (auto& [organization, own] : by_organization) {
      std::sort(own.begin(), own.end());
      for (std::size_t turn = 0; turn < own.size(); ++turn) {
        const auto [entry, is_new] = turns.try_emplace(own[turn].second, turn);
        entry->second = std::min(entry->second, turn);
      }
    }
    std::vector<std::string> order;
    order.reserve(turns.size());
    for (const auto& [placement, turn] : turns) order.push_back(placement);
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return turns[a] < turns[b]; });
    return order;
  }

  const std::string& usable(const std::string& placement) {
    const auto [entry, is_new] = known_.try_emplace(placement);
    if (is_new) entry->second = collapse_names(request::usable_nodes(placement, nodes_));
    return entry->second;
  }

  void resolve(const std::string& placement, std::string nodes) {
    const accounting::PlacementResolved* last = books_.last_placement(placement);
    if (last != nullptr && !last->nodes.empty()) {
      if (last->nodes != nodes) state(placement, observed_at_, std::move(nodes));
      return;
    }
    const Instant since = uses().at(placement).since;
    // A statement from when no request for it was left does not concern the present ones.
    const bool is_first = last == nullptr || last->at < since;
    if (is_first || !nodes.empty()) state(placement, is_first ? since : observed_at_, std::move(nodes));
  }

  void state(const std::string& placement, Instant at, std::string nodes) {
    at = std::max(at, books_.memory_horizon());
    std::uint32_t ordinal = 0;
    if (const accounting::PlacementResolved* last = books_.last_placement(placement)) {
      at = std::max(at, last->at);
      if (at == last->at) ordinal = last->ordinal + 1;
    }
    out_.events.emplace_back(accounting::PlacementResolved{placement, at, ordinal, std::move(nodes)});
  }

  const accounting::State& books_;
  const NodeTable& nodes_;
  UsableNodes& known_;
  const Instant observed_at_;
  std::optional<Uses> uses_;
  Observation out_;
};

}  // namespace

Observation resolve_placements(const accounting::State& books, const NodeTable& nodes, UsableNodes& known,
                               Instant observed_at) {
  return Resolver(books, nodes, known, observed_at).resolve();
}

namespace {

// What placements ask of a node.
bool is_asked_for_alike(const protocol::NodeRecord& a, const protocol::NodeRecord& b) {
  return a.partitions == b.partitions && a.features == b.features && a.reservations == b.reservations;
}

// Each placement's kinds are found by a walk over all nodes. Forgotten at once when they are more.
constexpr std::size_t k_max_known_kinds = 4096;

void add_once(std::vector<NodeKind>& kinds, const NodeKind& kind) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
}

}  // namespace

void SessionNodes::forget() {
  nodes_.clear();
  away_.clear();
  usable_.clear();
  kinds_.clear();
  complete_ = false;
}

void SessionNodes::complete() {
  complete_ = true;
  stale_ = true;
}

void SessionNodes::note(const protocol::NodeRecord& node) {
  // A node with a name that is invalid in the configuration and in events has no owner, and cannot be named there.
  if (const auto names = expand_brackets(node.name); !names || names->front() != node.name) return;
  if (node.usable) {
    away_.erase(node.name);
  } else {
    away_.insert(node.name);
  }
  const auto [entry, is_new] = nodes_.try_emplace(node.name, node);
  protocol::NodeRecord as_before = node;
  as_before.usable = entry->second.usable;
  if (is_new || as_before != entry->second) kinds_.clear();
  if (!is_new && is_asked_for_alike(std::exchange(entry->second, node), node)) return;
  usable_.clear();
  stale_ = true;
}

void SessionNodes::note_gone(std::string_view node) {
  const auto entry = nodes_.find(node);
  if (entry == nodes_.end()) return;
  away_.erase(entry->first);
  nodes_.erase(entry);
  usable_.clear();
  kinds_.clear();
  stale_ = true;
}

void SessionNodes::note(const accounting::Event& event) {
  // The last wait or run with its placement may have been removed.
  if (std::holds_alternative<accounting::SegmentRetracted>(event)) stale_ = true;
  const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
  if (opened != nullptr && !opened->placement.empty() && !usable_.contains(opened->placement)) stale_ = true;
  // If not all placements have nodes, present requests decide which do.
  const bool is_demand = opened != nullptr || std::holds_alternative<accounting::SegmentClosed>(event);
  if (!warned_.empty() && is_demand) stale_ = true;
}

Kinds SessionNodes::kinds_for(const protocol::JobUpdate& job, const Charging& charging) {
  const request::Placement placement(request::placement_of(job));
  auto known = kinds_.find(placement.text());
  if (known == kinds_.end()) {
    if (kinds_.size() == k_max_known_kinds) kinds_.clear();
    const bool partitions_known = request::partitions_known(nodes_);
    KnownKinds kinds;
    for (const auto& [name, node] : nodes_) {
      if (!placement.fits(node, partitions_known)) continue;
      const NodeKind kind = charging.kind_of(node);
      add_once(kinds.fitting, kind);
      if (placement.admits(node, partitions_known)) add_once(kinds.usable, kind);
    }
    known = kinds_.emplace(placement.text(), std::move(kinds)).first;
  }
  return {.usable = known->second.usable, .fitting = known->second.fitting, .all = {}};
}

bool SessionNodes::due(const accounting::State& books) const {
  return complete_ && (stale_ || books.memory_horizon() != horizon_);
}

Observation SessionNodes::resolve(const accounting::State& books, Instant observed_at) {
  Observation observation = resolve_placements(books, nodes_, usable_, observed_at);
  stale_ = false;
  horizon_ = books.memory_horizon();
  if (std::exchange(warned_, observation.warnings) == observation.warnings) observation.warnings.clear();
  return observation;
}

}  // namespace shapley::daemon
