// The page of `shapleyctl report` says what statement and history say of the same ledger, its tables and its files of
// values are the same numbers, and foreign text stays text.
#include "ctl/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "charts/plot.hpp"
#include "ctl/environment.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/report/sheets.hpp"
#include "interval_fixture.hpp"
#include "ledger/chain/signing.hpp"
#include "page_fixture.hpp"
#include "paper_books.hpp"
#include "tables/page.hpp"
#include "tests/support/partial_report.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

TEST_F(Page, numbers_are_those_of_the_statement) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  const PaperAmounts amounts(report.statement);
  const std::string page = must(report_page(report, Charts::left_out));
  const auto rows = table_of(page, "Every organization");
  ASSERT_GE(rows.size(), 7U);  // the head, the three, guests and commons; what rounding leaves, and the sum
  EXPECT_EQ(rows.back()[0], k_sum);
  EXPECT_EQ(rows[0][1], "Title");
  EXPECT_EQ(rows[0][2], "Standing, on average this period");
  EXPECT_EQ(rows[0][3], "Given, by direct_contr");
  for (std::size_t i = 0; i < 5; ++i) {
    const json whole_time = json_of(report.statement.organizations[i]);
    const json last = json_of(report.statement.periods.back().organizations[i]);
    const std::vector<std::string>& cells = rows[i + 1];
    EXPECT_EQ(cells[0], whole_time["name"]);
    EXPECT_EQ(cells[2], amounts.signed_text(work_of(last["closing"]["standing_core_hours"].get<double>())));
    const auto cell = [&](const std::string& head) {
      return cells.at(static_cast<std::size_t>(std::ranges::find(rows[0], head) - rows[0].begin()));
    };
    for (const auto& [member, head] : std::map<std::string, std::string>{{"given", "Given, by direct_contr"},
                                                                         {"got", "Got"},
                                                                         {"own", "Own"},
                                                                         {"lent", "Lent"},
                                                                         {"borrowed", "Borrowed"},
                                                                         {"waited", "Waited"}}) {
      EXPECT_EQ(cell(head), amounts.text(work_of(whole_time[member]["core_hours"].get<double>()))) << member;
    }
  }
  EXPECT_EQ(rows[1][1], "Institute 1 &lt;of&gt; Applied &amp; Other Sciences");
  EXPECT_PRED2(contains, page, "<li>physics " + report.statement.periods.back().organizations[0].sentence);
}

TEST_F(Page, standings_are_those_of_the_history) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  const PaperAmounts amounts(report.statement);
  std::map<std::pair<std::string, std::string>, double> expected;
  for (const ledger::HistoryRow& row : report.history.rows)
    expected[{row.end.utc(), row.organization}] = row.standing_core_hours;
  std::size_t compared = 0;
  const Rows rows = parsed_csv(csv_text(standings_sheet(report).values));
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
    EXPECT_EQ(cells[2 + i % 5],
              amounts.signed_text(work_of(std::stod(rows[i].at("standing_core_hours_on_average_this_period")))));
  }
}

TEST_F(Page, lending_table_is_the_statement_and_its_file) {
  write_consortium(file(), consortium_names(4));
  const SiteReport report = whole();
  const PaperAmounts amounts(report.statement);
  const Sheet sheet = lending_sheet(report);
  std::map<std::pair<std::string, std::string>, std::string> pairs;
  for (const auto& row : parsed_csv(csv_text(sheet.values)))
    pairs[{row.at("owner"), row.at("user_organization")}] = row.at("core_hours");
  std::size_t cells = 0;
  const PrintedTable table(sheet.table);
  for (const std::vector<std::string>& row : table.rows) {
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (row[0].starts_with('(') || table.head[i].starts_with('(')) continue;
      const auto pair = pairs.find({row[0], table.head[i]});
      EXPECT_EQ(row[i], pair == pairs.end() ? "" : amounts.text(work_of(std::stod(pair->second))));
      cells += pair == pairs.end() ? 0 : 1;
    }
  }
  EXPECT_EQ(cells, pairs.size());
  for (const ledger::AccountRow& row : report.statement.organizations) {
    for (const ledger::LentPair& pair : row.lent_to)
      EXPECT_EQ(std::stod(pairs.at({row.name, pair.organization})), pair.core_hours);
    if (row.own.core_hours() != 0.0) {
      EXPECT_EQ(std::stod(pairs.at({row.name, row.name})), row.own.core_hours());
    }
  }
}

TEST_F(Page, waiting_and_months_tables_are_their_files) {
  write_consortium(file(), consortium_names(3));
  const SiteReport report = whole();
  const std::string page = must(report_page(report, Charts::left_out));
  const Rows waiting = parsed_csv(csv_text(waiting_sheet(report).values));
  const auto waiting_table = table_of(page, "Waiting by organization");
  ASSERT_GT(waiting_table.size(), 1 + waiting.size());
  const auto overview = table_of(page, "Every organization");
  ASSERT_EQ(overview[0].back(), "Waited");
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    EXPECT_EQ(waiting_table[i + 1][1], overview[i + 1].back()) << "two tables of one page";
    EXPECT_EQ(std::stod(waiting[i].at("waited_core_hours")), report.statement.organizations[i].waited.core_hours());
  }
  EXPECT_GT(std::stod(waiting[0].at("waited_core_hours")), 0);
  const Rows months = parsed_csv(csv_text(months_sheet(report).values));
  const auto months_table = table_of(page, "Given and got by month");
  const PaperAmounts amounts(report.statement);
  ASSERT_EQ(months.size(), 15U);
  ASSERT_GT(months_table.size(), 16U + 5U) << "with the sums";
  double given = 0;
  double got = 0;
  for (std::size_t i = 0; i < months.size(); ++i) {
    EXPECT_EQ(months_table[i + 1][1], months[i].at("organization"));
    EXPECT_EQ(months_table[i + 1][2], amounts.text(work_of(std::stod(months[i].at("given_core_hours")))));
    EXPECT_EQ(months_table[i + 1][3], amounts.text(work_of(std::stod(months[i].at("got_core_hours")))));
    if (months[i].at("organization") != "physics") continue;
    given += std::stod(months[i].at("given_core_hours"));
    got += std::stod(months[i].at("got_core_hours"));
  }
  EXPECT_EQ(months_table[1][0], "2026-10 (part)");
  EXPECT_EQ(months_table[6][0], "2026-11");
  EXPECT_NEAR(given, report.statement.organizations[0].given.core_hours(), 1e-6);
  EXPECT_NEAR(got, report.statement.organizations[0].got.core_hours(), 1e-6);
}

TEST_F(Page, charts_of_one_three_and_forty_organizations) {
  for (const std::size_t organizations : {1U, 3U, 40U}) {
    fs::remove(file());
    write_consortium(file(), consortium_names(organizations));
    const SiteReport report = whole();
    const std::string page = must(report_page(report, Charts::drawn));
    // A single organization lends nothing.
    const std::size_t charts = organizations == 1 ? 3 : 4;
    EXPECT_EQ(count(page, "<figure>"), charts);
    EXPECT_EQ(count(page, "</svg>"), 2 * charts);
    EXPECT_EQ(contains(page, "No organization&#39;s jobs ran on another&#39;s processors"), organizations == 1);
    EXPECT_EQ(count(page, "download=\""), 5U);
    // No colour of gnuplot's own is left, which would not follow light and dark.
    EXPECT_EQ(count(page, "rgb("), 0U);
    EXPECT_EQ(count(page, " id=\""), 1U);  // the proof's
    EXPECT_PRED2(contains, page, "var(--series-0)");
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
  const std::string figure = must(standings_figure(report)).wide;
  std::size_t drawn = 0;
  for (const auto& [name, standing] : last) {
    const std::string label = charts::short_label(name, charts::label_length(charts::Shape::wide));
    if (!contains(figure, "<text>" + label + "</text>")) continue;
    ++drawn;
    EXPECT_GE(std::fabs(standing), distances[8]) << name;
  }
  EXPECT_EQ(drawn, 8U);
  EXPECT_EQ(standings_sheet(report).table.columns.size(), 2U + 42U);
}

TEST_F(Page, one_organization_of_many) {
  write_consortium(file(), consortium_names(4));
  const SiteReport report = whole({"biology"});
  const PrintedTable lending(lending_sheet(report).table);
  EXPECT_EQ(lending.head[1], "biology");
  std::vector<std::string> head = lending.head;
  std::erase(head, k_rounding);
  EXPECT_EQ(head.size(), 6U);
  EXPECT_EQ(head.back(), "(lent)");
  // Between two others nothing was asked.
  EXPECT_EQ(lending.rows[1][2], "?");
  EXPECT_NE(lending.rows[0][2], "?");
  EXPECT_EQ(standings_sheet(report).table.columns.size(), 3U);
  EXPECT_EQ(count(must(report_page(report, Charts::drawn)), "<figure>"), 4U);
}

TEST_F(Page, foreign_text_stays_text) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  const std::string hostile = "a'b\"<script>alert(1)</script>&amp;`id`$(id)@x\\";
  const auto rename = [&]<typename Report>(Report& of) {
    std::string text = json_of(of).dump();
    const std::string from = "\"physics\"";
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, from.size(), json(hostile).dump());
    of = must(from_json<Report>(json::parse(text)));
  };
  rename(report.statement);
  rename(report.history);
  rename(report.months);
  report.heading = hostile;
  report.titles = {{hostile, hostile + "\n<b>"}};
  report.proof.no_audit = hostile;
  const std::string page = must(report_page(report, Charts::drawn));
  EXPECT_PRED2(lacks, page, "<script");
  EXPECT_PRED2(lacks, page, "<b>");
  EXPECT_PRED2(contains, page, ">a&#39;b&quot;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;`id`$(id)@x\\</th>");
  // gnuplot shows what there is room for and runs none of it.
  EXPECT_PRED2(contains, page, "`id`");
  EXPECT_PRED2(lacks, page, "uid=");
}

TEST_F(Page, corrections_are_those_of_the_statement) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  EXPECT_PRED2(contains, must(report_page(report, Charts::left_out)), "None was made in that time");
  EXPECT_TRUE(parsed_csv(csv_text(corrections_sheet(report).values)).empty());
  const json moved{{"number", 1},
                   {"at", 1793700000},
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
  report.statement.adjustments = {partial<ledger::ListedAdjustment>(moved), partial<ledger::ListedAdjustment>(owned)};
  const auto rows = table_of(must(report_page(report, Charts::left_out)), "Corrections of the books");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"1", "3 November 2026, 10:00 UTC", "uid 0 (root)",
                                               "runs of job 7 are biology&#39;s (reversed by 3)", "a &lt;typo&gt;", "2",
                                               "12.5"}));
  EXPECT_EQ(rows[2], (std::vector<std::string>{"2", "3 November 2026, 10:00 UTC", "uid 0 (root)",
                                               "nodes n1 of physics 100%", "a &lt;typo&gt;", "", ""}));
  const Rows values = parsed_csv(csv_text(corrections_sheet(report).values));
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
  EXPECT_PRED2(lacks, must(report_page(report, Charts::left_out)), "not proven");
  report.proof.audit = Examined{};
  report.proof.audit->examinations.push_back(
      {.subject = "/secret/place/x.db", .kind = ExaminationKind::itself, .report = {}});
  report.proof.audit->examinations[0].report.findings.push_back({"chain", "event 7: <it> was edited"});
  EXPECT_FALSE(report.proof.clean());
  const std::string page = must(report_page(report, Charts::left_out));
  EXPECT_PRED2(contains, page, "These books are not proven");
  EXPECT_PRED2(contains, page, "chain: event 7: &lt;it&gt; was edited");
  EXPECT_PRED2(contains, page, "x.db: ");
  EXPECT_FALSE(contains(page, "/secret/place")) << "readers do not learn where the file is";
  report = whole();
  report.statement.exact = false;
  EXPECT_PRED2(contains, must(report_page(report, Charts::left_out)), "NOT exact");
}

// `shapleyctl report` as a program: which files it writes, what it refuses, which exit code says what.

TEST_F(Page, nothing_and_one_instant) {
  { const ledger::Ledger empty = ledger::testing::writer(file()); }
  const Outcome nothing = ends(ExitCode::unreadable, run("--no-charts -o " + out()));
  EXPECT_PRED2(contains, nothing.err, "the ledger is empty");
  EXPECT_FALSE(fs::exists(out()));
  fs::remove(file());
  {
    ledger::Ledger ledger = ledger::testing::writer(file());
    must(ledger.append(std::vector<accounting::Event>{accounting::OrganizationsDeclared{k_november, {"a"}}},
                       k_november));
  }
  // All that is known is of one instant, and of the second after it.
  ends(ExitCode::usage, run("--since 2026-11-01 -o " + out()));
  const Outcome second =
      ends(ExitCode::success, run("--since 2026-11-01 --known-until 2026-11-01T00:00:01 -o " + out()));
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_PRED2(contains, page, "a has got as much as it gave; on average over the period it owed nothing");
  EXPECT_PRED2(contains, page, "No job that could have started waited");
  EXPECT_PRED2(contains, page, "No organization&#39;s jobs ran on another");
  // And the time before it.
  const Outcome before = ends(ExitCode::usage, run("--since 2026-10-01 --until 2026-10-02 -o " + out()));
  EXPECT_PRED2(contains, before.err, "the books begin at 2026-11-01T00:00:00Z");
}

TEST_F(Page, opens_with_what_each_member_is_owed) {
  write_consortium(file(), consortium_names(3));
  SiteReport report = whole();
  report.cluster = "north";
  const auto opening = [&report] {
    const std::string page = must(report_page(report, Charts::left_out));
    return page.substr(0, page.find("Every organization</h2>"));
  };
  EXPECT_PRED2(contains, opening(),
               "<p>Cluster north, from <time datetime=\"2026-10-10T00:00:00Z\">10 October 2026, 00:00 UTC</time> to ");
  report.consortium = "<all>";
  EXPECT_PRED2(contains, opening(), "<p>Cluster north of the consortium &lt;all&gt;, from ");
  const std::string text = opening();
  for (const ledger::PeriodRow& row : report.statement.periods.back().organizations)
    EXPECT_PRED2(contains, text, "<li>" + tables::html(row.name + ' ' + row.sentence) + "</li>");
  ASSERT_TRUE(report.statement.periods.back().worth);
  EXPECT_PRED2(contains, text, "<h2>What cooperation was worth</h2>");
  EXPECT_PRED2(contains, text, "Together all have got");
  report.statement.periods.back().worth.reset();
  EXPECT_FALSE(contains(opening(), "What cooperation was worth"));
}

// The line of the chart "Standings over time" against the books at instants between its points: where the books do not
// go straight, neither does the line.

using Line = std::vector<std::pair<double, double>>;  // ascending by x, in pixels; y goes down

// The first organization's, as it is drawn for a wide page.
Line drawn_line(const std::string& page) {
  const std::size_t figure = page.find("aria-label=\"Standings over time\"", page.find("<div class=\"broad\"><svg"));
  const std::string svg = page.substr(figure, page.find("</svg>", figure) - figure);
  Line line;
  for (std::size_t at = svg.find("'var(--series-0)'"); at != std::string::npos;
       at = svg.find("'var(--series-0)'", at + 1)) {
    const std::size_t begin = svg.find(" d='", at) + 4;
    const std::string path = svg.substr(begin, svg.find('\'', begin) - begin);
    Line points;
    for (std::size_t i = path.find_first_of("ML"); i != std::string::npos; i = path.find_first_of("ML", i + 1)) {
      char* comma = nullptr;
      const double x = std::strtod(path.c_str() + i + 1, &comma);
      points.emplace_back(x, std::strtod(comma + 1, nullptr));
    }
    // The two points of the key come first.
    if (points.size() > line.size() + 2) line.assign(points.begin() + 2, points.end());
  }
  return line;
}

double at_x(const Line& line, double x) {
  const auto next = std::ranges::find_if(line, [x](const auto& point) { return point.first >= x; });
  if (next == line.end()) return line.back().second;
  if (next == line.begin()) return next->second;
  const auto& before = *std::prev(next);
  return before.second + (next->second - before.second) * (x - before.first) / (next->first - before.first);
}

class StandingsChart : public Page {
 protected:
  std::string first;

  // Of the organization that the configuration names first, whose line is drawn first.
  [[nodiscard]] double books_at(Instant t) const {
    const json status = json_of(must(answers::answer(ledger::StatusAtRequest{.at = t}, {.path = file()})));
    for (const json& row : status["organizations"]) {
      if (row["name"] == first) return row["standing_core_hours"].get<double>();
    }
    throw std::runtime_error("no row of " + first);
  }

  // The line runs from `since` to `until`; its largest deviation from the books, as a part of all that they show.
  [[nodiscard]] double deviation(Instant since, Instant until) const {
    const Outcome made = run("--no-audit -S " + format_instant(since).substr(0, 19) + " -E " +
                             format_instant(until).substr(0, 19) + " -o " + out());
    EXPECT_EQ(made.exit_code, 0) << made.err;
    const Line line = drawn_line(content_of(fs::path(out()) / "index.html"));
    if (line.size() < 2) return 1;
    const double length = static_cast<double>((until - since).value);
    std::mt19937 random(7);
    std::vector<std::pair<double, double>> compared;  // pixels by the line, core-hours by the books
    for (int i = 0; i < 60; ++i) {
      const Instant t = since + Duration{static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(length))};
      const double part = static_cast<double>((t - since).value) / length;
      const double x = line.front().first + part * (line.back().first - line.front().first);
      compared.emplace_back(at_x(line, x), books_at(t));
    }
    // Where the axis lies: from the instants at which the books are lowest and highest.
    const auto [low, high] = std::ranges::minmax(compared, {}, &std::pair<double, double>::second);
    const double scale = (high.second - low.second) / (high.first - low.first);
    EXPECT_LT(scale, 0) << "what is owed lies above";
    double largest = 0;
    for (const auto& [pixels, hours] : compared)
      largest = std::max(largest, std::fabs(low.second + (pixels - low.first) * scale - hours));
    return largest / (high.second - low.second);
  }
};

TEST_F(StandingsChart, goes_through_the_books_within_an_hour_and_within_days) {
  write_site(file(), Period::none);
  first = "astro";
  EXPECT_LT(deviation(at_second(-900), at_second(1'900)), 0.03);
  fs::remove(file());
  write_consortium(file(), consortium_names(3));
  first = "physics";
  const Instant month = *parse_instant("2026-11-01");
  EXPECT_LT(deviation(month, month + Duration{3 * k_day_s}), 0.03);
}

TEST_F(StandingsChart, says_in_plain_lines_where_the_books_do_not_have_all_of_the_time) {
  write_site(file(), Period::none);
  EXPECT_EQ(run("--no-audit --no-charts -S 2026-10-01 -E 2027-01-01 -o " + out()).exit_code, 0);
  const std::string page = content_of(fs::path(out()) / "index.html");
  EXPECT_PRED2(contains, page,
               "<p>Not all of that time: the books begin at <time datetime=\"2026-10-31T23:43:20Z\">31 October 2026, "
               "23:43:20 UTC</time>.</p>");
  EXPECT_PRED2(contains, page,
               "<p>Not all of that time: the ledger recorded something last at <time "
               "datetime=\"2026-11-01T00:33:20Z\">1 November 2026, 00:33:20 UTC</time>.</p>");
  EXPECT_PRED2(lacks, page, "\\x0a");
}

}  // namespace
}  // namespace shapley::ctl
