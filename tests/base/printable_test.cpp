#include "base/printable.hpp"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/printable_stream.hpp"
#include "base/utf8.hpp"

namespace shapley {
namespace {

using namespace std::string_literals;

TEST(Printable, PlainTextStaysAsItIs) {
  for (const char* text : {"", "physics", "it's job 3", "a\\x1b", "Bücher", "数学", "\U0001f600", "\u00a0", "\u0301"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(text, Newlines::kept), text);
  }
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("a\033[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("\0\a\b\t\r"s), "\\x00\\x07\\x08\\x09\\x0d");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\u0080\u009b2J\u009f"), "\\u0080\\u009b2J\\u009f");
  EXPECT_EQ(printable("\x9b"), "\\x9b") << "C1 as a byte is no UTF-8";
}

TEST(Printable, WhatShowsAnotherTextIsEscaped) {
  EXPECT_EQ(printable("\u061c\u200e\u200f"), "\\u061c\\u200e\\u200f");
  EXPECT_EQ(printable("\u202a\u202b\u202c\u202d\u202e"), "\\u202a\\u202b\\u202c\\u202d\\u202e");
  EXPECT_EQ(printable("\u2066\u2067\u2068\u2069"), "\\u2066\\u2067\\u2068\\u2069");
  EXPECT_EQ(printable("\u2028\u2029"), "\\u2028\\u2029");
  EXPECT_EQ(printable("\u200b\u200c\u200d\u2060\ufeff"), "\\u200b\\u200c\\u200d\\u2060\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\udb40\\udc41") << "a tag";
}

TEST(Printable, WhatIsNoTextIsEscaped) {
  EXPECT_EQ(printable("\uffff\ufdd0\U0001fffe\U0010ffff"), "\\uffff\\ufdd0\\ud83f\\udffe\\udbff\\udfff");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82") << "cut short";
  EXPECT_EQ(printable("\xe2\x82z\xe2\x82\xac"), "\\xe2\\x82z\u20ac") << "what follows is read again";
}

TEST(Printable, OnlyATextOfSeveralLinesKeepsItsNewlines) {
  EXPECT_EQ(printable("a\nb\r\n"), "a\\x0ab\\x0d\\x0a");
  EXPECT_EQ(printable("a\nb\r\n", Newlines::kept), "a\nb\\x0d\n");
}

TEST(Utf8, AnUnendedCharacterIsTold) {
  for (const char* text : {"\xc3", "\xe2", "\xe2\x82", "\xf0\x9f\x98"}) {
    EXPECT_EQ(first_character(text).kind, Utf8Character::Kind::unended) << printable(text);
  }
  EXPECT_EQ(first_character("\xe0\x80").kind, Utf8Character::Kind::broken) << "nothing makes this whole";
}

TEST(PrintableStream, EscapesWhatIsWrittenInWhateverWay) {
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    out << "a\033b\n" << '\033' << std::string("\u202e") << std::flush;
    out.put('\r');
    out.write("\x9b", 1);
  }
  EXPECT_EQ(out.str(), "a\\x1bb\n\\x1b\\u202e\\x0d\\x9b");
  out << '\033';
  EXPECT_EQ(out.str().back(), '\033') << "afterwards the stream is as it was";
}

TEST(PrintableStream, ACharacterMayComeByteByByte) {
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    for (const char byte : std::string("\u20ac\u202e\U0001f600")) out << byte << std::flush;
    EXPECT_EQ(out.str(), "\u20ac\\u202e\U0001f600");
    out << '\xe2' << std::flush;
    EXPECT_EQ(out.str(), "\u20ac\\u202e\U0001f600") << "more of it may come";
  }
  EXPECT_EQ(out.str(), "\u20ac\\u202e\U0001f600\\xe2") << "it did not come";
}

TEST(PrintableStream, ControlsThatTheProgramMeansPass) {
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    out << '\xe2' << TerminalControl::red << "\033[0m" << TerminalControl::plain << TerminalControl::line_begin
        << TerminalControl::erase_to_line_end;
  }
  EXPECT_EQ(out.str(), "\\xe2\033[31m\\x1b[0m\033[0m\r\033[K");
}

// Takes nothing, as a closed pipe.
class Full : public std::streambuf {};

TEST(PrintableStream, AFailureOfTheStreamIsOneOfTheWriter) {
  Full full;
  std::ostream out(&full);
  const PrintableStream guard(out);
  out << "text";
  EXPECT_FALSE(out.good());
  out.clear();
  out << TerminalControl::dim;
  EXPECT_FALSE(out.good());
}

}  // namespace
}  // namespace shapley
