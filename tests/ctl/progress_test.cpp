// How far an audit is: shown on a terminal only, and gone when the report comes.
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "ctl/commands/audit.hpp"
#include "ctl/output/paint.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using ledger::testing::must;

std::string audited(const std::filesystem::path& file, bool terminal) {
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment{
      .out = out, .err = err, .terminal = terminal, .variable = [](const char*) { return std::nullopt; }};
  AuditArguments arguments;
  arguments.ledger = file.string();
  EXPECT_EQ(must(run_audit(arguments, {}, environment)), ExitCode::success);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

TEST(Progress, of_an_audit_is_shown_on_a_terminal_only) {
  const ledger::testing::TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  {
    auto ledger = ledger::testing::writer(file);
    must(ledger.append(example_events(), k_example_begin + Duration{40}));
  }
  const std::string plain = audited(file, false);
  EXPECT_EQ(plain.find_first_of("\r\033"), std::string::npos) << plain;
  EXPECT_PRED2(contains, plain, "correct to the last unit");
  const std::string shown = audited(file, true);
  EXPECT_TRUE(shown.starts_with("\rpages and indices\033[K\rhash chain: 0 %\033[K")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K" + plain)) << shown;
}

TEST(Progress, says_how_much_of_what_is_done) {
  std::ostringstream out;
  const Environment environment{
      .out = out, .err = out, .terminal = true, .variable = [](const char*) { return std::nullopt; }};
  {
    ProgressLine line(environment);
    line.show({.what = "rows", .done = 1, .all = 3});
    line.show({.what = "rows", .done = 1, .all = 3});
    line.show({.what = "rows", .done = 12'345});
  }
  EXPECT_EQ(out.str(), "\rrows: 33 %\033[K\rrows: 12,345\033[K\r\033[K");
}

}  // namespace
}  // namespace shapley::ctl
