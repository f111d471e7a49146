// `--board`: standings beside those of a month before, decisions, and statements that did not count, on every paper,
// against a second computation: lists that are looked at minute by minute.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "calculator_fixture.hpp"

namespace shapley::ctl {
namespace {

using namespace accounting;
using nlohmann::json;

constexpr std::int64_t k_minute = 60;

// What the north recorded of the south: all on whole minutes.
struct Recorded {
  std::vector<StandingReceived> statements = {};
  std::vector<LedgerReplaced> replaced = {};
  std::vector<ConsortiumDeclared> declared = {};  // the first one is of the books' begin
  std::vector<ResidualMeasured> residuals = {};
};

ConsortiumDeclared declared_at(Instant at, std::int64_t stale_after, bool with_south = true) {
  ConsortiumDeclared declared{at, "uni", 2 * k_whole_weight, {}};
  if (with_south)
    declared.clusters.push_back({.cluster = "south",
                                 .weight = k_whole_weight,
                                 .stale_after = stale_after,
                                 .key = "SHA256:" + std::string(64, '1'),
                                 .names = {{"org1", "partner"}}});
  return declared;
}

StandingReceived stated_at(Instant time, Instant received) {
  StandingReceived statement{.at = received, .cluster = "south", .figures = {}, .signature = std::string(128, '0')};
  statement.figures = {.consortium = "uni",
                       .ledger = std::string(32, 'a'),
                       .event = 7,
                       .hash = std::string(64, 'b'),
                       .time = time,
                       .contribution = "direct_contr",
                       .period = Period::none,
                       .period_begin = k_books_begin,
                       .weights = {},
                       .organizations = {}};
  return statement;
}

LedgerReplaced replaced_at(Instant at, const std::string& reason) {
  return {.at = at,
          .cluster = "south",
          .former_ledger = std::string(32, 'a'),
          .former_event = 7,
          .ledger = std::string(32, 'c'),
          .event = 3,
          .hash = std::string(64, 'd'),
          .author = reason.empty() ? "shapleyd" : "uid 0 (root)",
          .reason = reason};
}

Recorded random_record(std::mt19937_64 random) {
  const auto below = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Recorded record;
  record.declared = {declared_at(k_books_begin, 0), declared_at(k_august + Duration{600}, 7'200),
                     declared_at(k_september - Duration{86'400}, 7'200, false), declared_at(k_september, 1'800)};
  for (Instant t = k_books_begin + Duration{600'000}; t < k_books_end; t = t + Duration{k_minute * (1 + below(400))})
    record.statements.push_back(stated_at(t - Duration{k_minute * below(30)}, t));
  for (Instant t = k_books_begin; t < k_books_end; t = t + Duration{86'400 * (1 + below(9))})
    record.residuals.push_back({t, k_minute * (10 + below(300)), 20});
  record.replaced = {replaced_at(k_august + Duration{86'400}, ""),
                     replaced_at(k_august + Duration{3 * 86'400}, "restored"),
                     replaced_at(k_september + Duration{86'400}, "")};
  return record;
}

struct Heard {
  std::int64_t in_consortium = 0, stale = 0, times = 0, refused = 0, without = 0;
};

// Looks at every minute of [since, until).
Heard looked_at(const Recorded& record, Instant since, Instant until) {
  Heard heard;
  bool was_stale = false;
  for (Instant t = since; t < until; t = t + Duration{k_minute}) {
    const ConsortiumDeclared* declared = nullptr;
    for (const auto& each : record.declared) declared = each.at <= t ? &each : declared;
    const bool is_in = declared != nullptr && !declared->clusters.empty();
    Instant accepted = k_beginning_of_time;
    bool is_refused = false;
    for (const auto& each : record.replaced) {
      if (each.at > t) continue;
      is_refused = each.reason.empty();
      if (!is_refused) accepted = each.at;
    }
    const StandingReceived* last = nullptr;
    for (const auto& each : record.statements) last = each.at <= t ? &each : last;
    if (last != nullptr && last->at < accepted) last = nullptr;
    std::int64_t residual = 3'600;
    for (const auto& each : record.residuals) residual = each.at <= t ? each.seconds : residual;
    bool is_stale = false;
    if (is_in) {
      heard.in_consortium += k_minute;
      heard.refused += is_refused ? k_minute : 0;
      heard.without += last == nullptr ? k_minute : 0;
      const std::int64_t configured = declared->clusters.front().stale_after;
      const std::int64_t after = configured > 0 ? configured : std::max<std::int64_t>(residual, 3'600);
      is_stale = last != nullptr && t >= last->figures.time + Duration{after};
    }
    heard.stale += is_stale ? k_minute : 0;
    heard.times += is_stale && !was_stale ? 1 : 0;
    was_stale = is_stale;
  }
  return heard;
}

class BoardPapers : public Calculator {
 protected:
  void write(TwoClusters& clusters, const Recorded& record) const {
    clusters.write(file("north"), file("south"));
    std::vector<Event> events;
    // The first one is what the clusters were written with.
    for (std::size_t i = 1; i < record.declared.size(); ++i) events.emplace_back(record.declared[i]);
    for (const auto& each : record.statements) events.emplace_back(each);
    for (const auto& each : record.residuals) events.emplace_back(each);
    for (const auto& each : record.replaced) events.emplace_back(each);
    ledger::Ledger ledger = ledger::testing::writer(file("north"));
    ledger::testing::must(ledger.append(events, k_books_end));
  }
};

TEST_F(BoardPapers, is_the_same_on_every_paper) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(21)}, {.random = std::mt19937_64(22)}}};
  for (CalculatorSite& site : clusters.sites) site.make(3, Period::monthly);
  const Recorded record = random_record(std::mt19937_64(23));
  write(clusters, record);
  for (const Span& span : k_spans) {
    SCOPED_TRACE(span.arguments);
    const Instant since = std::max(span.since, k_books_begin);
    const std::string asked = " --board --consortium " + file("north") + ' ' + file("south") + ' ' + span.arguments;
    const auto tables = text_tables(shown("statement" + asked));
    const ReadTable standings = with_head(tables, {"Organization", "Cluster", "Standing", "MonthBefore"});
    const Instant earlier = period_begin(Period::monthly, span.until - Duration{1});
    for (const CellsByHead& row : standings.rows) {
      const std::string& name = row.at("Organization");
      const std::string& cluster = row.at("Cluster");
      if (name == k_rounding || name == k_sum || (cluster != "north" && cluster != "south")) continue;
      const CalculatorBooks& books = clusters.sites.at(cluster == "north" ? 0 : 1).books;
      expect_standing(row, "Standing", books.standing(name, books.period_begin_before(span.until), span.until));
      expect_standing(row, "MonthBefore", books.standing(name, books.period_begin_before(earlier), earlier));
    }
    // Sums over clusters, whose processors are worth 2 and 1, with what rounding leaves.
    for (const std::string column : {"Standing", "MonthBefore"}) {
      std::int64_t twice = 0;
      std::int64_t rest = 0;
      for (const CellsByHead& row : standings.rows) {
        const std::string& cluster = row.at("Cluster");
        if (row.at("Organization") == k_rounding) continue;
        if (cluster == "north") twice = 2 * printed_in(row, column);
        if (cluster == "south") twice += printed_in(row, column);
        if (cluster == k_rounding) rest = printed_in(row, column);
        if (cluster != k_sum) continue;
        const auto weighed = nearest_like(row.at(column), CpuTime{Int128{twice} * 3600 * k_micro / 2000});
        EXPECT_EQ(weighed + rest, printed_in(row, column)) << row.at("Organization") << ' ' << column;
        rest = 0;
      }
    }
    const json board = json::parse(shown("statement --json" + asked))["board"];
    EXPECT_EQ(board["earlier_at"], earlier.value);
    const Heard heard = looked_at(record, since, span.until);
    ASSERT_EQ(board["heard"].size(), 1U);
    const json& row = board["heard"][0];
    EXPECT_EQ(row["cluster"], "north");
    EXPECT_EQ(row["statements"], "south");
    EXPECT_EQ(row["in_consortium_s"], heard.in_consortium);
    EXPECT_EQ(row["stale_s"], heard.stale);
    EXPECT_EQ(row["stale_times"], heard.times);
    EXPECT_EQ(row["refused_s"], heard.refused);
    EXPECT_EQ(row["without_s"], heard.without);
    EXPECT_GT(heard.stale, 0);
    // The page has the same tables, and its files what CSV has.
    const std::string out = page(asked, "board");
    EXPECT_EQ(page_table(out, "Standings, and a month before").rows, standings.rows);
    EXPECT_EQ(page_table(out, "Statements of other clusters").rows.size(), 1U);
    const auto exact = parsed_csv(shown("statement --csv" + asked));
    for (const auto& [values, item] :
         std::map<std::string, std::string>{{"standings_before.csv", "standing_month_before"},
                                            {"decisions.csv", "decision"},
                                            {"heard.csv", "stale"}}) {
      const auto of_item = [&wanted = item](const Rows& rows) {
        return std::ranges::count_if(rows, [&](const auto& each) { return each.at("item") == wanted; });
      };
      EXPECT_EQ(of_item(exact), of_item(parsed_csv(content_of(file("board") + '/' + values)))) << values;
      EXPECT_GT(of_item(exact), 0) << values;
    }
  }
}

// The list is of all ledgers, in the order of time, with who it was where the ledger knows.
TEST_F(BoardPapers, lists_what_was_decided_on_all_clusters) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(24)}, {.random = std::mt19937_64(25)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  Recorded record = random_record(std::mt19937_64(26));
  record.declared.back().weight = 3 * k_whole_weight;
  write(clusters, record);
  const auto load = [this](const char* cluster, Instant at, const std::string& text) {
    ledger::testing::must(ledger::testing::writer(file(cluster))
                              .append(std::vector<Event>{ConfigurationLoaded{at, text}}, std::max(at, k_books_end)));
  };
  const std::string organizations = "organizations:\n  - name: org0\n    accounts: [org0]\n";
  load("south", k_august, "period: none\n" + organizations);
  load("south", k_august + Duration{1}, "period: monthly\n" + organizations);
  load("south", k_september, "period: yearly\n" + organizations);
  const std::string asked =
      "statement --board --consortium " + file("north") + ' ' + file("south") + " -S 2023-08-01 -E ";
  const json all = json::parse(shown(asked + "2024-01-01 --json"))["board"]["decisions"];
  std::vector<std::string> said;
  std::int64_t last = 0;
  for (const json& decision : all) {
    EXPECT_GE(decision["at"], last);
    last = decision["at"];
    const std::string author = decision["author"].is_null() ? "?" : decision["author"].get<std::string>();
    said.push_back(decision["cluster"].get<std::string>() + ": " + decision["kind"].get<std::string>() + ": " +
                   decision["what"].get<std::string>() + " (" + author + ')');
  }
  const auto expect_one = [&](const std::string& line) { EXPECT_EQ(std::ranges::count(said, line), 1) << line; };
  expect_one("south: configuration: the first configuration (?)");
  expect_one("south: configuration: key period: none -> monthly (?)");
  expect_one("south: configuration: key period: monthly -> yearly (?)");
  expect_one("north: weights: north 3, south 1 (?)");
  expect_one("north: ledger: the ledger of south was replaced: accepted (uid 0 (root))");
  // Each ledger has a correction of its first run and seven settlements, all in its last second.
  EXPECT_EQ(std::ranges::count_if(all, [](const json& each) { return each["kind"] == "settle"; }), 14);
  EXPECT_EQ(std::ranges::count_if(all, [](const json& each) { return each["kind"] == "attribute"; }), 2);
  // What was decided at the end is of the next time.
  const json before = json::parse(shown(asked + "2023-09-01 --json"))["board"]["decisions"];
  EXPECT_EQ(
      std::ranges::count_if(before, [](const json& each) { return each["what"] == "key period: monthly -> yearly"; }),
      0);
  const std::string text = shown(asked + "2024-01-01");
  EXPECT_PRED2(contains, text, "not known");
  EXPECT_PRED2(contains, text, "key period: monthly -> yearly");
}

// A cluster is away, so that its ledger and all amounts end on 5 October.
TEST_F(BoardPapers, goes_on_in_the_ledgers_of_the_others_where_one_ends) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(31)}, {.random = std::mt19937_64(32)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  const Recorded record = random_record(std::mt19937_64(33));
  write(clusters, record);
  constexpr Instant k_november{1'698'796'800};  // 2023-11-01T00:00:00Z
  constexpr Instant k_last_minute = k_november - Duration{k_minute};
  const std::string asked =
      "statement --board --month 2023-10 --consortium " + file("north") + ' ' + file("south") + ' ';
  const auto decide = [&](Instant at, const std::string& reason) {
    ledger::Ledger ledger = ledger::testing::writer(file("north"));
    ledger::testing::must(ledger.append(std::vector<Event>{ClusterNamed{at, "north", "uid 0 (root)", reason}}, at));
    return json::parse(shown(asked + "--json"));
  };
  const json report = decide(k_last_minute, "a minute before the month ends");
  EXPECT_EQ(report["of"][0]["until"], k_books_end.value);
  const Heard heard = looked_at(record, k_october, k_last_minute);
  const json& row = report["board"]["heard"][0];
  EXPECT_EQ(row["until"], k_last_minute.value);
  EXPECT_EQ(row["in_consortium_s"], (k_last_minute - k_october).value);
  EXPECT_EQ(row["stale_s"], heard.stale);
  EXPECT_EQ(row["stale_times"], heard.times);
  EXPECT_GT(heard.stale, 25 * 86'400);
  for (const auto& line : parsed_csv(shown(asked + "--csv"))) {
    if (line.at("item") == "stale") EXPECT_EQ(line.at("end_utc"), format_instant(k_last_minute));
  }
  decide(k_november - Duration{1}, "in its last second");
  const json decisions = decide(k_november, "in the next month")["board"]["decisions"];
  std::vector<std::string> reasons;
  for (const json& decision : decisions) reasons.push_back(decision["reason"]);
  EXPECT_EQ(reasons.size() >= 2 ? std::vector(reasons.end() - 2, reasons.end()) : reasons,
            (std::vector<std::string>{"a minute before the month ends", "in its last second"}));
}

// Where nothing was decided the text and the page say so, and show no empty table.
TEST_F(BoardPapers, says_that_nothing_was_decided) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(37)}, {.random = std::mt19937_64(38)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  write(clusters, random_record(std::mt19937_64(39)));
  const std::string asked =
      " --board --consortium " + file("north") + ' ' + file("south") + " -S 2023-09-05 -E 2023-09-06";
  EXPECT_PRED2(contains, shown("statement" + asked), "\nDecisions:\nnone\n");
  const std::string out = page(asked, "quiet");
  EXPECT_PRED2(contains, out, "<h2>Decisions</h2>\n<p class=\"soft\">None in this time.</p>\n");
  EXPECT_PRED2(lacks, out, "aria-label=\"Decisions\"");
}

// -P is --csv in other marks.
TEST_F(BoardPapers, has_the_values_of_csv_between_bars) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(34)}, {.random = std::mt19937_64(35)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  write(clusters, random_record(std::mt19937_64(36)));
  const std::string both = "--consortium " + file("north") + ' ' + file("south");
  for (const std::string& of : {"--ledger " + file("north"), both, "--board " + both}) {
    SCOPED_TRACE(of);
    const std::string asked = "statement --month 2023-08 " + of;
    const Rows exact = parsed_csv(shown(asked + " --csv"));
    const std::string text = shown(asked + " -P");
    const auto lines = split(text, '\n');
    ASSERT_EQ(lines.size(), exact.size() + 2);
    EXPECT_EQ(lines.back(), "");
    const auto names = split(lines[0], '|');
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const auto cells = split(lines[i + 1], '|');
      ASSERT_EQ(cells.size(), names.size()) << lines[i + 1];
      for (std::size_t k = 0; k < names.size(); ++k)
        EXPECT_EQ(cells[k], exact[i].at(std::string(names[k]))) << lines[i + 1];
    }
    EXPECT_EQ(shown(asked + " -P -n"), text.substr(lines[0].size() + 1));
    ends(ExitCode::usage, run_shapleyctl(directory.path(), asked + " -P --csv"));
  }
}

// Of a time before the books of one cluster its standing is not known, and there is no sum.
TEST_F(BoardPapers, of_a_month_that_one_cluster_has_no_books_of) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(27)}, {.random = std::mt19937_64(28)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  write(clusters, random_record(std::mt19937_64(29)));
  const auto run = [this](const std::string& ledgers) {
    return with_head(
        text_tables(ends(ExitCode::incomplete, run_shapleyctl(directory.path(), "statement --board" + ledgers)).out),
        {"Organization", "Cluster", "Standing", "MonthBefore"});
  };
  for (const CellsByHead& row : run(" --consortium " + file("north") + " --month 2023-07").rows)
    EXPECT_EQ(row.at("MonthBefore"), "-");
  for (const CellsByHead& row : run(" --consortium " + file("north") + " --month 2023-08").rows)
    EXPECT_NE(row.at("MonthBefore"), "-");
  ends(ExitCode::usage, run_shapleyctl(directory.path(), "statement --board --ledger " + file("north")));
}

}  // namespace
}  // namespace shapley::ctl
