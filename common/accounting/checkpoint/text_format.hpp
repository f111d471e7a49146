// Lines of words for checkpoints: "keyword word word ...". Words are free of white space; other bytes are written as
// %XX, the empty text as a lone "%". Reading never throws and never reads past the text; the first fault sticks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

// The version of the text that is written, and those before it, which are read, too: archives begin with such texts.
// The one before has no RankingDeclared::rule, the one before that also neither CapacityChanged::usable_cpus nor what
// was used at the end of settled periods.
inline constexpr std::int64_t k_text_version = 8;
inline constexpr std::int64_t k_text_before_rules = 7;
inline constexpr std::int64_t k_text_before_blocked = 6;

class TextWriter {
 public:
  TextWriter& line(std::string_view keyword);
  TextWriter& word(std::string_view text);
  TextWriter& number(Int128 value);
  TextWriter& instant(Instant t) { return number(t.value); }
  // Ends the text with a line that lets the reader detect damage.
  [[nodiscard]] std::string finish();

 private:
  std::string text_;
};

class TextReader {
 public:
  // Checks the last line. A damaged or truncated text is a fault from the start.
  explicit TextReader(std::string_view text);

  // Goes to the next line if it begins with `keyword`. A line with words left over is a fault.
  [[nodiscard]] bool next(std::string_view keyword);
  // Passes over all lines up to the next one that begins with `keyword`, or over all that are left.
  void skip_to(std::string_view keyword);
  [[nodiscard]] std::string word();
  // A number in [low, high]; low and a fault otherwise.
  [[nodiscard]] Int128 number(Int128 low, Int128 high);
  [[nodiscard]] std::int64_t small(std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(number(low, high));
  }
  [[nodiscard]] Instant instant(Instant low, Instant high) { return {small(low.value, high.value)}; }

  void fault(std::string_view what);
  // Whether everything was read without a fault.
  [[nodiscard]] bool finished();
  [[nodiscard]] bool ok() const { return fault_.empty(); }
  // The place and text of the first fault.
  [[nodiscard]] const std::string& complaint() const { return fault_; }

 private:
  [[nodiscard]] std::string_view raw_word();

  std::string_view rest_;  // lines after the current one
  std::string_view line_;  // words left of the current one
  std::size_t line_number_ = 0;
  std::string fault_;
};

// A UtilitySum as words of a checkpoint's line.

void write_sum(TextWriter& out, const game::UtilitySum& sum);
// Accepts at most `most_running` processors, and coefficients that real segments can have (utility.hpp).
[[nodiscard]] game::UtilitySum read_sum(TextReader& in, ProcessorMillionths most_running);

}  // namespace shapley::accounting
