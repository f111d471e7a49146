// The reference pages and the manual page say what the program does.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "ctl/commands/commands.hpp"
#include "ctl/commands/jobs.hpp"
#include "ctl/commands/status.hpp"
#include "ctl/environment.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(SHAPLEY_SOURCE_DIR) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_rows(const std::string& page, std::span<const tables::Field> fields) {
  for (const tables::Field& field : fields) {
    const std::string row = "| `" + std::string(field.name) + "` | " + std::string(field.meaning) + " |\n";
    EXPECT_PRED2(contains, page, row) << row;
  }
}

// Columns that cannot be chosen are listed by their titles.
void expect_column_rows(const std::string& page, std::span<const tables::Field> fields) {
  for (const tables::Field& field : fields) {
    const std::string row = "| " + std::string(field.title) + " | " + std::string(field.meaning) + " |\n";
    EXPECT_PRED2(contains, page, row) << row;
  }
}

TEST(Documentation, ListsEveryFieldWithItsMeaning) {
  expect_rows(text_of("docs/reference/shapleyctl/status.md"), status_fields());
  expect_rows(text_of("docs/reference/shapleyctl/jobs.md"), jobs_fields());
  expect_rows(text_of("docs/reference/shapleyctl/history.md"), history_fields());
  const std::string workflows = text_of("docs/reference/shapleyctl/workflows.md");
  expect_column_rows(workflows, workflow_fields());
  expect_column_rows(workflows, activity_fields());
}

TEST(Documentation, ListsEveryExitCode) {
  const std::string page = text_of("docs/reference/shapleyctl.md");
  const std::string manual = text_of("packaging/man/shapleyctl.1.in");
  ASSERT_FALSE(manual.empty());
  for (const ExitCode exit_code :
       {ExitCode::success, ExitCode::findings, ExitCode::usage, ExitCode::unavailable, ExitCode::refused,
        ExitCode::unreadable, ExitCode::incomplete, ExitCode::nothing_compared, ExitCode::internal}) {
    const std::string number = std::to_string(static_cast<int>(exit_code));
    EXPECT_PRED2(contains, page, "| " + number + " | ") << number;
    EXPECT_PRED2(contains, manual, "\n.B " + number + "\n") << number;
  }
}

// No books of the future are read: every --at and --since is read by parse_past_time.
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
