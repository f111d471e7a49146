#include "daemon/observer/placement.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/brackets.hpp"
#include "daemon/observer/constraint.hpp"

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

// The parts of `text` between separators; of an empty one: none.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    parts.push_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

// Names separated by commas, ascending, each once: the order in which a job names them changes nothing.
std::string sorted_names(std::string names) {
  std::erase_if(names, is_blank);
  std::vector<std::string_view> parts = split(names, ',');
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return fmt::format("{}", fmt::join(parts, ","));
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
  auto names = expand_brackets(list);
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
    const std::vector<std::string> asked = books_.placements();
    const auto is_asked = [&](std::string_view placement) {
      return std::binary_search(asked.begin(), asked.end(), placement);
    };
    std::erase_if(known_, [&](const auto& entry) { return !is_asked(entry.first); });
    for (const std::string& placement : books_.resolved_placements()) {
      if (is_asked(placement)) {
        ++with_nodes_;
      } else {
        state(placement, observed_at_, "");
      }
    }
    for (const std::string& placement : asked) settle(placement);
    if (refused_) {
      out_.warnings.push_back(
          fmt::format("observer: waiting jobs ask for more than {} different sets of nodes (partition, nodelist, "
                      "exclude, constraint, reservation); the demand for further ones counts nothing until jobs that "
                      "asked for others are forgotten",
                      k_max_placements));
    }
    return std::move(out_);
  }

 private:
  const std::string& usable(const std::string& placement) {
    const auto [entry, is_new] = known_.try_emplace(placement);
    if (is_new) entry->second = collapse_names(usable_nodes(placement, nodes_));
    return entry->second;
  }

  void settle(const std::string& placement) {
    const accounting::PlacementResolved* last = books_.last_placement(placement);
    const bool had_nodes = last != nullptr && !last->nodes.empty();
    std::string nodes = usable(placement);
    if (!had_nodes && !nodes.empty()) {
      if (with_nodes_ == k_max_placements) {
        refused_ = true;
        nodes.clear();
      } else {
        ++with_nodes_;
      }
    }
    if (had_nodes && nodes.empty()) --with_nodes_;
    const Instant since = books_.placement_since(placement).value_or(observed_at_);
    // What was said before it was retired is not about its present waits.
    const bool is_first = last == nullptr || (!had_nodes && last->at < since);
    if (is_first || last->nodes != nodes) state(placement, is_first ? since : observed_at_, std::move(nodes));
  }

  void state(const std::string& placement, Instant at, std::string nodes) {
    at = std::max(at, books_.horizon());
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
  std::size_t with_nodes_ = 0;
  bool refused_ = false;
  Observation out_;
};

}  // namespace

std::string placement_of(const protocol::JobRecord& record) {
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
  const bool partitions_told =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& entry) { return !entry.second.partitions.empty(); });
  if (!partitions_told) asked->partitions.clear();
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

}  // namespace shapley::daemon
