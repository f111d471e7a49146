// Files in directories of others: what is read there is a regular file within bounds or nothing, and what is written
// there replaces its own name only.
#include "base/files.hpp"

#include <atomic>
#include <cstdarg>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/support/must.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/waiting.hpp"

namespace {

// A mount that does not answer: an open(2) of a file named hanging waits until it is let go on.
std::atomic<bool> hangs = false;
std::atomic<int> hanging = 0;
std::atomic<int> opened = 0;

int open_or_hang(const char* path, int flags, mode_t mode) {
  if (std::string_view(path).ends_with("/hanging")) {
    ++opened;
    ++hanging;
    while (hangs) std::this_thread::yield();
    --hanging;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

mode_t mode_in(int flags, std::va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

// In place of the C library's.
extern "C" int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return open_or_hang(path, flags, mode);
}

namespace shapley {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  [[nodiscard]] static std::string content(const fs::path& file) { return must(read_text_file(file, 1000)); }
  // The names in the directory.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory.path())) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  TempDirectory directory;
};

// The test would never end if one of them were waited for.
TEST_F(Files, what_is_no_regular_file_is_refused_at_once) {
  const fs::path fifo = directory / "fifo";
  const fs::path link = directory / "link";
  const TempDirectory memory(TempDirectory::Place::memory);
  const fs::path in_memory = memory / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(in_memory.c_str(), 0600), 0);
  fs::create_symlink(fifo, link);
  for (const fs::path& file : {fifo, link, in_memory, directory.path(), fs::path("/dev/zero")}) {
    SCOPED_TRACE(file);
    EXPECT_FALSE(read_text_file(file, 10));
    EXPECT_FALSE(read_text_file(file, 10, {.time = std::chrono::minutes(10)}));
    EXPECT_FALSE(InputFile::open(file));
  }
}

TEST_F(Files, a_pipe_of_our_own_is_read) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const std::string text = "written by another process\n";
  ASSERT_EQ(::write(out.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  out.reset();
  InputFile read = must(InputFile::open("/dev/fd/" + std::to_string(in.get())));
  std::string line;
  EXPECT_TRUE(std::getline(read, line));
  EXPECT_EQ(line + '\n', text);
  EXPECT_FALSE(std::getline(read, line));
  EXPECT_FALSE(read.bad());
}

TEST_F(Files, a_stream_has_all_of_a_file) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + '\n';
  write(directory / "text", text);
  InputFile in = must(InputFile::open(directory / "text"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
}

TEST_F(Files, a_mount_that_does_not_answer_is_left_alone) {
  const fs::path file = directory / "hanging";
  write(file, "a statement");
  opened = 0;
  hangs = true;
  const auto late = read_text_file(file, 100, {.time = std::chrono::milliseconds(20)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::unavailable);
  // One thread waits for it, however often it is asked for.
  EXPECT_FALSE(read_text_file(file, 100, {.time = std::chrono::minutes(10)}));
  EXPECT_LE(opened, 1);
  hangs = false;
  EXPECT_TRUE(test::eventually([&] {
    const auto text = read_text_file(file, 100, {.time = std::chrono::minutes(10)});
    return text && *text == "a statement";
  }));
}

TEST_F(Files, reading_ends_when_the_process_is_to_end) {
  const fs::path file = directory / "hanging";
  write(file, "a statement");
  hangs = true;
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]);
  const Descriptor out(ends[1]);
  ASSERT_EQ(::write(out.get(), "!", 1), 1);
  EXPECT_FALSE(read_text_file(file, 100, {.time = std::chrono::minutes(10), .wake_up = in.get()}));
  hangs = false;
  EXPECT_TRUE(test::eventually([] { return hanging == 0; }));
}

TEST_F(Files, a_missing_file_has_another_error_than_an_unreadable_one) {
  const auto missing = read_text_file(directory / "missing", 100, {.time = std::chrono::minutes(10)});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  const auto folder = read_text_file(directory.path(), 100, {.time = std::chrono::minutes(10)});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::io);
}

// A user who can write the directory waits for the timer of another one.
TEST_F(Files, what_is_written_follows_no_link) {
  write(directory / "victim", "precious");
  const fs::path target = directory / "standing.json";
  for (const char* name : {"standing.json", "standing.json.new"}) fs::create_symlink("victim", directory / name);
  must(replace_file(target, "a statement", Readers::by_umask));
  EXPECT_EQ(content(directory / "victim"), "precious");
  EXPECT_EQ(content(target), "a statement");
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(names(), (std::vector<std::string>{"standing.json", "standing.json.new", "victim"})) << "something is left";
  EXPECT_FALSE(write_new_file(directory / "standing.json.new", "a key", 0600));
  EXPECT_EQ(content(directory / "victim"), "precious");
}

TEST_F(Files, a_file_is_replaced_whole_or_not_at_all) {
  const fs::path file = directory / "file";
  const mode_t before = ::umask(027);
  must(replace_file(file, "old", Readers::by_umask));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0640));
  must(replace_file(file, "new", Readers::owner));
  ::umask(before);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
  EXPECT_EQ(content(file), "new");
  fs::create_directory(directory / "folder");
  EXPECT_FALSE(replace_file(directory / "folder", "text", Readers::owner)) << "a folder cannot be replaced";
  EXPECT_EQ(names(), (std::vector<std::string>{"file", "folder"})) << "something is left";
}

}  // namespace
}  // namespace shapley
