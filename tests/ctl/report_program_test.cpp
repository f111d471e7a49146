// `shapleyctl report` as a program: which files it writes, what it refuses, which exit code says what.
#include <sstream>

#include <gtest/gtest.h>

#include "ctl/exit_code.hpp"
#include "interval_fixture.hpp"
#include "ledger/chain/signed_head.hpp"
#include "page_fixture.hpp"

namespace shapley::ctl {
namespace {

TEST_F(Page, nothing_and_one_instant) {
  { const ledger::Ledger empty = ledger::testing::writer(file()); }
  const Outcome nothing = run("--no-charts -o " + out());
  EXPECT_EQ(nothing.exit_code, code(ExitCode::unreadable)) << nothing.err;
  EXPECT_TRUE(contains(nothing.err, "the ledger is empty")) << nothing.err;
  EXPECT_FALSE(fs::exists(out()));
  fs::remove(file());
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    must(ledger.append(std::vector<accounting::Event>{accounting::OrganizationsDeclared{k_november, {"a"}}},
                       k_november));
  }
  // All that is known is of one instant, and of the second after it.
  EXPECT_EQ(run("--since 2026-11-01 -o " + out()).exit_code, code(ExitCode::usage));
  const Outcome second = run("--since 2026-11-01 --known-until 2026-11-01T00:00:01 -o " + out());
  EXPECT_EQ(second.exit_code, code(ExitCode::success)) << second.err;
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_TRUE(contains(page, "a is even with the others"));
  EXPECT_TRUE(contains(page, "No job that could have started waited"));
  EXPECT_TRUE(contains(page, "Nobody&#39;s jobs ran on another"));
  // And the time before it.
  const Outcome before = run("--since 2026-10-01 --until 2026-10-02 -o " + out());
  EXPECT_EQ(before.exit_code, code(ExitCode::usage)) << before.err;
  EXPECT_TRUE(contains(before.err, "the books begin at 2026-11-01T00:00:00Z")) << before.err;
}

TEST_F(Page, of_the_program) {
  write_consortium(file(), consortium_names(3));
  const Outcome made = run("--month 2026-11 --title 'The <consortium>' -o " + out());
  EXPECT_EQ(made.exit_code, code(ExitCode::success)) << made.err;
  EXPECT_EQ(made.out, out() + "/index.html\n");
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_TRUE(contains(page, "<h1>The &lt;consortium&gt;</h1>")) << page.substr(0, 400);
  EXPECT_TRUE(contains(page, "<title>The &lt;consortium&gt;, 2026-11-01 to 2026-12-01</title>"));
  EXPECT_TRUE(contains(page, "Correct to the last unit"));
  EXPECT_TRUE(contains(page, "There is none: the ledger holds none"));
  EXPECT_EQ(count(page, "<figure>"), 4U);
  // The file of values beside the page is the command's own, but for single persons.
  const Outcome csv =
      run_shapleyctl(directory.path(), "statement --ledger " + file().string() + " --month 2026-11 --csv");
  std::istringstream lines(csv.out);
  std::string without_users;
  std::size_t of_users = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool of_user = contains(line, ",user_");
    of_users += of_user ? 1 : 0;
    if (!of_user) without_users += line + '\n';
  }
  EXPECT_GT(of_users, 0U);
  EXPECT_EQ(content_of(fs::path(out()) / "statement.csv"), without_users);
  for (const char* name : {"standings.csv", "lending.csv", "waiting.csv", "months.csv", "corrections.csv"})
    EXPECT_TRUE(fs::exists(fs::path(out()) / name)) << name;
  EXPECT_TRUE(contains(run("--no-audit --no-charts -o " + out()).out, "index.html"));
  EXPECT_TRUE(contains(content_of(fs::path(out()) / "index.html"), "it was left out by --no-audit"));
  EXPECT_EQ(run("--month 2026-11 -O nosuch -o " + out()).exit_code, code(ExitCode::usage));
  EXPECT_EQ(run("--month 2026-11").exit_code, code(ExitCode::usage));
  EXPECT_EQ(run("--month 2026-11 -o " + file().string() + "/below").exit_code, code(ExitCode::unreadable));
}

TEST_F(Page, without_gnuplot) {
  write_consortium(file(), consortium_names(3));
  const Outcome missing = run("--month 2026-11 -o " + out(), "PATH=/nonexistent");
  EXPECT_EQ(missing.exit_code, code(ExitCode::unreadable));
  EXPECT_TRUE(contains(missing.err, "gnuplot-nox")) << missing.err;
  EXPECT_TRUE(contains(missing.err, "--no-charts")) << missing.err;
  EXPECT_FALSE(fs::exists(out()));
  const Outcome without = run("--month 2026-11 --no-charts -o " + out(), "PATH=/nonexistent");
  EXPECT_EQ(without.exit_code, code(ExitCode::success)) << without.err;
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_EQ(count(page, "<figure>"), 0U);
  EXPECT_EQ(count(page, "<table>"), 5U);
}

TEST_F(Page, a_signed_head_is_checked) {
  write_consortium(file(), consortium_names(3));
  const std::string key = (directory.path() / "key").string();
  ASSERT_EQ(run_shapleyctl(directory.path(), "keygen " + key).exit_code, 0);
  ASSERT_EQ(run_shapleyctl(directory.path(), "keygen " + key + "2").exit_code, 0);
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    const auto signing = must(ledger::SigningKey::read(key));
    must(ledger.store_head(must(ledger::sign_head(ledger, signing, k_consortium_end))));
  }
  const auto page = [&] { return content_of(fs::path(out()) / "index.html"); };
  EXPECT_EQ(run("--no-charts -o " + out()).exit_code, 0);
  EXPECT_TRUE(contains(page(), "<pre>shapley ledger head 1\nledger: "));
  EXPECT_TRUE(contains(page(), "The signature was not checked here"));
  EXPECT_EQ(run("--no-charts --public-key " + key + ".pub -o " + out()).exit_code, 0);
  EXPECT_TRUE(contains(page(), "The signature is good"));
  const Outcome other = run("--no-charts --public-key " + key + "2.pub -o " + out());
  EXPECT_EQ(other.exit_code, code(ExitCode::findings));
  EXPECT_TRUE(contains(other.err, "not proven"));
  EXPECT_TRUE(contains(page(), "The signature is NOT good"));
}

}  // namespace
}  // namespace shapley::ctl
