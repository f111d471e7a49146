// `shapleyctl report` as a program: the files that it writes, its exit codes, and what it does without gnuplot.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/calendar.hpp"
#include "ctl/output/paper.hpp"
#include "fake_daemon.hpp"
#include "ledger/chain/signing.hpp"
#include "page_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

TEST_F(Page, of_the_program) {
  write_consortium(file(), consortium_names(3));
  const Outcome made = ends(ExitCode::success, run("--month 2026-11 --title 'The <consortium>' -o " + out()));
  EXPECT_EQ(made.out, out() + "/index.html\n");
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_PRED2(contains, page, "<h1>The &lt;consortium&gt;</h1>") << page.substr(0, 400);
  EXPECT_PRED2(contains, page, "<title>The &lt;consortium&gt;, 1 November 2026 to 1 December 2026</title>");
  EXPECT_PRED2(contains, page, "Correct to the last unit");
  EXPECT_PRED2(contains, page, "There is no head: the ledger holds none");
  EXPECT_EQ(count(page, "<figure>"), 4U);
  EXPECT_EQ(count(page, "<div class=\"beside\"><div>\n<figure>"), 4U);
  // The file of values beside the page is the command's own, without single persons.
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
  EXPECT_PRED2(contains, run("--no-audit --no-charts -o " + out()).out, "index.html");
  EXPECT_PRED2(contains, content_of(fs::path(out()) / "index.html"), "it was left out by --no-audit");
  ends(ExitCode::usage, run("--month 2026-11 -O nosuch -o " + out()));
  ends(ExitCode::usage, run("--month 2026-11"));
  ends(ExitCode::unreadable, run("--month 2026-11 -o " + file().string() + "/below"));
}

// What does not fit on a page beside twenty organizations' lines is for those who ask for it.
TEST_F(Page, a_statement_of_twenty_organizations_has_its_tables_only) {
  write_consortium(file(), consortium_names(20));
  const std::string statement = "statement --month 2026-11 --ledger " + file().string();
  const std::string text = ends(ExitCode::success, run_shapleyctl(directory.path(), statement)).out;
  EXPECT_PRED2(lacks, text, "What cooperation was worth");
  EXPECT_LE(std::ranges::count(text, '\n'), 66) << text;
  EXPECT_PRED2(contains, run_shapleyctl(directory.path(), statement + " --pairs").out, "What cooperation was worth");
}

TEST_F(Page, has_users_only_where_they_are_asked_for) {
  write_consortium(file(), consortium_names(3));
  const std::string options = "--month 2026-11 --no-audit --no-charts -o " + out();
  ends(ExitCode::success, run(options));
  EXPECT_PRED2(lacks, content_of(fs::path(out()) / "index.html"), "4000001");
  EXPECT_FALSE(fs::exists(fs::path(out()) / "users.csv"));
  ends(ExitCode::success, run("--users " + options));
  std::map<std::string, double> got;
  for (const auto& row : parsed_csv(content_of(fs::path(out()) / "statement.csv"))) {
    if (row.at("item") == "own" || row.at("item") == "borrowed")
      got[row.at("organization")] += std::stod(row.at("core_hours"));
  }
  const Rows users = parsed_csv(content_of(fs::path(out()) / "users.csv"));
  for (const auto& row : users) got[row.at("organization")] -= std::stod(row.at("core_hours"));
  for (const auto& [name, rest] : got) EXPECT_NEAR(rest, 0, 1e-6) << name;
  auto table = table_of(content_of(fs::path(out()) / "index.html"), "Users of each organization");
  std::erase_if(table, [](const auto& cells) { return cells[0].starts_with('(') || cells[2] == k_sum; });
  ASSERT_GT(table.size(), 1U);
  EXPECT_EQ(table.size(), users.size() + 1);
  std::map<std::string, double> parts;
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_EQ(table[i][2], users[i - 1].at("user"));
    parts[table[i][0]] += std::stod(table[i][4]);
  }
  for (const auto& [name, part] : parts) EXPECT_NEAR(part, 100, 1e-9) << name;
  // The page of one organization has its users only.
  ends(ExitCode::success, run("--users --per-organization " + options));
  const std::string name = consortium_names(3).front();
  const Rows own = parsed_csv(content_of(fs::path(out()) / "organizations" / name / "users.csv"));
  ASSERT_FALSE(own.empty());
  for (const auto& row : own) EXPECT_EQ(row.at("organization"), name);
  // An earlier report leaves none of them behind.
  ends(ExitCode::success, run(options));
  EXPECT_FALSE(fs::exists(fs::path(out()) / "users.csv"));
  ends(ExitCode::usage, run("--month 2026-11 --users --consortium " + file().string() + " -o " + out()));
  ends(ExitCode::usage, run("--live --users -o " + out()));
}

// Whether each amount of `exact`, which may have more decimals, is that of `rounded`. Other cells are equal.
bool rounds_to(const std::vector<std::string>& exact, const std::vector<std::string>& rounded) {
  return std::ranges::equal(exact, rounded, [](const std::string& a, const std::string& b) {
    const std::size_t point = b.rfind('.');
    if (a == b || point == std::string::npos || a.find('.') == std::string::npos) return a == b;
    const double half_a_unit = 0.5 * std::pow(10.0, -static_cast<double>(b.size() - point - 1));
    return std::fabs(std::stod(a) - std::stod(b)) <= half_a_unit * 1.000001;
  });
}

// The page of one organization has the decimals that its own amounts need.
TEST_F(Page, of_each_organization) {
  write_consortium(file(), consortium_names(3));
  const Outcome made = ends(ExitCode::success, run("--month 2026-11 --per-organization -o " + out()));
  std::vector<std::string> names = organizations_of(whole());
  EXPECT_EQ(std::erase(names, "commons"), 1U);
  ASSERT_GE(names.size(), 3U);
  EXPECT_EQ(count(made.out, "/index.html\n"), names.size() + 1) << made.out;
  const auto rows_of = [](const std::string& page) { return table_of(page, "Every organization"); };
  const auto whole_rows = rows_of(content_of(fs::path(out()) / "index.html"));
  for (const std::string& name : names) {
    const fs::path own = fs::path(out()) / "organizations" / name;
    const std::string page = content_of(own / "index.html");
    EXPECT_PRED2(contains, page, "Correct to the last unit");
    // The figures are those of the page of all, and the page of one has no row of another one.
    const auto own_rows = rows_of(page);
    ASSERT_EQ(own_rows.size(), 2U) << name;
    const auto of_all = std::ranges::find(whole_rows, name, [](const auto& row) { return row.front(); });
    ASSERT_TRUE(of_all != whole_rows.end()) << name;
    EXPECT_PRED2(rounds_to, own_rows.back(), *of_all) << name;
    for (const auto& row : parsed_csv(content_of(own / "statement.csv")))
      EXPECT_TRUE(row.at("organization") == name || row.at("other") == name)
          << row.at("organization") << " of " << name;
  }
  const fs::path alone = directory.path() / "alone";
  ends(ExitCode::success, run("--month 2026-11 -O " + names.front() + " -o " + alone.string()));
  EXPECT_EQ(content_of(fs::path(out()) / "organizations" / names.front() / "statement.csv"),
            content_of(alone / "statement.csv"));
  ends(ExitCode::usage, run("--per-organization --consortium " + file().string() + " -o " + out()));
}

TEST_F(Page, of_a_whole_month_and_all_organizations_is_told_to_the_daemon_as_its_papers) {
  write_consortium(file(), consortium_names(3));
  std::vector<json> told;
  const FakeDaemon daemon(directory.path() / "s", FakeDaemon::welcoming([&](const json& request) {
                            if (request["request"] == "upkeep") told.push_back(request);
                            return json::object();
                          }));
  const std::string name = consortium_names(3).front();
  for (const std::string& time : {std::string("--month 2026-11"), std::string("--since 2026-11-01 --until 2026-12-01"),
                                  "--month 2026-11 -O " + name, std::string("--month 2026-11 --no-audit")}) {
    told.clear();
    ends(ExitCode::success,
         run(time + " --no-charts -o " + out(), "SHAPLEY_SOCKET=" + (directory.path() / "s").string()));
    const auto papers = std::ranges::find(told, "papers", [](const json& request) { return request["done"]; });
    ASSERT_EQ(papers != told.end(), time == "--month 2026-11") << time;
    if (papers == told.end()) continue;
    EXPECT_EQ((*papers)["until"], parse_instant("2026-12-01").value().value);
    EXPECT_EQ((*papers)["sequence"], told.front()["sequence"]) << "the audit's";
    EXPECT_EQ((*papers)["hash"], told.front()["hash"]);
  }
}

// The daemon's ledger could be read here; it is not, because it was not named.
TEST_F(Page, of_the_daemon_has_its_figures_and_no_audit) {
  write_consortium(file(), consortium_names(3));
  const SiteReport november = report_of(parse_instant("2026-11-01").value(), parse_instant("2026-12-01").value());
  ledger::StatusReport status = must(answers::answer(ledger::StatusRequest{}, {.path = file()}));
  status.daemon.emplace();
  status.daemon->ledger = file().native();
  status.daemon->cluster.name = "newton";
  std::vector<std::string> asked;
  const FakeDaemon daemon(directory.path() / "s", FakeDaemon::welcoming([&](const json& request) -> json {
                            asked.push_back(request["request"]);
                            if (asked.back() == "statement") return json_of(november.statement);
                            if (asked.back() == "history")
                              return json_of(request["by"] == "month" ? november.months : november.history);
                            if (asked.back() == "status") return json_of(status);
                            return error_reply({Errc::denied, "no key"});
                          }));
  ends(ExitCode::success, run_shapleyctl(directory.path(), "report --no-charts --month 2026-11 -o " + out(),
                                         "SHAPLEY_SOCKET=" + (directory.path() / "s").string()));
  EXPECT_EQ(asked, (std::vector<std::string>{"statement", "history", "history", "status", "head"}));
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_PRED2(contains, page,
               "Cluster newton, from <time datetime=\"2026-11-01T00:00:00Z\">1 November 2026, 00:00 UTC</time> to ");
  EXPECT_PRED2(contains, page,
               "No audit was made for this page: the figures are the daemon&#39;s; shapleyctl report --ledger");
  const auto rows = table_of(page, "Every organization");
  ends(ExitCode::success, run("--no-charts --month 2026-11 -o " + out()));
  EXPECT_EQ(rows, table_of(content_of(fs::path(out()) / "index.html"), "Every organization"));
}

TEST_F(Page, without_gnuplot) {
  write_consortium(file(), consortium_names(3));
  const Outcome missing = ends(ExitCode::unreadable, run("--month 2026-11 -o " + out(), "PATH=/nonexistent"));
  EXPECT_PRED2(contains, missing.err, "gnuplot-nox");
  EXPECT_PRED2(contains, missing.err, "--no-charts");
  EXPECT_FALSE(fs::exists(out()));
  ends(ExitCode::success, run("--month 2026-11 --no-charts -o " + out(), "PATH=/nonexistent"));
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_EQ(count(page, "<figure>"), 0U);
  EXPECT_EQ(count(page, "beside\""), 0U);
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
  EXPECT_PRED2(contains, page(), "<pre>shapley ledger head 1\nledger: ");
  EXPECT_PRED2(contains, page(), "The signature was not checked here");
  EXPECT_EQ(run("--no-charts --public-key " + key + ".pub -o " + out()).exit_code, 0);
  EXPECT_PRED2(contains, page(), "The signature is good");
  const Outcome other = ends(ExitCode::findings, run("--no-charts --public-key " + key + "2.pub -o " + out()));
  EXPECT_PRED2(contains, other.err, "not proven");
  EXPECT_PRED2(contains, page(), "The signature is NOT good");
}

}  // namespace
}  // namespace shapley::ctl
