// expand_brackets against an expander that knows the values beforehand and writes the notation from them;
// collapse_names against expand_brackets.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/printable.hpp"
#include "base/slurm_text.hpp"
#include "tests/support/naive_printable.hpp"

namespace shapley {
namespace {

using Names = std::vector<std::string>;

std::string padded(int value, int width) {
  std::string digits = std::to_string(value);
  while (static_cast<int>(digits.size()) < width) digits = "0" + digits;
  return digits;
}

// The notation and, found naively, what it stands for.
struct WrittenNames {
  std::string text;
  Names values;
};

WrittenNames pick_group() {
  WrittenNames group{"[", {}};
  const auto ranges = *rc::gen::inRange(1, 4);
  for (int i = 0; i < ranges; ++i) {
    const auto first = *rc::gen::inRange(0, 120);
    const auto last = first + *rc::gen::inRange(0, 15);
    const auto width = *rc::gen::element(1, 1, 2, 3);
    // Both ends with one number of digits whenever there are zeros in front.
    const int digits = width > static_cast<int>(std::to_string(first).size()) ? width : 1;
    if (i > 0) group.text += ',';
    group.text += padded(first, digits);
    if (last > first || *rc::gen::arbitrary<bool>()) group.text += '-' + padded(last, digits);
    for (int value = first; value <= last; ++value) group.values.push_back(padded(value, digits));
  }
  group.text += ']';
  return group;
}

WrittenNames pick_name() {
  WrittenNames name{*rc::gen::element<std::string>("n", "gpu-", "r0.", "A_", "4u"), {}};
  name.values = {name.text};
  const auto groups = *rc::gen::inRange(0, 3);
  for (int i = 0; i < groups; ++i) {
    const WrittenNames group = pick_group();
    const auto suffix = *rc::gen::element<std::string>("", "b", "-x", "7");
    name.text += group.text + suffix;
    Names longer;
    for (const std::string& begun : name.values) {
      for (const std::string& value : group.values) longer.push_back(begun + value + suffix);
    }
    name.values = longer;
  }
  return name;
}

RC_GTEST_PROP(Brackets, ExpandToWhatTheyWereWrittenFrom, ()) {
  std::string text;
  Names expected;
  const auto count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) {
    const WrittenNames name = pick_name();
    text += (i > 0 ? *rc::gen::element<std::string>(",", ", ", " ,") : std::string()) + name.text;
    expected.insert(expected.end(), name.values.begin(), name.values.end());
  }
  const auto names = expand_brackets(text);
  RC_ASSERT(names.has_value());
  RC_ASSERT(*names == expected);
}

RC_GTEST_PROP(Brackets, OfRandomCharactersNeverCrash, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("n1029[]-,. _*x")));
  const auto names = expand_brackets(text);
  if (names) {
    RC_ASSERT(!names->empty());
    for (const std::string& name : *names) RC_ASSERT(name.find_first_of("[], *") == std::string::npos);
  } else {
    RC_ASSERT(names.error().what.starts_with("character "));
  }
}

RC_GTEST_PROP(Brackets, CollapsedNamesExpandToTheSameSet, ()) {
  std::set<std::string> names;
  const auto count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    const auto stem = *rc::gen::element<std::string>("n", "r1n", "gpu-", "4u", "m00", "abc12345678901234567");
    const auto number = *rc::gen::inRange(0, *rc::gen::element(3, 12, 120));
    const auto width = *rc::gen::element(0, 1, 1, 2, 3);
    const auto suffix = *rc::gen::element<std::string>("", "", "b", "-x");
    names.insert(stem + (width > 0 ? padded(number, width) : "") + suffix);
  }
  Names shuffled(names.begin(), names.end());
  const std::string text = collapse_names(shuffled);
  std::reverse(shuffled.begin(), shuffled.end());
  RC_ASSERT(collapse_names(shuffled) == text);
  RC_ASSERT(text.empty() == names.empty());
  if (names.empty()) return;
  auto expanded = expand_brackets(text);
  RC_ASSERT(expanded.has_value());
  std::sort(expanded->begin(), expanded->end());
  RC_ASSERT(*expanded == Names(names.begin(), names.end()));
}

// printable() and the stream against an implementation of its own (tests/support/naive_printable.hpp).

using test::naive_printable;

// Text, escape sequences, characters near the limits of every range, and bytes that are none.
std::string pick_text() {
  std::string text;
  const auto pieces = *rc::gen::inRange(0, 12);
  for (int i = 0; i < pieces; ++i) {
    const auto near = *rc::gen::element<std::uint32_t>(0x00, 0x20, 0x7f, 0x80, 0xa0, 0x61c, 0x800, 0x200b, 0x2028,
                                                       0x2060, 0xd800, 0xe000, 0xfdd0, 0xfdf0, 0xfeff, 0xfffe, 0x10000,
                                                       0x1fffe, 0xe0000, 0xe0080, 0x10fffe, 0x110000);
    const auto value = static_cast<std::uint32_t>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(near) + *rc::gen::inRange(-20, 20)));
    std::string piece = *rc::gen::element<std::string>("job", "\033[2J", "\n", "\\", test::utf8_of(value),
                                                       test::utf8_of(value), test::utf8_of(value));
    if (*rc::gen::inRange(0, 4) == 0) piece.resize(piece.size() - 1);  // cut short
    if (*rc::gen::inRange(0, 6) == 0) piece += *rc::gen::arbitrary<char>();
    text += piece;
  }
  return text;
}

RC_GTEST_PROP(Printable, IsWhatTheNaiveOneMakes, ()) {
  const std::string text = pick_text();
  RC_ASSERT(printable(text) == naive_printable(text, false));
  RC_ASSERT(printable(text, Newlines::kept) == naive_printable(text, true));
}

RC_GTEST_PROP(Printable, OfBytesIsWhatTheNaiveOneMakes, (const std::string& text)) {
  RC_ASSERT(printable(text) == naive_printable(text, false));
}

RC_GTEST_PROP(Printable, OfPrintableTextIsThatText, ()) {
  const std::string once = printable(pick_text(), Newlines::kept);
  RC_ASSERT(printable(once, Newlines::kept) == once);
  RC_ASSERT(test::is_printable(once));
}

RC_GTEST_PROP(PrintableStream, PiecesMakeNoDifference, ()) {
  const std::string text = pick_text();
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    for (std::size_t at = 0; at < text.size();) {
      const auto size = *rc::gen::inRange<std::size_t>(1, 6);
      out << text.substr(at, size);
      if (*rc::gen::arbitrary<bool>()) out << std::flush;
      at += size;
    }
  }
  RC_ASSERT(out.str() == printable(text, Newlines::kept));
}

}  // namespace
}  // namespace shapley
