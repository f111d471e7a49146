#include "base/bounded_text.hpp"

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

#include "base/guarded_main.hpp"

namespace shapley {
namespace {

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
  EXPECT_EQ(
      end.error().what,
      "line 2: longer than 1048576 bytes, which is the most that a line may have; is it the right file? Else leave "
      "the line out");
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
  EXPECT_EQ(
      end.error().what,
      "line 3: the text goes on after 8 bytes, which is the most that is read; is it the right file? Else read it "
      "in parts, as of a shorter time each");
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
  EXPECT_EQ(
      said,
      "shapley-x: there is not enough memory for this; ask for less at once (a shorter time, fewer rows), or allow "
      "it more (ulimit -v, MemoryMax= of its unit)");
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
  EXPECT_EXIT((void)run([] { throw std::bad_alloc(); }), testing::ExitedWithCode(k_exit_no_memory),
              "not enough memory");
  EXPECT_EXIT((void)run([] { throw std::runtime_error("lost"); }), testing::ExitedWithCode(70), "internal error: lost");
  EXPECT_EQ(run([] {}), 0);
}

}  // namespace
}  // namespace shapley
