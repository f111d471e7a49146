#include "request/placement.hpp"

#include <algorithm>
#include <utility>

#include "base/slurm_text.hpp"

namespace shapley::request {

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

std::vector<std::string> names_in(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  return {parts.begin(), parts.end()};
}

std::optional<std::vector<std::string>> read_nodes(std::string_view list) {
  auto names = expand_brackets(list, k_max_nodes_of_job);
  if (!names) return std::nullopt;
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  return *std::move(names);
}

// `names` ascend.
bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name, std::less<>());
}

bool holds_any(const std::vector<std::string>& names, const std::vector<std::string>& asked) {
  return std::any_of(asked.begin(), asked.end(), [&](const std::string& name) { return holds(names, name); });
}

}  // namespace

std::string sorted_names(std::string names) {
  std::erase_if(names, is_blank);
  std::vector<std::string_view> parts = split(names, ',');
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::string joined;
  for (std::size_t i = 0; i < parts.size(); ++i) joined.append(i == 0 ? "" : ",").append(parts[i]);
  return joined;
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

Placement::Placement(std::string text) : text_(std::move(text)) {
  readable_ = read();
}

bool Placement::read() {
  for (const std::string_view word : split(text_, ' ')) {
    const std::size_t key_end = word.find('=');
    if (key_end == std::string_view::npos) return false;
    const std::string_view key = word.substr(0, key_end);
    const std::string_view value = word.substr(key_end + 1);
    if (key == "partition") {
      partitions_ = names_in(value);
    } else if (key == "nodes") {
      nodes_ = read_nodes(value);
      if (!nodes_) return false;
    } else if (key == "exclude") {
      auto excluded = read_nodes(value);
      if (!excluded) return false;
      excluded_ = *std::move(excluded);
    } else if (key == "features") {
      features_ = value;
    } else if (key == "reservation") {
      reservations_ = names_in(value);
    } else {
      return false;
    }
  }
  return true;
}

bool Placement::asks_for_partition(std::string_view name) const {
  return partitions_.empty() || holds(partitions_, name);
}

bool Placement::asks_for_reservation(std::string_view name) const {
  return holds(reservations_, name);
}

void Placement::leave_out(std::span<const std::string> partitions) {
  std::vector<std::string> left = partitions_;
  std::erase_if(left, [&](const std::string& name) { return std::ranges::binary_search(partitions, name); });
  if (!left.empty()) partitions_ = std::move(left);
}

bool Placement::admits(const protocol::NodeRecord& node, bool partitions_known) const {
  if (!fits(node, partitions_known)) return false;
  return reservations_.empty() ? node.reservations.empty() : holds_any(node.reservations, reservations_);
}

bool Placement::fits(const protocol::NodeRecord& node, bool partitions_known) const {
  if (!readable_) return false;
  if (partitions_known && !partitions_.empty() && !holds_any(node.partitions, partitions_)) return false;
  if (nodes_ && !holds(*nodes_, node.name)) return false;
  if (holds(excluded_, node.name)) return false;
  return features_.empty() || request::admits(features_, node.features).value_or(false);
}

bool partitions_known(const NodeTable& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& entry) { return !entry.second.partitions.empty(); });
}

std::vector<std::string> usable_nodes(std::string_view placement, const NodeTable& nodes) {
  const Placement asked{std::string(placement)};
  const bool known = partitions_known(nodes);
  std::vector<std::string> usable;
  for (const auto& [name, node] : nodes) {
    if (asked.admits(node, known)) usable.push_back(name);
  }
  return usable;
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

}  // namespace shapley::request
