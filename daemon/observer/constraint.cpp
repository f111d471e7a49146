#include "daemon/observer/constraint.hpp"

#include <algorithm>

namespace shapley::daemon {

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

}  // namespace shapley::daemon
