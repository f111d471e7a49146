// The reference page and the manual page say what the program does.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "ctl/commands/history.hpp"
#include "ctl/commands/jobs.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/commands/workflows.hpp"
#include "ctl/exit_code.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(SHAPLEY_SOURCE_DIR) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_rows(const std::string& page, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const std::string row = "| `" + std::string(field.name) + "` | " + std::string(field.meaning) + " |\n";
    EXPECT_TRUE(contains(page, row)) << row;
  }
}

// Columns that cannot be chosen are listed by their titles.
void expect_column_rows(const std::string& page, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const std::string row = "| " + std::string(field.title) + " | " + std::string(field.meaning) + " |\n";
    EXPECT_TRUE(contains(page, row)) << row;
  }
}

TEST(Documentation, ListsEveryFieldWithItsMeaning) {
  const std::string page = text_of("docs/reference/shapleyctl.md");
  ASSERT_FALSE(page.empty());
  expect_rows(page, status_fields());
  expect_rows(page, jobs_fields());
  expect_rows(page, history_fields());
  expect_column_rows(page, workflow_fields());
  expect_column_rows(page, activity_fields());
}

TEST(Documentation, ListsEveryExitCode) {
  const std::string page = text_of("docs/reference/shapleyctl.md");
  const std::string manual = text_of("packaging/man/shapleyctl.1");
  ASSERT_FALSE(manual.empty());
  for (const ExitCode exit_code :
       {ExitCode::success, ExitCode::findings, ExitCode::usage, ExitCode::unavailable, ExitCode::refused,
        ExitCode::unreadable, ExitCode::incomplete, ExitCode::nothing_compared, ExitCode::internal}) {
    const std::string number = std::to_string(static_cast<int>(exit_code));
    EXPECT_TRUE(contains(page, "| " + number + " | ")) << number;
    EXPECT_TRUE(contains(manual, "\n" + number + "\t")) << number;
  }
}

// Books of the future are nobody's: every --at and --since is read by parse_past_time.
TEST(CommandLine, TimesThatMustBePastAreReadAsSuch) {
  std::size_t read = 0;
  const auto folder = std::filesystem::path(SHAPLEY_SOURCE_DIR) / "ctl";
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream in(file.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    static const std::regex call("(parse_\\w*time)\\([^()]*\"(--at|--since)\"");
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
      EXPECT_EQ((*it)[1], "parse_past_time") << file.path() << ": " << (*it)[2];
      ++read;
    }
  }
  EXPECT_GE(read, 3U);
}

}  // namespace
}  // namespace shapley::ctl
