#include "base/slurm_text.hpp"

#include <array>
#include <cstdint>
#include <ctime>
#include <map>
#include <set>
#include <utility>

#include "base/calendar.hpp"
#include "base/contract.hpp"

namespace shapley {

namespace {

bool is_unknown(std::string_view time) {
  return time.empty() || time == "Unknown" || time == "unknown" || time == "None" || time == "N/A";
}

std::optional<std::tm> calendar_fields(std::string_view text) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> k_places{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  std::array<int, 6> values{};
  for (std::size_t i = 0; i < k_places.size(); ++i) {
    const auto value = parse_number<int>(text.substr(k_places[i].first, k_places[i].second));
    if (!value) return std::nullopt;
    values[i] = *value;
  }
  std::tm fields{};
  fields.tm_year = values[0] - 1900;
  fields.tm_mon = values[1] - 1;
  fields.tm_mday = values[2];
  fields.tm_hour = values[3];
  fields.tm_min = values[4];
  fields.tm_sec = values[5];
  return fields;
}

// One entry of a bracket group: first to last, written with at least `width` digits.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;
};

// One piece of a name: literal text, then (unless empty) one of the values of a group.
struct Piece {
  std::string literal;
  std::vector<Range> group;
};

// Bounds on factors that are multiplied by up to a million. Host names have no more characters than this.
constexpr std::size_t k_max_name_length = 255;
constexpr std::size_t k_max_groups = 8;
constexpr std::size_t k_max_digits = 18;  // of a number within brackets: fits 64 bits

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_name_character(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '_' || c == '-';
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string quoted(char c) {
  return c >= ' ' && c <= '~' ? std::string{'\'', c, '\''} : "a byte that is no plain character";
}

std::uint64_t to_number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

class Parser {
 public:
  Parser(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  Expected<std::vector<std::string>> parse() {
    for (;;) {
      skip_blanks();
      SHAPLEY_TRY(parse_name());
      skip_blanks();
      if (at_end()) return std::move(names_);
      if (peek() == ']') return fault("']' without '['");
      if (is_name_character(peek())) return fault("a ',' is missing before the next name");
      if (peek() != ',') return fault(quoted(peek()) + " is not allowed in a node name");
      ++position_;
    }
  }

 private:
  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] char peek() const { return text_[position_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(peek())) ++position_;
  }

  [[nodiscard]] tl::unexpected<Error> fault_at(std::size_t position, const std::string& what) const {
    return fail(Errc::invalid_argument, "character " + std::to_string(position + 1) + ": " + what);
  }
  [[nodiscard]] tl::unexpected<Error> fault(const std::string& what) const { return fault_at(position_, what); }

  Expected<void> parse_name() {
    const std::size_t begin = position_;
    std::vector<Piece> pieces;
    bool has_letter = false;
    while (!at_end() && (is_name_character(peek()) || peek() == '[')) {
      Piece piece;
      while (!at_end() && is_name_character(peek())) {
        has_letter = has_letter || is_letter(peek());
        piece.literal.push_back(text_[position_++]);
      }
      if (!at_end() && peek() == '[') {
        SHAPLEY_TRY_ASSIGN(piece.group, parse_group());
      }
      pieces.push_back(std::move(piece));
    }
    if (pieces.empty()) {
      if (at_end()) return fault(names_.empty() ? "no node is named" : "a node name is missing after ','");
      if (peek() == ',') return fault("a node name is missing before ','");
      return {};  // the caller names the character that begins no name
    }
    if (!has_letter) return fault_at(begin, "a node name holds at least one letter");
    if (longest_length(pieces) > k_max_name_length) {
      return fault_at(begin, "a node name has at most " + std::to_string(k_max_name_length) + " characters");
    }
    if (pieces.size() > k_max_groups) {
      return fault_at(begin, "more than " + std::to_string(k_max_groups) + " bracket groups in one name");
    }
    return expand(begin, pieces);
  }

  // The length of the longest name that the pieces expand to.
  static std::size_t longest_length(const std::vector<Piece>& pieces) {
    std::size_t length = 0;
    for (const Piece& piece : pieces) {
      std::size_t digits = 0;
      for (const Range& range : piece.group)
        digits = std::max({digits, range.width, std::to_string(range.last).size()});
      length += piece.literal.size() + digits;
    }
    return length;
  }

  // Begins at '['; ends after ']'.
  Expected<std::vector<Range>> parse_group() {
    const std::size_t begin = position_++;
    std::vector<Range> ranges;
    for (;;) {
      SHAPLEY_TRY_ASSIGN(const Range range, parse_range());
      ranges.push_back(range);
      if (at_end()) return fault_at(begin, "'[' without ']'");
      const char c = text_[position_++];
      if (c == ']') return ranges;
      if (c != ',') {
        --position_;
        return fault(quoted(c) + " within brackets; only numbers, '-' and ',' are allowed");
      }
    }
  }

  Expected<Range> parse_range() {
    const std::size_t begin = position_;
    SHAPLEY_TRY_ASSIGN(const std::string_view first, digits());
    std::string_view last = first;
    if (!at_end() && peek() == '-') {
      ++position_;
      SHAPLEY_TRY_ASSIGN(last, digits());
    }
    Range range{to_number(first), to_number(last), first.size()};
    if (range.last < range.first) {
      return fault_at(begin, "range " + std::string(text_.substr(begin, position_ - begin)) + " runs backwards");
    }
    if (last.size() > 1 && last.front() == '0' && last.size() != first.size()) {
      return fault_at(begin, "both ends of a range with leading zeros have the same number of digits");
    }
    return range;
  }

  Expected<std::string_view> digits() {
    const std::size_t begin = position_;
    while (!at_end() && is_digit(peek())) ++position_;
    if (position_ == begin) return fault(at_end() ? "a number is missing at the end" : "a number is missing here");
    if (position_ - begin > k_max_digits) return fault_at(begin, "number with more than 18 digits");
    return text_.substr(begin, position_ - begin);
  }

  // Counts before it writes, so that a typing error costs no memory.
  Expected<void> expand(std::size_t begin, const std::vector<Piece>& pieces) {
    std::size_t room = most_ - names_.size();
    for (const Piece& piece : pieces) {
      if (!piece.group.empty()) room = room / count_up_to(piece.group, room);
    }
    if (room == 0) {
      return fail(Errc::limit,
                  "character " + std::to_string(begin + 1) + ": more than " + std::to_string(most_) + " nodes");
    }
    append(pieces, 0, "");
    return {};
  }

  // The number of values, or more than `most` when it exceeds that.
  static std::size_t count_up_to(const std::vector<Range>& group, std::size_t most) {
    std::size_t count = 0;
    for (const Range& range : group) {
      count += static_cast<std::size_t>(std::min<std::uint64_t>(range.last - range.first, most)) + 1;
      if (count > most) return most + 1;
    }
    return count;
  }

  // Depth first, so that the last group varies fastest, as in Slurm.
  void append(const std::vector<Piece>& pieces, std::size_t next, const std::string& begun) {
    if (next == pieces.size()) {
      names_.push_back(begun);
      return;
    }
    const Piece& piece = pieces[next];
    if (piece.group.empty()) return append(pieces, next + 1, begun + piece.literal);
    for (const Range& range : piece.group) {
      for (std::uint64_t value = range.first; value <= range.last; ++value) {
        std::string digits = std::to_string(value);
        if (digits.size() < range.width) digits.insert(0, range.width - digits.size(), '0');
        append(pieces, next + 1, begun + piece.literal + digits);
      }
    }
  }

  std::string_view text_;
  std::size_t most_;
  std::size_t position_ = 0;
  std::vector<std::string> names_;
};

// The text around the last group of digits of a name. For a name without digits all of it is `before`.
struct Stem {
  std::string_view before;
  std::string_view after;
  friend auto operator<=>(const Stem&, const Stem&) = default;
};

std::pair<Stem, std::string_view> cut(std::string_view name) {
  constexpr std::string_view k_digits = "0123456789";
  const std::size_t end = name.find_last_of(k_digits) + 1;
  const std::size_t begin = name.substr(0, end).find_last_not_of(k_digits) + 1;
  if (end == 0 || end - begin > k_max_digits) return {{name, ""}, ""};
  return {{name.substr(0, begin), name.substr(end)}, name.substr(begin, end - begin)};
}

// Whether `next` continues, after `last`, a range whose first number has `width` digits.
bool goes_on(std::string_view last, std::string_view next, std::size_t width) {
  const bool written_so = next.size() == width || next.front() != '0';
  return written_so && to_number(next) == to_number(last) + 1;
}

// `numbers` ascend by their length, then by their digits.
std::string ranges_of(std::span<const std::string_view> numbers) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < numbers.size(); first = end) {
    const std::size_t width = numbers[first].size();
    for (end = first + 1; end < numbers.size() && goes_on(numbers[end - 1], numbers[end], width);) ++end;
    if (first > 0) text += ',';
    text += numbers[first];
    if (end - first > 1) text.append("-").append(numbers[end - 1]);
  }
  return text;
}

}  // namespace

std::optional<SlurmTime> parse_slurm_time(std::string_view text) {
  if (is_unknown(text)) return SlurmTime{};
  constexpr std::int64_t k_latest = std::int64_t{1} << 40U;
  if (const auto seconds = parse_number<std::int64_t>(text)) {
    if (*seconds > k_latest) return std::nullopt;
    return SlurmTime{*seconds == 0 ? std::nullopt : std::optional(Instant{*seconds}), {}};
  }
  const auto fields = calendar_fields(text);
  if (!fields) return std::nullopt;
  const auto [standard, summer] = instants_of_local(*fields);
  if (!standard && !summer) return std::nullopt;
  if (!standard || !summer || *standard == *summer) return SlurmTime{standard ? standard : summer, {}};
  return SlurmTime{std::min(*standard, *summer), std::max(*standard, *summer)};
}

std::optional<Duration> parse_slurm_duration(std::string_view text) {
  constexpr std::int64_t k_most = 1'000'000;
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto value = parse_number<std::int64_t>(text.substr(0, dash));
    if (!value || *value > k_most) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const auto value = parse_number<std::int64_t>(text.substr(0, colon));
    if (!value || *value > k_most || ++parts > 3) return std::nullopt;
    seconds = seconds * 60 + *value;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  if (parts < 2 || (dash != std::string_view::npos && parts != 3)) return std::nullopt;
  return Duration{days * 86400 + seconds};
}

Expected<std::vector<std::string>> expand_brackets(std::string_view text, std::size_t most) {
  return Parser(text, most).parse();
}

std::string collapse_names(std::span<const std::string> names) {
  SHAPLEY_REQUIRE(std::set<std::string_view>(names.begin(), names.end()).size() == names.size());
  std::map<Stem, std::vector<std::string_view>> numbers_by_stem;
  for (const std::string& name : names) {
    const auto [stem, number] = cut(name);
    numbers_by_stem[stem].push_back(number);
  }
  std::string text;
  const auto add = [&text](const Stem& stem, std::string_view number) {
    if (!text.empty()) text += ',';
    text.append(stem.before).append(number).append(stem.after);
  };
  for (auto& [stem, all] : numbers_by_stem) {
    std::sort(all.begin(), all.end(), [](std::string_view a, std::string_view b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    std::span<const std::string_view> numbers = all;
    if (numbers.front().empty()) {
      add(stem, "");
      numbers = numbers.subspan(1);
    }
    if (numbers.size() == 1) add(stem, numbers.front());
    if (numbers.size() > 1) add(stem, "[" + ranges_of(numbers) + "]");
  }
  return text;
}

}  // namespace shapley
