#include "daemon/observer/usable_nodes.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/slurm_text.hpp"

namespace shapley::daemon {

namespace {

constexpr std::string_view k_cut = "*";

bool is_blank(char c) {
  return c >= '\0' && c <= ' ';
}

void add_word(std::string& placement, std::string_view key, std::string value) {
  std::erase_if(value, is_blank);
  if (value.empty()) return;
  if (!placement.empty()) placement += ' ';
  placement.append(key).append("=").append(value);
}

std::string whole_or_cut(const std::string& text) {
  return text.size() < protocol::k_max_placement_text ? text : std::string(k_cut);
}

// The parts of `text` between separators; an empty text has none.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    parts.push_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

// A placement, read.
struct Asked {
  std::vector<std::string_view> partitions;
  std::optional<std::vector<std::string>> nodes;  // ascending
  std::vector<std::string> excluded;              // ascending
  std::string_view features;
  std::vector<std::string_view> reservations;
};

std::optional<std::vector<std::string>> read_nodes(std::string_view list) {
  auto names = expand_brackets(list, k_max_nodes_of_job);
  if (!names) return std::nullopt;
  std::sort(names->begin(), names->end());
  return *std::move(names);
}

// nullopt: it cannot be read.
std::optional<Asked> read(std::string_view placement) {
  Asked asked;
  for (const std::string_view word : split(placement, ' ')) {
    const std::size_t key_end = word.find('=');
    if (key_end == std::string_view::npos) return std::nullopt;
    const std::string_view key = word.substr(0, key_end);
    const std::string_view value = word.substr(key_end + 1);
    if (key == "partition") {
      asked.partitions = split(value, ',');
    } else if (key == "nodes") {
      asked.nodes = read_nodes(value);
      if (!asked.nodes) return std::nullopt;
    } else if (key == "exclude") {
      auto excluded = read_nodes(value);
      if (!excluded) return std::nullopt;
      asked.excluded = *std::move(excluded);
    } else if (key == "features") {
      asked.features = value;
    } else if (key == "reservation") {
      asked.reservations = split(value, ',');
    } else {
      return std::nullopt;
    }
  }
  return asked;
}

// `names` ascend.
bool holds_any(const std::vector<std::string>& names, const std::vector<std::string_view>& asked) {
  return std::any_of(asked.begin(), asked.end(),
                     [&](std::string_view name) { return std::binary_search(names.begin(), names.end(), name); });
}

bool may_use(const Asked& asked, const protocol::NodeRecord& node) {
  if (!asked.partitions.empty() && !holds_any(node.partitions, asked.partitions)) return false;
  if (asked.nodes && !std::binary_search(asked.nodes->begin(), asked.nodes->end(), node.name)) return false;
  if (std::binary_search(asked.excluded.begin(), asked.excluded.end(), node.name)) return false;
  if (!asked.features.empty() && !admits(asked.features, node.features).value_or(false)) return false;
  return asked.reservations.empty() ? node.reservations.empty() : holds_any(node.reservations, asked.reservations);
}

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
    if (is_new) entry->second = collapse_names(usable_nodes(placement, nodes_));
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

std::string sorted_names(std::string names) {
  std::erase_if(names, is_blank);
  std::vector<std::string_view> parts = split(names, ',');
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string placement_of(const protocol::JobUpdate& record) {
  std::string placement;
  add_word(placement, "partition", sorted_names(record.partition));
  add_word(placement, "nodes", whole_or_cut(record.required_nodes));
  add_word(placement, "exclude", whole_or_cut(record.excluded_nodes));
  add_word(placement, "features", whole_or_cut(record.features));
  add_word(placement, "reservation", sorted_names(record.reservation));
  return placement;
}

std::vector<std::string> usable_nodes(std::string_view placement, const NodeTable& nodes) {
  std::optional<Asked> asked = read(placement);
  if (!asked) return {};
  const bool partitions_known =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& entry) { return !entry.second.partitions.empty(); });
  if (!partitions_known) asked->partitions.clear();
  std::vector<std::string> usable;
  for (const auto& [name, node] : nodes) {
    if (may_use(*asked, node)) usable.push_back(name);
  }
  return usable;
}

Observation resolve_placements(const accounting::State& books, const NodeTable& nodes, UsableNodes& known,
                               Instant observed_at) {
  return Resolver(books, nodes, known, observed_at).resolve();
}

namespace {

constexpr std::string_view k_signs = "&|,()[]*";
// Slurm itself nests parentheses within brackets, no deeper.
constexpr int k_max_depth = 8;

// Reads the text once, from the left to the right, and evaluates what it reads.
class Reader {
 public:
  Reader(std::string_view text, std::span<const std::string> features) : rest_(text), features_(features) {}

  std::optional<bool> read() {
    const std::optional<bool> value = read_chain(false, 0);
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  struct Operand {
    bool holds;
    bool counted;
  };

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<bool> read_chain(bool alternatives, int depth) {
    std::optional<Operand> operand = read_operand(depth);
    if (!operand) return std::nullopt;
    bool value = operand->holds;
    bool any = operand->holds;
    for (;;) {
      alternatives = alternatives || operand->counted;
      const bool either = take('|');
      if (!either && !take('&') && !take(',')) return alternatives ? any : value;
      operand = read_operand(depth);
      if (!operand) return std::nullopt;
      value = either ? value || operand->holds : value && operand->holds;
      any = any || operand->holds;
    }
  }

  std::optional<Operand> read_operand(int depth) {
    std::optional<bool> holds;
    if (take('(')) {
      holds = read_group(')', depth);
    } else if (take('[')) {
      holds = read_group(']', depth);
    } else {
      holds = read_feature();
    }
    if (!holds) return std::nullopt;
    if (!take('*')) return Operand{*holds, false};
    return read_count() ? std::optional(Operand{*holds, true}) : std::nullopt;
  }

  std::optional<bool> read_group(char end, int depth) {
    if (depth == k_max_depth) return std::nullopt;
    const std::optional<bool> holds = read_chain(end == ']', depth + 1);
    return take(end) ? holds : std::nullopt;
  }

  std::optional<bool> read_feature() {
    const std::string_view name = rest_.substr(0, rest_.find_first_of(k_signs));
    if (name.empty()) return std::nullopt;
    rest_.remove_prefix(name.size());
    return std::binary_search(features_.begin(), features_.end(), name);
  }

  bool read_count() {
    const std::string_view digits = rest_.substr(0, rest_.find_first_not_of("0123456789"));
    rest_.remove_prefix(digits.size());
    return digits.find_first_not_of('0') != std::string_view::npos;
  }

  std::string_view rest_;
  std::span<const std::string> features_;
};

}  // namespace

std::optional<bool> admits(std::string_view constraint, std::span<const std::string> features) {
  return Reader(constraint, features).read();
}

namespace {

// What placements ask of a node.
bool is_asked_for_alike(const protocol::NodeRecord& a, const protocol::NodeRecord& b) {
  return a.partitions == b.partitions && a.features == b.features && a.reservations == b.reservations;
}

}  // namespace

void SessionNodes::forget() {
  nodes_.clear();
  usable_.clear();
  complete_ = false;
}

void SessionNodes::complete() {
  complete_ = true;
  stale_ = true;
}

void SessionNodes::note(const protocol::NodeRecord& node) {
  // A node with a name that is invalid in the configuration and in events has no owner, and cannot be named there.
  if (const auto names = expand_brackets(node.name); !names || names->front() != node.name) return;
  const auto [entry, is_new] = nodes_.try_emplace(node.name, node);
  if (!is_new && is_asked_for_alike(std::exchange(entry->second, node), node)) return;
  usable_.clear();
  stale_ = true;
}

void SessionNodes::note_gone(std::string_view node) {
  const auto entry = nodes_.find(node);
  if (entry == nodes_.end()) return;
  nodes_.erase(entry);
  usable_.clear();
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
