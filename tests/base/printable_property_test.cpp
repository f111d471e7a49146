// printable() and the stream against an implementation of its own (tests/support/naive_printable.hpp).
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/printable.hpp"
#include "base/printable_stream.hpp"
#include "tests/support/naive_printable.hpp"

namespace shapley {
namespace {

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
