#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/must.hpp"
#include "tests/support/temp_directory.hpp"
#include "workload/trace.hpp"
#include "workload/trace_files.hpp"

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

  TempDirectory directory_;
  std::filesystem::path folder_ = directory_.path();
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

// job submit wait run procs cpu mem req_procs req_time req_mem status user group exe queue partition previous think
constexpr const char* k_header =
    ";  Computer: Toy Cluster\n; MaxProcs: 140\n;MaxNodes: 70 (dual)\n;  Acknowledge: A\n;  Acknowledge: B\n";

Expected<Trace> parse_text(const std::string& text, Malformed choice = Malformed::refuse) {
  std::istringstream stream(text);
  return parse_swf(stream, choice);
}

TEST(Swf, NodesAreTheProcessorsWhereTheHeaderHasNoOthers) {
  EXPECT_EQ(must(parse_text("; MaxNodes: 128 (64 in batch)\n")).processors, 128);
  EXPECT_EQ(must(parse_text("; MaxNodes: 70\n; MaxProcs: 140\n")).processors, 140);
  EXPECT_EQ(must(parse_text("; Computer: Toy\n")).processors, 0);
}

TEST(Swf, ReadsJobsAndHeader) {
  const auto trace = must(parse_text(std::string(k_header) + "1 100 5 30 2 1.5 -1 4 60 -1 1 7 3 -1 -1 -1 -1 -1\n"
                                                             "2 90 5 10 -1 -1 -1 4 60 -1 1 8 3 -1 -1 -1 -1 -1\r\n\n"));
  EXPECT_EQ(trace.processors, 140);
  EXPECT_EQ(trace.computer, "Toy Cluster");
  EXPECT_EQ(trace.acknowledge, "A; B");
  ASSERT_EQ(trace.jobs.size(), 2U);
  // In order of submission; requested processors stand in for unknown ones.
  EXPECT_EQ(trace.jobs[0].id, 2);
  EXPECT_EQ(trace.jobs[0].submit.value, 90);
  EXPECT_EQ(trace.jobs[0].processors, 4);
  EXPECT_EQ(trace.jobs[1].id, 1);
  EXPECT_EQ(trace.jobs[1].run.value, 30);
  EXPECT_EQ(trace.jobs[1].processors, 2);
  EXPECT_EQ(trace.users[trace.jobs[1].user], "7");
  EXPECT_EQ(trace.groups.size(), 1U);
}

TEST(Swf, JobsOfOneInstantKeepTheirOrder) {
  const auto trace = parse_text(
      "5 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "4 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[0].id, 5);
  EXPECT_EQ(trace->jobs[1].id, 3);
  EXPECT_EQ(trace->jobs[2].id, 4);
}

TEST(Swf, CountsRecordsWithoutAJobByReason) {
  const auto trace = parse_text(
      "1 0 0 1 1 -1 -1 1 -1 -1 5 -1 1 -1 -1 -1 -1 -1\n"
      "2 0 0 0 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "3 0 0 1 -1 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
      "4 0 0 1 1 -1 -1 1 -1 -1 2 1 1 -1 -1 -1 -1 -1\n"
      "5 0 0 1 1 -1 -1 1 -1 -1 0 1 1 -1 -1 -1 -1 -1\n");
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].id, 5);  // a job that failed ran nevertheless
  const std::map<std::string, std::uint64_t> expected{
      {"no user", 1}, {"no run time", 1}, {"no processors", 1}, {"part of a job that another line has in full", 1}};
  EXPECT_EQ(trace->omitted.unusable, expected);
}

struct BadLine {
  const char* line;
  const char* why;
};

class SwfBadLine : public testing::TestWithParam<BadLine> {};

TEST_P(SwfBadLine, IsRefusedWithItsNumberOrSkippedAndCounted) {
  const std::string good = "1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
  const std::string text = "; MaxProcs: 4\n" + good + GetParam().line + "\n" + good;
  const auto refused = parse_text(text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_EQ(refused.error().what.rfind(std::string("line 3: ") + GetParam().why, 0), 0U) << refused.error().what;
  const auto skipped = parse_text(text, Malformed::skip);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->jobs.size(), 2U);
  EXPECT_EQ(skipped->omitted.malformed, 1U);
  ASSERT_EQ(skipped->omitted.examples.size(), 1U);
  EXPECT_EQ(skipped->omitted.examples[0], std::string("line 3: ") + GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    All, SwfBadLine,
    testing::Values(BadLine{"1 2 3", "expected 18 columns, found 3"},
                    BadLine{"1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1 9", "expected 18 columns, found 19"},
                    BadLine{"1 0 0 1 1 -1 -1 1 -1 x1 1 1 1 -1 -1 -1 -1 -1", "column 10: \"x1\" is no number"},
                    BadLine{"1 0 0 1.5.5 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1", "column 4: \"1.5.5\" is no number"},
                    BadLine{"1 99999999999999999999 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "column 2: \"99999999999999999999\" is no number"},
                    BadLine{"1 -7 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "a time or processor count is out of range"},
                    BadLine{"1 0 0 4611686018427387904 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1",
                            "a time or processor count is out of range"}));

TEST(Swf, KeepsOnlyTheFirstExamples) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "nonsense\n";
  const auto trace = parse_text(text, Malformed::skip);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->omitted.malformed, 25U);
  EXPECT_EQ(trace->omitted.examples.size(), Omissions::k_max_examples);
}

Expected<Trace> parse_lines(const std::string& text, Malformed choice = Malformed::refuse) {
  std::istringstream stream(text);
  return parse_sacct(stream, choice);
}

TEST(Sacct, ReadsJobsAndLeavesStepsOut) {
  const auto trace =
      must(parse_lines("JobIDRaw|User|Account|Submit|Elapsed|AllocCPUS|State\n"
                       "17|ada|astro|2026-11-21T08:59:05|1-00:00:10|4|COMPLETED\n"
                       "17.batch||astro|2026-11-21T08:59:06|1-00:00:10|4|COMPLETED\n"
                       "18|bob|bio|2024-02-29T00:00:00|00:10:00|1|FAILED\n"
                       "19|bob|bio|2026-11-21T08:59:06|00:00:00|0|CANCELLED by 17\n"));
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].id, 18);
  EXPECT_EQ(trace.jobs[0].submit.value, 1709164800);  // date -u -d 2024-02-29 +%s
  EXPECT_EQ(trace.jobs[0].run.value, 600);
  EXPECT_EQ(trace.jobs[1].submit.value, 1795251545);  // date -u -d 2026-11-21T08:59:05 +%s
  EXPECT_EQ(trace.jobs[1].run.value, 86410);
  EXPECT_EQ(trace.jobs[1].processors, 4);
  EXPECT_EQ(trace.users[trace.jobs[1].user], "ada");
  EXPECT_EQ(trace.groups[trace.jobs[1].group], "astro");
  EXPECT_EQ(trace.omitted.unusable.at("no run time"), 1U);
}

TEST(Sacct, ColumnsMayComeInAnyOrderAndAsSeconds) {
  const auto trace =
      must(parse_lines("NCPUS|Partition|ElapsedRaw|Submit|User|JobID\n"
                       "2|debug|7|1700000000|ada|17_3\n"));
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].id, 17);
  EXPECT_EQ(trace.jobs[0].submit.value, 1700000000);
  EXPECT_EQ(trace.jobs[0].run.value, 7);
}

TEST(Sacct, DatesAndTimesThatThereAreNotAreRefused) {
  for (const char* submit : {"2026-02-31T08:00:00", "2026-13-01T08:00:00", "2026-11-21T24:00:00", "2026-11-21"})
    EXPECT_FALSE(parse_lines(std::string("JobIDRaw|User|Submit|Elapsed|AllocCPUS\n17|ada|") + submit + "|00:10:00|4\n"))
        << submit;
}

// sacct -M all: job 17 of two clusters.
TEST(Sacct, RowsOfTwoClustersAreRefusedByTheirColumn) {
  const auto two = parse_lines(
      "Cluster|JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n"
      "north|17|ada|1700000000|600|4\n"
      "south|18|bob|1700000000|600|4\n",
      Malformed::skip);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().what.rfind("line 3: Cluster: 'south', and line 2 is of 'north'; ", 0), 0U) << two.error().what;
  EXPECT_TRUE(
      parse_lines("Cluster|JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n"
                  "north|17|ada|1700000000|600|4\n"
                  "north|18|bob|1700000000|600|4\n"));
}

TEST(Sacct, RowsThatContradictEachOtherAreRefused) {
  const std::string header = "JobIDRaw|User|Account|Submit|Start|ElapsedRaw|AllocCPUS|State\n";
  const std::string first = "17|ada|astro|1700000000|1700000100|600|4|COMPLETED\n";
  for (const char* second :
       {"17|bob|astro|1700000000|1700000100|600|4|COMPLETED\n", "17|ada|bio|1700000000|1700000100|600|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|601|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|600|8|COMPLETED\n"}) {
    const auto refused = parse_lines(header + first + second);
    ASSERT_FALSE(refused) << second;
    EXPECT_EQ(refused.error().what.rfind("line 3: job 17 is another one in line 2; ", 0), 0U) << refused.error().what;
  }
  const auto without_start =
      parse_lines("JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n17|ada|1700000000|600|4\n17|bob|1700000000|600|4\n");
  ASSERT_FALSE(without_start);
  // Requeued, resized, its number used again; a task of another array; the same row twice.
  for (const char* second :
       {"17|ada|astro|1700000000|1700009100|60|8|COMPLETED\n", "17|ada|astro|1700000000|1700000100|30|2|RESIZING\n",
        "17|bob|bio|1800000000|1800000100|600|4|COMPLETED\n", "17_1|bob|bio|1700000000|1700000100|600|4|COMPLETED\n",
        "17|ada|astro|1700000000|1700000100|600|4|COMPLETED\n"}) {
    const auto fine = parse_lines(header + first + second);
    ASSERT_TRUE(fine) << second << fine.error().what;
    EXPECT_EQ(fine->jobs.size(), 2U);
  }
}

TEST(Sacct, SaysWhichColumnIsMissing) {
  const auto trace = parse_lines("JobIDRaw|User|Submit|AllocCPUS\n");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().what.find("line 1: column ElapsedRaw is missing"), std::string::npos) << trace.error().what;
  EXPECT_FALSE(parse_lines(""));
}

TEST(Sacct, BadLinesAreRefusedOrCounted) {
  const std::string header = "JobIDRaw|User|Submit|ElapsedRaw|AllocCPUS\n";
  for (const char* line : {"1|ada|1700000000|5", "1|ada|yesterday|5|1", "1|ada|2026-13-01T00:00:00|5|1",
                           "1|ada|1700000000|-5|1", "1|ada|1700000000|5|many"}) {
    const std::string text = header + "1|ada|1700000000|5|1\n" + line + "\n";
    const auto refused = parse_lines(text);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().what.rfind("line 3: ", 0), 0U) << refused.error().what;
    const auto skipped = parse_lines(text, Malformed::skip);
    ASSERT_TRUE(skipped) << line;
    EXPECT_EQ(skipped->jobs.size(), 1U);
    EXPECT_EQ(skipped->omitted.malformed, 1U);
  }
}

Trace trace_of(std::size_t users) {
  Trace trace;
  for (std::size_t i = 0; i < users; ++i) {
    trace.users.push_back("u" + std::to_string(i));
    trace.jobs.push_back(
        {.submit = {0}, .run = {1}, .processors = 1, .user = static_cast<std::uint32_t>(i), .group = 0});
  }
  trace.groups = {"g"};
  return trace;
}

TEST(DealUsers, GivesEveryOrganizationAsManyUsers) {
  const Trace trace = trace_of(56);
  const Assignment assignment = deal_users(trace, 5, 7);
  std::vector<int> users(5, 0);
  for (const std::uint32_t u : assignment.organization) ++users.at(u);
  EXPECT_EQ(users, (std::vector<int>{12, 11, 11, 11, 11}));
  EXPECT_EQ(deal_users(trace, 5, 7).organization, assignment.organization);
  EXPECT_NE(deal_users(trace, 5, 8).organization, assignment.organization);
}

TEST(AssignGroups, LargestGroupsStandAlone) {
  Trace trace;
  trace.groups = {"small", "large", "middle", "tiny"};
  const std::int64_t work[] = {10, 1000, 100, 1};
  for (std::uint32_t g = 0; g < 4; ++g)
    trace.jobs.push_back({.submit = {0}, .run = {work[g]}, .processors = 1, .user = 0, .group = g});
  const Assignment assignment = assign_groups(trace, 3);
  EXPECT_EQ(assignment.organization, (std::vector<std::uint32_t>{2, 0, 1, 2}));
  EXPECT_EQ(assignment.names, (std::vector<std::string>{"large", "middle", "others"}));
  EXPECT_EQ(assignment.of(trace.jobs[2]), 1U);
}

Expected<Assignment> read(const std::string& text, std::size_t organizations = 0) {
  std::istringstream stream(text);
  return read_assignment(stream, trace_of(3), organizations);
}

TEST(ReadAssignment, TakesUsersAndAllOthers) {
  const auto assignment = must(read("# who is who\nu2 astro\n\n* bio # the rest\n"));
  EXPECT_EQ(assignment.organization, (std::vector<std::uint32_t>{1, 1, 0}));
  EXPECT_EQ(assignment.names, (std::vector<std::string>{"astro", "bio"}));
}

TEST(ReadAssignment, NamesWhatIsWrong) {
  EXPECT_EQ(read("u0\n").error().what, "line 1: expected \"USER ORGANIZATION\"");
  EXPECT_EQ(read("u0 a b\n").error().what, "line 1: expected \"USER ORGANIZATION\"");
  EXPECT_EQ(read("u0 a\nu0 b\n").error().what, "line 2: user u0 was named before");
  EXPECT_EQ(read("u0 a\nu1 a\n").error().what.rfind("user u2 has no organization", 0), 0U);
  EXPECT_EQ(read("* a\n", 2).error().what.rfind("names 1 organizations, not 2", 0), 0U);
}

TEST(Endow, SumsToTheTotal) {
  EXPECT_EQ(endow(Endowment::uniform, 3, 70).value(), (std::vector<std::uint32_t>{24, 23, 23}));
  // 70 / (1 + 1/2 + 1/3 + 1/4 + 1/5) = 30.66: 30.66, 15.33, 10.22, 7.66, 6.13
  EXPECT_EQ(endow(Endowment::zipf, 5, 70).value(), (std::vector<std::uint32_t>{31, 15, 10, 8, 6}));
  for (std::size_t k = 1; k <= 40; ++k) {
    for (const std::int64_t total : {1, 7, 240, 8192}) {
      const auto m = endow(Endowment::zipf, k, total).value();
      EXPECT_EQ(std::accumulate(m.begin(), m.end(), std::int64_t{0}), total);
      EXPECT_TRUE(std::is_sorted(m.rbegin(), m.rend()));
    }
  }
  EXPECT_FALSE(endow(Endowment::zipf, 0, 5));
  EXPECT_FALSE(endow(Endowment::zipf, 5, 0));
}

}  // namespace
}  // namespace shapley::workload
