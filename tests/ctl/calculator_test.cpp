// Every paper of random books, read by a reader of its own and recomputed with a calculator: text, CSV, JSON and HTML;
// of one cluster and of a consortium; of a month, a quarter and a year. Each printed amount is the nearest to what the
// list of runs comes to, so that papers agree to the last digit, and what is printed adds up.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calculator_fixture.hpp"

namespace shapley::ctl {
namespace {

// How a user is called whose name is not known.
constexpr std::string_view k_unnamed = "uid ";
std::uint32_t number_of(const std::string& user) {
  return static_cast<std::uint32_t>(std::stoul(user.substr(k_unnamed.size())));
}

// [lo, hi) cut where periods begin.
std::vector<std::pair<Instant, Instant>> parts_of(const CalculatorBooks& books, const Span& span) {
  std::vector<std::pair<Instant, Instant>> parts;
  for (Instant lo = span.since; lo < span.until;) {
    const Instant end = books.period == Period::none ? span.until : period_end(Period::monthly, lo);
    parts.emplace_back(lo, std::min(end, span.until));
    lo = parts.back().second;
  }
  return parts;
}

// Before + given - got + settled = after in every line, and down every column.
void check_periods(const std::vector<ReadTable>& tables, const CalculatorBooks& books, const Span& span) {
  const auto parts = parts_of(books, span);
  auto table = tables.begin();
  for (const auto& [lo, hi] : parts) {
    while (table != tables.end() && !table->has("StandingAfter")) ++table;
    ASSERT_NE(table, tables.end());
    const Instant begin = books.period_begin_before(hi);
    const CalculatorSums now = books.sums(lo, hi);
    const CalculatorSums then = books.sums(begin, lo);
    for (const CellsByHead& row : table->rows) {
      EXPECT_EQ(printed_in(row, "Before") + printed_in(row, "Given") - printed_in(row, "Got") +
                    printed_in(row, "Settled") + printed_in(row, k_rounding),
                printed_in(row, "After"));
      const std::string& name = row.at("Organization");
      if (name == k_rounding || name == k_sum) continue;
      const Int128 before = amount_by(then.given, name) - amount_by(then.got, name) + amount_by(then.settled, name);
      expect_amount(row, "Before", before);
      expect_amount(row, "Given", amount_by(now.given, name));
      expect_amount(row, "Got", amount_by(now.got, name));
      expect_amount(row, "Settled", amount_by(now.settled, name));
      expect_amount(row, "After",
                    before + amount_by(now.given, name) - amount_by(now.got, name) + amount_by(now.settled, name));
      expect_standing(row, "StandingBefore", lo == begin ? CalculatorStanding{} : books.standing(name, begin, lo));
      expect_standing(row, "StandingAfter", books.standing(name, begin, hi));
    }
    expect_columns_add_up(
        *table, "Organization",
        {"Before", "Given", "Got", "Settled", k_rounding, "After", "StandingBefore", "StandingAfter"});
    ++table;
  }
}

void check_whole_time(const std::vector<ReadTable>& tables, const CalculatorSums& sums) {
  const ReadTable held = with_head(tables, {"Organization", "Got", "Own"});
  for (const CellsByHead& row : held.rows) {
    EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Borrowed") + printed_in(row, k_rounding),
              printed_in(row, "Got"));
    const std::string& name = row.at("Organization");
    if (name == k_rounding) continue;
    const auto amount = [&](const ByName& amounts) {
      return name == k_sum ? total_of(amounts) : amount_by(amounts, name);
    };
    expect_amount(row, "Got", amount(sums.got));
    expect_amount(row, "Own", amount(sums.own));
    expect_amount(row, "Borrowed", amount(sums.borrowed));
    expect_amount(row, "Lent", amount(sums.lent));
    expect_amount(row, "Waited", amount(sums.waited));
  }
  expect_columns_add_up(held, "Organization", {"Got", "Own", "Borrowed", k_rounding, "Lent", "Waited"});

  const ReadTable pairs = with_head(tables, {"Lent by", "Borrowed by"});
  std::int64_t all = 0;
  std::size_t found = 0;
  for (const CellsByHead& row : pairs.rows) {
    const auto exact = sums.pairs.find({row.at("Lent by"), row.at("Borrowed by")});
    if (exact != sums.pairs.end()) {
      expect_amount(row, "CoreHours", exact->second);
      ++found;
    }
    if (exact != sums.pairs.end() || row.at("Borrowed by") == k_rounding) {
      if (exact != sums.pairs.end() || row.at("Lent by") == k_sum) all += printed_in(row, "CoreHours");
    }
  }
  EXPECT_EQ(found, sums.pairs.size());
  EXPECT_EQ(all, printed_in(pairs.rows.back(), "CoreHours"));
  expect_amount(pairs.rows.back(), "CoreHours", total_of(sums.lent));

  const ReadTable users = with_head(tables, {"Organization", "Account"});
  std::map<std::string, std::int64_t> got;
  found = 0;
  for (const CellsByHead& row : users.rows) {
    EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Borrowed") + printed_in(row, k_rounding),
              printed_in(row, "Got"));
    const std::string& name = row.at("Organization");
    if (name != k_sum) got[name] += printed_in(row, "Got");
    if (!row.at("User").starts_with(k_unnamed)) continue;
    const auto user = sums.users.find({name, row.at("Account"), number_of(row.at("User"))});
    ASSERT_NE(user, sums.users.end());
    expect_amount(row, "Own", user->second.first);
    expect_amount(row, "Borrowed", user->second.second);
    ++found;
  }
  EXPECT_EQ(found, sums.users.size());
  expect_columns_add_up(users, "Organization", {"Got", "Own", "Borrowed", k_rounding});
  for (const CellsByHead& row : held.rows) {
    if (row.at("Organization") != k_rounding && row.at("Organization") != k_sum)
      EXPECT_EQ(printed_in(row, "Got"), got[row.at("Organization")]) << "the users of " << row.at("Organization");
  }
}

void check_csv(const Rows& rows, const CalculatorSums& sums) {
  expect_same(exact_of(rows, "given"), sums.given, "given");
  expect_same(exact_of(rows, "got"), sums.got, "got");
  expect_same(exact_of(rows, "settled"), sums.settled, "settled");
  expect_same(exact_of(rows, "lent_to"), sums.lent, "lent");
}

void check_json(const nlohmann::json& report, const CalculatorSums& sums) {
  EXPECT_TRUE(report["exact"]);
  for (const nlohmann::json& row : report["organizations"]) {
    const std::string name = row["name"];
    const std::map<std::string, const ByName*> members{
        {"given", &sums.given},       {"got", &sums.got},   {"settled", &sums.settled}, {"own", &sums.own},
        {"borrowed", &sums.borrowed}, {"lent", &sums.lent}, {"waited", &sums.waited}};
    for (const auto& [member, amounts] : members) {
      EXPECT_EQ(row[member]["processor_seconds"], format_micro(amount_by(*amounts, name))) << name << ' ' << member;
    }
  }
}

// The page of one cluster: its tables by themselves, and that they have the digits of the statement.
void check_page(const std::string& page, const CalculatorBooks& books, const Span& span, const ReadTable& statement) {
  const CalculatorSums sums = books.sums(span.since, span.until);
  const ReadTable overview = page_table(page, "Every organization");
  const std::vector<std::string> columns{"Got", "Settled", "Own", "Lent", "Borrowed", k_rounding, "Waited"};
  expect_columns_add_up(overview, "Organization", columns);
  std::map<std::string, CellsByHead> by_name;
  for (const CellsByHead& row : overview.rows) by_name[row.at("Organization")] = row;
  for (const CellsByHead& row : statement.rows) {
    const std::string& name = row.at("Organization");
    for (const char* column : {"Got", "Own", "Borrowed", "Lent", "Waited"})
      EXPECT_EQ(by_name[name][column], row.at(column)) << name << ' ' << column;
    if (name != k_rounding && name != k_sum) expect_amount(by_name[name], "Settled", amount_by(sums.settled, name));
  }
  const ReadTable lending = page_table(page, "Lending between organizations");
  for (const CellsByHead& row : lending.rows) {
    const std::string& owner = row.at("Owner");
    if (!by_name.contains(owner) || owner == k_rounding) continue;
    std::int64_t lent = printed_in(row, k_rounding);
    for (const std::string& user : books.names) lent += user == owner ? 0 : printed_in(row, user);
    EXPECT_EQ(lent, printed_in(row, "(lent)")) << owner;
    EXPECT_EQ(row.at("(lent)"), by_name[owner]["Lent"]) << owner;
  }
  for (const std::string& column : lending.head) {
    if (column == "Owner" || column == k_rounding) continue;
    std::int64_t sum = 0;
    for (const CellsByHead& row : lending.rows)
      sum += row.at("Owner") == column || row.at("Owner") == "(borrowed)" ? 0 : printed_in(row, column);
    EXPECT_EQ(sum, printed_in(lending.rows.back(), column)) << column;
  }
  const ReadTable waiting = page_table(page, "Waiting by organization");
  expect_columns_add_up(waiting, "Organization", {"Waited (core-hours)"});
  const ReadTable users = page_table(page, "Users of each organization");
  std::map<std::string, std::int64_t> got;
  for (const CellsByHead& row : users.rows) {
    if (row.at("User") != k_sum) got[row.at("Organization")] += printed_in(row, "Got (core-hours)");
    if (row.at("User") == k_sum) EXPECT_EQ(row.at("Got (core-hours)"), by_name[row.at("Organization")]["Got"]);
  }
  for (const std::string& name : books.names) EXPECT_EQ(got[name], printed_in(by_name[name], "Got")) << name;
}

// By month: each line, what the months of an organization come to, and what all do.
void check_months(const ReadTable& months, const CalculatorBooks& books, const Span& span, const std::string& given) {
  const std::string got = "Got (core-hours)";
  const std::string settled = "Settled (core-hours)";
  const std::string difference = "Difference (core-hours)";
  std::map<std::string, std::map<std::string, std::int64_t>> organizations;
  std::map<std::string, std::int64_t> all;
  for (const CellsByHead& row : months.rows) {
    const std::string& name = row.at("Organization");
    const std::string& month = row.at("Month (UTC)");
    EXPECT_EQ(printed_in(row, given) - printed_in(row, got) + printed_in(row, settled) + printed_in(row, k_rounding),
              printed_in(row, difference));
    for (const std::string& column : {given, got, settled, difference}) {
      if (name == k_sum)
        EXPECT_EQ(all[column], printed_in(row, column)) << column;
      else if (month == k_sum && name != k_rounding)
        EXPECT_EQ(organizations[name][column], printed_in(row, column)) << name << ' ' << column;
      else
        organizations[name][column] += printed_in(row, column);
      const bool is_single = span.until <= k_september;
      if (is_single ? name != k_sum : month == k_sum && name != k_sum) all[column] += printed_in(row, column);
    }
    const auto begin = parse_instant(month.substr(0, 7) + "-01");
    if (!begin) continue;
    const CalculatorSums sums =
        books.sums(std::max(*begin, span.since), std::min(period_end(Period::monthly, *begin), span.until));
    expect_amount(row, given, amount_by(sums.given, name));
    expect_amount(row, got, amount_by(sums.got, name));
    expect_amount(row, settled, amount_by(sums.settled, name));
  }
  ASSERT_FALSE(months.rows.empty());
  EXPECT_EQ(months.rows.back().at("Organization"), k_sum);
}

// `history`, which has as many decimals as each amount by itself.
void check_history(const std::string& text, const std::string& csv, const nlohmann::json& report,
                   const CalculatorBooks& books, const Span& span) {
  const auto sums_of = [&](const std::string& begin) {
    const Instant month = *parse_instant(begin);
    return books.sums(std::max(month, span.since), std::min(period_end(Period::monthly, month), span.until));
  };
  const ReadTable table = with_head(text_tables(text), {"Begin", "Organization"});
  ASSERT_FALSE(table.rows.empty());
  for (const CellsByHead& row : table.rows) {
    const CalculatorSums sums = sums_of(row.at("Begin"));
    expect_amount(row, "Got", amount_by(sums.got, row.at("Organization")));
    expect_amount(row, "Given", amount_by(sums.given, row.at("Organization")));
    expect_amount(row, "Settled", amount_by(sums.settled, row.at("Organization")));
  }
  for (const auto& row : parsed_csv(csv)) {
    const CalculatorSums sums = sums_of(row.at("begin"));
    EXPECT_EQ(row.at("got_processor_seconds"), format_micro(amount_by(sums.got, row.at("organization"))));
    EXPECT_EQ(row.at("settled_processor_seconds"), format_micro(amount_by(sums.settled, row.at("organization"))));
  }
  for (const nlohmann::json& row : report["rows"]) {
    const CalculatorSums sums = sums_of(row["begin_utc"]);
    EXPECT_EQ(row["given_processor_seconds"], format_micro(amount_by(sums.given, row["organization"])));
  }
}

TEST_F(Calculator, agrees_with_every_paper_of_a_cluster) {
  for (const std::uint64_t seed : {1U, 2U}) {
    for (const Period period : {Period::none, Period::monthly}) {
      SCOPED_TRACE(std::to_string(seed) + (period == Period::none ? " none" : " monthly"));
      CalculatorSite site{.random = std::mt19937_64(seed)};
      const CalculatorBooks& books = site.make(2 + seed, period);
      const std::string name = "l" + std::to_string(seed) + (period == Period::none ? "n" : "m");
      site.write(file(name), [](const std::string& own) { return own; }, {});
      for (const Span& span : k_spans) {
        SCOPED_TRACE(span.arguments);
        const std::string of_ledger = " --ledger " + file(name) + ' ' + span.arguments;
        const CalculatorSums sums = books.sums(span.since, span.until);
        const auto tables = text_tables(shown("statement --pairs --users" + of_ledger));
        check_periods(tables, books, span);
        check_whole_time(tables, sums);
        check_csv(parsed_csv(shown("statement --csv" + of_ledger)), sums);
        check_json(nlohmann::json::parse(shown("statement --json" + of_ledger)), sums);
        const std::string out = page(of_ledger, "page");
        check_page(out, books, span, with_head(tables, {"Organization", "Got", "Own"}));
        check_months(page_table(out, "Given and got by month"), books, span, "Given, by direct_contr (core-hours)");
        const std::string times = " --ledger " + file(name) + " -S " + format_instant(span.since) + " -E " +
                                  format_instant(span.until) + " --by month ";
        check_history(shown("history" + times), shown("history --csv" + times),
                      nlohmann::json::parse(shown("history --json" + times)), books, span);
      }
    }
  }
}

// The sum in processors of the first cluster, each part rounded down to the millionth.
Int128 in_sum(Int128 north, Int128 south) {
  return north + (south >= 0 ? south / 2 : (south - 1) / 2);
}

// The members' lines: each cluster's, weighed and added over clusters, added over members.
void check_members(const ReadTable& members, const TwoClusters& clusters, const Span& span) {
  const std::array sums{clusters.sites[0].books.sums(span.since, span.until),
                        clusters.sites[1].books.sums(span.since, span.until)};
  const std::vector<std::string> columns{"Given", "Got", "Settled", "Difference", "Standing"};
  std::map<std::string, std::map<std::string, std::int64_t>> down;  // by cluster or sum, then by column
  std::map<std::string, std::array<std::int64_t, 2>> of_clusters;   // by column, of the subject of the row
  std::map<std::string, std::int64_t> rest;
  for (const CellsByHead& row : members.rows) {
    const std::string& name = row.at("Organization");
    const std::string& cluster = row.at("Cluster");
    const std::size_t number = cluster == "north" ? 0 : 1;
    if (cluster != k_rounding && name != k_rounding) {
      EXPECT_EQ(
          printed_in(row, "Given") - printed_in(row, "Got") + printed_in(row, "Settled") + printed_in(row, k_rounding),
          printed_in(row, "Difference"));
    }
    for (const std::string& column : columns) {
      const std::int64_t amount = printed_in(row, column);
      if (name != k_sum && cluster != k_rounding) down[cluster][column] += amount;
      if (name == k_sum && cluster != k_rounding) EXPECT_EQ(down[cluster][column], amount) << cluster << ' ' << column;
      if (name == k_rounding) continue;
      if (cluster == k_rounding) {
        rest[column] = amount;
      } else if (cluster == k_sum) {
        const std::string& text = row.at(column);
        const std::int64_t twice = 2 * of_clusters[column][0] + of_clusters[column][1];
        const auto weighed = nearest_like(text, CpuTime{Int128{twice} * 3600 * k_micro / 2000});
        EXPECT_EQ(weighed + rest[column], amount) << name << ' ' << column;
        of_clusters[column] = {};
        rest[column] = 0;
      } else {
        of_clusters[column].at(number) = amount;
      }
    }
    if (name == k_sum || name == k_rounding || cluster == k_rounding) continue;
    const auto amount = [&](ByName CalculatorSums::*const what) {
      const Int128 north = amount_by(sums[0].*what, name);
      const Int128 south = amount_by(sums[1].*what, name);
      return cluster == k_sum ? in_sum(north, south) : number == 0 ? north : south;
    };
    expect_amount(row, "Given", amount(&CalculatorSums::given));
    expect_amount(row, "Got", amount(&CalculatorSums::got));
    expect_amount(row, "Settled", amount(&CalculatorSums::settled));
    if (cluster == k_sum) continue;
    const CalculatorBooks& books = clusters.sites.at(number).books;
    expect_standing(row, "Standing", books.standing(name, books.period_begin_before(span.until), span.until));
  }
}

void check_users(const ReadTable& users, const ReadTable& members) {
  std::map<std::pair<std::string, std::string>, std::string> got;
  for (const CellsByHead& row : members.rows) got[{row.at("Organization"), row.at("Cluster")}] = row.at("Got");
  std::int64_t sum = 0;
  for (const CellsByHead& row : users.rows) {
    EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Borrowed") + printed_in(row, k_rounding),
              printed_in(row, "Got"));
    if (row.at("User") != k_sum) {
      sum += printed_in(row, "Got");
      continue;
    }
    EXPECT_EQ(sum, printed_in(row, "Got"));
    const std::string& of_member = got[{row.at("Organization"), row.at("Cluster")}];
    EXPECT_EQ(row.at("Got"), of_member) << row.at("Organization");
    sum = 0;
  }
  EXPECT_FALSE(users.rows.empty());
}

TEST_F(Calculator, agrees_with_every_paper_of_a_consortium) {
  for (const Period period : {Period::none, Period::monthly}) {
    SCOPED_TRACE(period == Period::none ? "none" : "monthly");
    TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(3)}, {.random = std::mt19937_64(4)}}};
    for (CalculatorSite& site : clusters.sites) site.make(3, period);
    const std::string north = file(period == Period::none ? "n1" : "n2");
    const std::string south = file(period == Period::none ? "s1" : "s2");
    clusters.write(north, south);
    for (const Span& span : k_spans) {
      SCOPED_TRACE(span.arguments);
      const std::string of_ledgers = " --consortium " + north + ' ' + south + ' ' + span.arguments;
      const auto tables = text_tables(shown("statement --pairs --users" + of_ledgers));
      const ReadTable members = with_head(tables, {"Organization", "Cluster"});
      check_members(members, clusters, span);
      const auto users = std::ranges::find_if(tables, [](const ReadTable& table) { return table.has("User"); });
      ASSERT_NE(users, tables.end());
      check_users(*users, members);
      const auto exact = parsed_csv(shown("statement --csv" + of_ledgers));
      const nlohmann::json report = nlohmann::json::parse(shown("statement --json" + of_ledgers));
      ByName settled;
      for (const auto& row : exact) {
        if (row.at("item") == "settled" && row.at("cluster") == "north")
          settled[row.at("organization")] += static_cast<std::int64_t>(*parse_micro(row.at("exact")));
      }
      expect_same(settled, clusters.sites[0].books.sums(span.since, span.until).settled, "settled in the north");
      EXPECT_EQ(report["missing"], nlohmann::json::array());
      const std::string out = page(of_ledgers, "both");
      EXPECT_EQ(page_table(out, "Members by cluster").rows, members.rows) << "the page and the text";
    }
  }
}

// Which one is missing is said, and nothing is added up.
TEST_F(Calculator, adds_up_no_clusters_of_which_one_is_missing) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(5)}, {.random = std::mt19937_64(6)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  clusters.write(file("north"), file("south"));
  const std::string asked = " --consortium " + file("north") + " --month 2023-08";
  const auto run = [&](const std::string& arguments) {
    return ends(ExitCode::incomplete, run_shapleyctl(directory.path(), arguments + asked));
  };
  for (const char* form : {"statement", "statement --csv", "statement --json"}) {
    const std::string said = run(form).err;
    EXPECT_PRED2(contains, said, "There is no sum, because the ledgers of these clusters");
    EXPECT_PRED2(contains, said, ": south\n");
  }
  const ReadTable members = with_head(text_tables(run("statement").out), {"Organization", "Cluster"});
  for (const CellsByHead& row : members.rows) EXPECT_EQ(row.at("Cluster"), "north");
  EXPECT_EQ(nlohmann::json::parse(run("statement --json").out)["missing"], nlohmann::json::array({"south"}));
  for (const auto& row : parsed_csv(run("statement --csv").out)) EXPECT_EQ(row.at("cluster"), "north");
  run("report --no-audit --no-charts -o " + file("page"));
  const std::string page = content_of(file("page/index.html"));
  EXPECT_PRED2(contains, page, "There is no sum, because the ledgers of these clusters");
  for (const CellsByHead& row : page_table(page, "Members by cluster").rows) EXPECT_EQ(row.at("Cluster"), "north");
}

// The time of a consortium's paper is the same for all clusters: it ends where the first ledger does.
TEST_F(Calculator, ends_where_the_first_ledger_of_a_consortium_ends) {
  TwoClusters clusters{.sites = {CalculatorSite{.random = std::mt19937_64(7)}, {.random = std::mt19937_64(8)}}};
  for (CalculatorSite& site : clusters.sites) site.make(2, Period::none);
  clusters.write(file("north"), file("south"));
  ledger::testing::must(ledger::testing::writer(file("north"))
                            .append(std::array{accounting::Event(accounting::OrganizationsDeclared{
                                        k_books_end + Duration{7'200}, {"org0", "org1"}})},
                                    k_books_end + Duration{7'200}));
  const std::string text = shown("statement --consortium " + file("north") + ' ' + file("south") + " -S 2023-09-01");
  EXPECT_PRED2(contains, text, "uni: 2023-09-01T00:00:00Z to 2023-10-05T00:00:00Z");
  EXPECT_PRED2(contains, text, "the ledger recorded something last at 2023-10-05T00:00:00Z.\n");
}

}  // namespace
}  // namespace shapley::ctl
