#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paint.hpp"
#include "program.hpp"
#include "tables/table.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

TEST(Amounts, UtilityIsExactWhenShortAndRoundedWhenLong) {
  EXPECT_EQ(short_utility("0"), "0");
  EXPECT_EQ(short_utility("-17"), "-17");
  EXPECT_EQ(short_utility("12441.999995"), "12442");
  EXPECT_EQ(short_utility("-12441.25"), "-12441");
  EXPECT_EQ(short_utility("1000000"), "1.00e6");
  EXPECT_EQ(short_utility("1234567890"), "1.23e9");
  EXPECT_EQ(short_utility("-98765432109876543210.25"), "-9.88e19");
  EXPECT_EQ(short_utility("10000000000"), "1.00e10");
}

TEST(Amounts, StandingsCarryTheirSign) {
  EXPECT_EQ(signed_core_hours(0), "0.0");
  EXPECT_EQ(signed_core_hours(12.44), "+12.4");
  EXPECT_EQ(signed_core_hours(-3.06), "-3.1");
  EXPECT_EQ(signed_core_hours(1204.34), "+1,204.3");
  EXPECT_EQ(signed_core_hours(-1234567.0), "-1,234,567.0");
  EXPECT_EQ(signed_core_hours(0.4123), "+0.412");
  EXPECT_EQ(signed_core_hours(-0.04123), "-0.0412");
  EXPECT_EQ(signed_core_hours(0.0041234), "+0.00412");
  EXPECT_EQ(unsigned_core_hours(0), "0.0");
  EXPECT_EQ(plain_core_hours(-12.44), "-12.4");
  EXPECT_EQ(core_hours_or_unknown(-12.44), "-12.4");
  EXPECT_EQ(core_hours_or_unknown(12.44), "12.4");
  EXPECT_EQ(unsigned_core_hours(999.96), "1,000.0");
}

std::string through_a_printable_stream(const std::function<void(std::ostream&)>& print) {
  std::ostringstream out;
  {
    const PrintableStream guard(out);
    print(out);
  }
  return out.str();
}

TEST(Paint, OurColoursPassAPrintableStreamAndNothingElse) {
  const std::string text = "a " + tables::painted("red", tables::Paint::bad, true) + "\n\033[2J \033[7mb\033";
  EXPECT_EQ(through_a_printable_stream([&](std::ostream& out) { print_painted(out, text); }),
            "a \033[31mred\033[0m\n\\x1b[2J \\x1b[7mb\\x1b");
  EXPECT_EQ(through_a_printable_stream([](std::ostream& out) { print_painted(out, "plain\n"); }), "plain\n");
}

// As `shapleyctl ... >FILE` on a full disk.
TEST(StandardOutput, ThatCannotBeWrittenIsAnError) {
  const ledger::testing::TemporaryDirectory directory;
  const std::string err = (directory.path() / "err").string();
  for (const std::string arguments : {"--usage", "history --helpformat", "statement --help"}) {
    const std::string command = "exec " SHAPLEYCTL_BINARY " " + arguments + " >/dev/full 2>" + err;
    test::Child program("shapleyctl " + arguments,
                        [&] { execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr)); });
    EXPECT_EQ(program.wait(), code(ExitCode::unreadable)) << arguments;
    EXPECT_PRED2(contains, content_of(err), "standard output cannot be written") << arguments;
  }
}

}  // namespace
}  // namespace shapley::ctl
