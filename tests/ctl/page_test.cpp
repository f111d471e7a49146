// The page of `shapleyctl report` says what statement and history say of the same ledger, its tables and its files of
// values are the same numbers, and foreign text stays text.
#include "ctl/report/page.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "charts/page_plot.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/report/figures.hpp"
#include "ctl/report/sheets.hpp"
#include "page_fixture.hpp"

namespace shapley::ctl {
namespace {

TEST_F(Page, numbers_are_those_of_the_statement) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  const std::string page = must(report_page(report, Charts::left_out));
  const auto rows = table_of(page, "Every organization");
  ASSERT_EQ(rows.size(), 6U);  // the head, the three, guests and commons
  EXPECT_EQ(rows[0][1], "Title");
  EXPECT_EQ(rows[0][2], "Standing, on average this period");
  EXPECT_EQ(rows[0][3], "Given, by direct_contr");
  for (std::size_t i = 0; i < 5; ++i) {
    const json& whole_time = report.statement["organizations"][i];
    const json& last = report.statement["periods"].back()["organizations"][i];
    const std::vector<std::string>& cells = rows[i + 1];
    EXPECT_EQ(cells[0], whole_time["name"]);
    EXPECT_EQ(cells[2], signed_core_hours(last["closing"]["standing_core_hours"].get<double>()));
    std::size_t column = 3;
    for (const char* member : {"given", "got", "own", "lent", "borrowed", "waited"}) {
      EXPECT_EQ(cells[column++], unsigned_core_hours(whole_time[member]["core_hours"].get<double>())) << member;
    }
  }
  EXPECT_EQ(rows[1][1], "Institute 1 &lt;of&gt; Applied &amp; Other Sciences");
  EXPECT_TRUE(contains(
      page, "<li>physics " + report.statement["periods"].back()["organizations"][0]["sentence"].get<std::string>()));
}

TEST_F(Page, standings_are_those_of_the_history) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  std::map<std::pair<std::string, std::string>, double> expected;
  for (const json& row : report.history["rows"]) {
    expected[{row["end_utc"], row["organization"]}] = row["standing_core_hours"].get<double>();
  }
  std::size_t compared = 0;
  const Rows rows = parsed_csv(standings_sheet(report).csv);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("contribution"), "direct_contr");
    const auto found = expected.find({row.at("at_utc"), row.at("organization")});
    if (found == expected.end()) continue;  // the begin
    EXPECT_EQ(std::stod(row.at("standing_core_hours_on_average_this_period")), found->second);
    ++compared;
  }
  EXPECT_EQ(compared, expected.size());
  EXPECT_EQ(rows.size(), expected.size() + 5);
  const auto table = table_of(must(report_page(report, Charts::left_out)), "Standings over time");
  ASSERT_EQ(table.size(), 1 + rows.size() / 5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& cells = table[1 + i / 5];
    EXPECT_EQ(cells[0], short_instant(rows[i].at("at_utc")));
    EXPECT_EQ(table[0][2 + i % 5], rows[i].at("organization"));
    EXPECT_EQ(cells[2 + i % 5], signed_core_hours(std::stod(rows[i].at("standing_core_hours_on_average_this_period"))));
  }
}

TEST_F(Page, lending_table_is_the_statement_and_its_file) {
  write_consortium(file(), consortium_names(4));
  const SiteReport report = whole();
  const Sheet sheet = lending_sheet(report);
  std::map<std::pair<std::string, std::string>, std::string> pairs;
  for (const auto& row : parsed_csv(sheet.csv))
    pairs[{row.at("owner"), row.at("user_organization")}] = row.at("core_hours");
  std::size_t cells = 0;
  for (const std::vector<std::string>& row : sheet.table.rows) {
    for (std::size_t i = 1; i < row.size(); ++i) {
      const auto pair = pairs.find({row[0], sheet.table.head[i]});
      EXPECT_EQ(row[i], pair == pairs.end() ? "" : unsigned_core_hours(std::stod(pair->second)));
      cells += pair == pairs.end() ? 0 : 1;
    }
  }
  EXPECT_EQ(cells, pairs.size());
  for (const json& row : report.statement["organizations"]) {
    for (const json& pair : row["lent_to"]) {
      const std::string text = pairs.at({row["name"].get<std::string>(), pair["organization"].get<std::string>()});
      EXPECT_EQ(std::stod(text), pair["core_hours"].get<double>());
    }
    const std::string name = row["name"].get<std::string>();
    if (row["own"]["core_hours"] != 0.0) {
      EXPECT_EQ(std::stod(pairs.at({name, name})), row["own"]["core_hours"].get<double>());
    }
  }
}

TEST_F(Page, waiting_and_months_tables_are_their_files) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  const std::string page = must(report_page(report, Charts::left_out));
  const Rows waiting = parsed_csv(waiting_sheet(report).csv);
  const auto waiting_table = table_of(page, "Waiting by organization");
  ASSERT_EQ(waiting_table.size(), 1 + waiting.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    EXPECT_EQ(waiting_table[i + 1][1], unsigned_core_hours(std::stod(waiting[i].at("waited_core_hours"))));
    EXPECT_EQ(std::stod(waiting[i].at("waited_core_hours")),
              report.statement["organizations"][i]["waited"]["core_hours"].get<double>());
  }
  EXPECT_GT(std::stod(waiting[0].at("waited_core_hours")), 0);
  const Rows months = parsed_csv(months_sheet(report).csv);
  const auto months_table = table_of(page, "Given and got by month");
  ASSERT_EQ(months.size(), 15U);
  ASSERT_EQ(months_table.size(), 16U);
  double given = 0;
  double got = 0;
  for (std::size_t i = 0; i < months.size(); ++i) {
    EXPECT_EQ(months_table[i + 1][1], months[i].at("organization"));
    EXPECT_EQ(months_table[i + 1][2], unsigned_core_hours(std::stod(months[i].at("given_core_hours"))));
    EXPECT_EQ(months_table[i + 1][3], unsigned_core_hours(std::stod(months[i].at("got_core_hours"))));
    if (months[i].at("organization") != "physics") continue;
    given += std::stod(months[i].at("given_core_hours"));
    got += std::stod(months[i].at("got_core_hours"));
  }
  EXPECT_EQ(months_table[1][0], "2026-10 (part)");
  EXPECT_EQ(months_table[6][0], "2026-11");
  EXPECT_NEAR(given, report.statement["organizations"][0]["given"]["core_hours"].get<double>(), 1e-6);
  EXPECT_NEAR(got, report.statement["organizations"][0]["got"]["core_hours"].get<double>(), 1e-6);
}

TEST_F(Page, charts_of_one_three_and_forty_organizations) {
  for (const std::size_t organizations : {1U, 3U, 40U}) {
    fs::remove(file());
    write_consortium(file(), consortium_names(organizations));
    const SiteReport report = whole();
    const std::string page = must(report_page(report, Charts::drawn));
    // One organization lends to nobody.
    const std::size_t charts = organizations == 1 ? 3 : 4;
    EXPECT_EQ(count(page, "<figure>"), charts);
    EXPECT_EQ(count(page, "</svg>"), 2 * charts);
    EXPECT_EQ(contains(page, "Nobody&#39;s jobs ran on another&#39;s processors"), organizations == 1);
    EXPECT_EQ(count(page, "download=\""), 5U);
    // No colour of gnuplot's own is left, which would not follow light and dark.
    EXPECT_EQ(count(page, "rgb("), 0U);
    EXPECT_EQ(count(page, " id=\""), 1U);  // the proof's
    EXPECT_TRUE(contains(page, "var(--series-0)"));
    EXPECT_EQ(contains(page, "The chart shows the 8 organizations that stand farthest from zero"), organizations == 40);
    EXPECT_EQ(must(report_page(report, Charts::drawn)), page) << "not the same again";
  }
}

TEST_F(Page, forty_organizations_have_eight_lines_and_all_rows) {
  write_consortium(file(), consortium_names(40));
  const SiteReport report = whole();
  const std::map<std::string, double> last = standings_of(report).back().standing;
  std::vector<double> distances;
  for (const auto& [name, standing] : last) distances.push_back(std::fabs(standing));
  std::ranges::sort(distances, std::greater{});
  const std::string figure = must(standings_figure(report));
  std::size_t drawn = 0;
  for (const auto& [name, standing] : last) {
    const std::string label = charts::short_label(name, charts::label_length(charts::Shape::wide));
    if (!contains(figure, "<text>" + label + "</text>")) continue;
    ++drawn;
    EXPECT_GE(std::fabs(standing), distances[8]) << name;
  }
  EXPECT_EQ(drawn, 8U);
  EXPECT_EQ(standings_sheet(report).table.head.size(), 2U + 42U);
}

TEST_F(Page, one_organization_of_many) {
  write_consortium(file(), consortium_names(4));
  const SiteReport report = whole({"biology"});
  const Sheet lending = lending_sheet(report);
  EXPECT_EQ(lending.table.head[1], "biology");
  EXPECT_EQ(lending.table.head.size(), 5U);
  // Between two others nothing was asked.
  EXPECT_EQ(lending.table.rows[1][2], "?");
  EXPECT_NE(lending.table.rows[0][2], "?");
  EXPECT_EQ(standings_sheet(report).table.head.size(), 3U);
  EXPECT_EQ(count(must(report_page(report, Charts::drawn)), "<figure>"), 4U);
}

TEST_F(Page, foreign_text_stays_text) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  const std::string hostile = "a'b\"<script>alert(1)</script>&amp;`id`$(id)@x\\";
  const auto rename = [&](json& of) {
    std::string text = of.dump();
    const std::string from = "\"physics\"";
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, from.size(), json(hostile).dump());
    of = json::parse(text);
  };
  rename(report.statement);
  rename(report.history);
  rename(report.months);
  report.heading = hostile;
  report.titles = {{hostile, hostile + "\n<b>"}};
  report.proof.no_audit = hostile;
  const std::string page = must(report_page(report, Charts::drawn));
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<b>"));
  EXPECT_TRUE(contains(page, ">a&#39;b&quot;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;`id`$(id)@x\\</th>"));
  // gnuplot shows what there is room for and runs none of it.
  EXPECT_TRUE(contains(page, "`id`"));
  EXPECT_FALSE(contains(page, "uid="));
}

TEST_F(Page, corrections_are_those_of_the_statement) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  EXPECT_TRUE(contains(must(report_page(report, Charts::left_out)), "None was made in that time"));
  EXPECT_TRUE(parsed_csv(corrections_sheet(report).csv).empty());
  const json moved{{"number", 1},
                   {"at_utc", "2026-11-03T10:00:00Z"},
                   {"kind", "attribute"},
                   {"what", "runs of job 7"},
                   {"into", "biology"},
                   {"author", "uid 0 (root)"},
                   {"reason", "a <typo>"},
                   {"runs", 2},
                   {"reversed_by", 3},
                   {"later", true},
                   {"work", {{"core_hours", 12.5}, {"processor_seconds", "45000"}}}};
  json owned = moved;
  owned["number"] = 2;
  owned["kind"] = "own";
  owned["what"] = "nodes n1 of physics 100%";
  owned["runs"] = 0;
  owned["reversed_by"] = nullptr;
  owned["later"] = false;
  owned["work"] = nullptr;
  report.statement["adjustments"] = {moved, owned};
  const auto rows = table_of(must(report_page(report, Charts::left_out)), "Corrections of the books");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"1", "2026-11-03T10:00:00Z", "uid 0 (root)",
                                               "runs of job 7 are biology&#39;s (reversed by 3)", "a &lt;typo&gt;", "2",
                                               "12.5"}));
  EXPECT_EQ(rows[2], (std::vector<std::string>{"2", "2026-11-03T10:00:00Z", "uid 0 (root)", "nodes n1 of physics 100%",
                                               "a &lt;typo&gt;", "", ""}));
  const Rows values = parsed_csv(corrections_sheet(report).csv);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].at("processor_seconds"), "45000");
  EXPECT_EQ(values[0].at("made_later"), "yes");
  EXPECT_EQ(values[0].at("reversed_by"), "3");
  EXPECT_EQ(values[1].at("core_hours"), "");
  EXPECT_EQ(values[1].at("what"), "nodes n1 of physics 100%");
}

TEST_F(Page, proof_says_what_is_wrong) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  EXPECT_TRUE(report.proof.clean());
  EXPECT_FALSE(contains(must(report_page(report, Charts::left_out)), "not proven"));
  report.proof.audit = Examined{};
  report.proof.audit->examinations.push_back(
      {.subject = "/secret/place/x.db", .kind = ExaminationKind::itself, .report = {}});
  report.proof.audit->examinations[0].report.findings.push_back({"chain", "event 7: <it> was edited"});
  EXPECT_FALSE(report.proof.clean());
  const std::string page = must(report_page(report, Charts::left_out));
  EXPECT_TRUE(contains(page, "These books are not proven"));
  EXPECT_TRUE(contains(page, "chain: event 7: &lt;it&gt; was edited"));
  EXPECT_TRUE(contains(page, "x.db: "));
  EXPECT_FALSE(contains(page, "/secret/place")) << "where it lies is nobody's business";
  report = whole();
  report.statement["exact"] = false;
  EXPECT_TRUE(contains(must(report_page(report, Charts::left_out)), "NOT exact"));
}

}  // namespace
}  // namespace shapley::ctl
