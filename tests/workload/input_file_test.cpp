#include "workload/input_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include "workload/assignment.hpp"
#include "workload/sacct.hpp"
#include "workload/swf.hpp"

namespace shapley::workload {
namespace {

// Larger than every buffer of the reader, and hard to compress into one of them.
std::string long_text() {
  std::string text;
  std::uint64_t x = 1;
  for (int i = 0; i < 60'000; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    text += std::to_string(x >> 20U) + '\n';
  }
  return text;
}

class InputFile : public testing::Test {
 protected:
  InputFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shapley-input.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~InputFile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& bytes) {
    const auto file = folder_ / "trace";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  std::string gzip(const std::string& text) {
    const auto file = folder_ / "part.gz";
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return slurp(file);
  }
  static std::string xz(const std::string& text) {
    std::string bytes(lzma_stream_buffer_bound(text.size()), '\0');
    std::size_t used = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<std::uint8_t*>(bytes.data()), &used, bytes.size()),
              LZMA_OK);
    bytes.resize(used);
    return bytes;
  }
  static std::string slurp(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static Expected<std::string> read(const std::filesystem::path& file) {
    std::ostringstream text;
    SHAPLEY_TRY(read_input_file(file, [&](std::istream& stream) -> Expected<void> {
      if (stream.peek() != std::istream::traits_type::eof()) text << stream.rdbuf();
      return {};
    }));
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(InputFile, ReadsPlainGzipAndXz) {
  const std::string text = long_text();
  EXPECT_EQ(read(write(text)).value(), text);
  EXPECT_EQ(read(write(gzip(text))).value(), text);
  EXPECT_EQ(read(write(xz(text))).value(), text);
}

TEST_F(InputFile, ReadsSeveralMembersOfOneFile) {
  const std::string text = long_text();
  EXPECT_EQ(read(write(gzip(text) + gzip("end\n"))).value(), text + "end\n");
  EXPECT_EQ(read(write(xz(text) + xz("end\n"))).value(), text + "end\n");
}

TEST_F(InputFile, ReadsEmptyFiles) {
  EXPECT_EQ(read(write("")).value(), "");
  EXPECT_EQ(read(write(gzip(""))).value(), "");
  EXPECT_EQ(read(write(xz(""))).value(), "");
}

TEST_F(InputFile, SaysWhenACompressedFileIsCutShortOrDamaged) {
  const std::string text = long_text();
  for (const std::string& whole : {gzip(text), xz(text)}) {
    for (const std::size_t length : {std::size_t{8}, whole.size() / 2, whole.size() - 1}) {
      const auto found = read(write(whole.substr(0, length)));
      ASSERT_FALSE(found) << length;
      EXPECT_EQ(found.error().code, Errc::corrupt);
    }
    std::string damaged = whole;
    damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
    EXPECT_FALSE(read(write(damaged)));
  }
}

TEST_F(InputFile, NamesTheFileThatIsNotThere) {
  const auto found = read(folder_ / "absent");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("absent: cannot be read"), std::string::npos);
  EXPECT_FALSE(read(folder_));  // a directory opens, but is no file
}

TEST_F(InputFile, PutsTheFilesNameBeforeTheReadersComplaint) {
  const auto done = read_input_file(
      write("x"), [](std::istream&) -> Expected<void> { return fail(Errc::invalid_argument, "line 1: no"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, (folder_ / "trace").string() + ": line 1: no");
}

// A file of some kilobytes that holds a line of 64 MiB; every reader of a trace.
TEST_F(InputFile, a_line_without_end_is_an_error_and_takes_no_memory) {
  const auto file = write(gzip(std::string(std::size_t{1} << 26, '1')));
  EXPECT_LT(std::filesystem::file_size(file), std::uintmax_t{100'000});
  const std::string fault = file.string() + ": line 1: longer than 1048576 bytes";
  const auto fault_of = [&](const auto& read) {
    return read_input_file(file, read).error().what.substr(0, fault.size());
  };
  const auto drop = [](const auto& parsed) {
    return parsed ? Expected<void>{} : tl::unexpected<Error>(parsed.error());
  };
  EXPECT_EQ(fault_of([&](std::istream& text) { return drop(parse_swf(text, Malformed::refuse)); }), fault);
  EXPECT_EQ(fault_of([&](std::istream& text) { return drop(parse_sacct(text, Malformed::refuse)); }), fault);
  EXPECT_EQ(fault_of([&](std::istream& text) { return drop(read_assignment(text, Trace{}, 2)); }), fault);
}

}  // namespace
}  // namespace shapley::workload
