#include "ctl/commands/statement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "ctl/commands/adjust.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"
#include "ctl/output/summed.hpp"
#include "ctl/output/worth.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr Field k_period_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    {"before", "Before"},
    {"given", "Given"},
    {"got", "Got"},
    {"settled", "Settled"},
    {"rounding", k_rounding},
    {"after", "After"},
    {"standing_before", "StandingBefore"},
    {"standing_after", "StandingAfter"},
};

constexpr Field k_held_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    {"got", "Got"},
    {"own", "Own"},
    {"borrowed", "Borrowed"},
    {"rounding", k_rounding},
    {"lent", "Lent"},
    {"waited", "Waited"},
};

constexpr Field k_capacity_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    {"capacity", "Capacity"},
    {"own", "Own"},
    {"lent", "Lent"},
    {"wanted", "IdleWanted"},
    {"unwanted", "IdleNotWanted"},
    {"rounding", k_rounding},
};

constexpr Field k_pair_fields[] = {
    left({"owner", "Lent by"}),
    left({"borrower", "Borrowed by"}),
    {"core_hours", "CoreHours"},
};

constexpr Field k_user_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    left({"account", "Account"}),
    left({"user", "User"}),
    {"got", "Got"},
    {"own", "Own"},
    {"borrowed", "Borrowed"},
    {"rounding", k_rounding},
};

constexpr AmountField k_period_amounts[] = {{"before", true},
                                            {"given"},
                                            {"got"},
                                            {"settled", true},
                                            {"rounding", true},
                                            {"after", true},
                                            {"standing_before", true},
                                            {"standing_after", true}};
constexpr AmountField k_held_amounts[] = {{"got"}, {"own"}, {"borrowed"}, {"rounding", true}, {"lent"}, {"waited"}};
constexpr AmountField k_capacity_amounts[] = {{"capacity"}, {"own"},      {"lent"},
                                              {"wanted"},   {"unwanted"}, {"rounding", true}};
constexpr AmountField k_pair_amounts[] = {{"core_hours"}};
constexpr AmountField k_user_amounts[] = {{"got"}, {"own"}, {"borrowed"}, {"rounding", true}};

// The work in a line of a period's table, or in all of them. Work given less work got in a part of a period, and what
// it began with: what it ends with.
struct PeriodWorks {
  CpuTime before = {}, given = {}, got = {}, settled = {}, after = {}, standing_before = {}, standing_after = {};
};
SHAPLEY_DESCRIBE(PeriodWorks, before, given, got, settled, after, standing_before, standing_after);

PeriodWorks works_of(const ledger::PeriodRow& row) {
  return {.before = row.opening.difference.work,
          .given = row.given.work,
          .got = row.got.work,
          .settled = row.settled.work,
          .after = row.closing.difference.work,
          .standing_before = work_of(row.opening.standing_core_hours),
          .standing_after = work_of(row.closing.standing_core_hours)};
}

// Likewise of the whole time.
struct HeldWorks {
  CpuTime got = {}, own = {}, borrowed = {}, lent = {}, waited = {};
};
SHAPLEY_DESCRIBE(HeldWorks, got, own, borrowed, lent, waited);

// What processors could have done, and did.
struct CapacityWorks {
  CpuTime capacity = {}, own = {}, lent = {}, wanted = {}, unwanted = {};
};
SHAPLEY_DESCRIBE(CapacityWorks, capacity, own, lent, wanted, unwanted);

// Of more organizations than these a statement has its tables only, so that it is one page.
constexpr std::ptrdiff_t k_most_in_words = 8;

HeldWorks works_of(const ledger::AccountRow& row) {
  return {row.got.work, row.own.work, row.borrowed.work, row.lent.work, row.waited.work};
}

// A table without the columns of these names of which no row has an amount.
std::string text_of(std::span<const Field> fields, AmountRows rows,
                    std::initializer_list<std::string_view> only_if_any = {"rounding"},
                    const ledger::AmountUnit& in = {}) {
  Table table{.columns = columns_of(fields)};
  for (const std::string_view name : only_if_any) {
    if (!rows.has(name)) drop_column(table, name);
  }
  name_unit(table, in);
  table.rows = std::move(rows).take();
  return people_text(table);
}

// Empty if no organization had an amount in the period.
std::string worth_text(const std::optional<ledger::WorthReport>& worth, const ledger::AmountUnit& in, bool pairs) {
  if (!worth || worth->organizations.empty()) return {};
  return fmt::format("\nWhat cooperation was worth since {}, utility in {} on average over that time:\n{}",
                     worth->begin.utc(), in.word(), worth_tables(*worth, in, pairs));
}

// The tables and sentences of a statement for people.
class Paper {
 public:
  Paper(const ledger::AccountReport& report, const StatementTables& tables, const Balances& balances)
      : report_(report), tables_(tables), amounts_(report, largest_amount_of(balances.rows)) {
    for (const ledger::PeriodPart& part : report.periods) {
      AmountRows& rows = parts_.emplace_back(rows_of(part));
      with_settled_ = with_settled_ || rows.has("settled");
      with_rounding_ = with_rounding_ || rows.has("rounding");
    }
  }
  Paper(const Paper&) = delete;
  Paper& operator=(const Paper&) = delete;

  // Of the period of this number. To be called once for each.
  [[nodiscard]] std::string part(std::size_t number) {
    const ledger::PeriodPart& part = report_.periods[number];
    std::string text =
        fmt::format("{} to {}, of the period since {}", part.begin.utc(), part.end.utc(), part.period_begin.utc());
    text += part.opens_period ? " (which begins here: before it every standing is zero)\n" : "\n";
    Table table{.columns = columns_of(k_period_fields), .rows = std::move(parts_[number]).take()};
    if (!with_settled_) drop_column(table, "settled");
    if (!with_rounding_) drop_column(table, "rounding");
    text += people_text(table) + '\n';
    const bool are_few = std::ranges::count_if(part.organizations, [this](const ledger::PeriodRow& row) {
                           return shows(works_of(row));
                         }) <= k_most_in_words;
    if (are_few) text += sentences(part);
    if (are_few || tables_.pairs) {
      text += worth_text(part.worth, report_.of.in, tables_.pairs);
      if (limits_of_worth_.empty() && part.worth && !part.worth->organizations.empty() && !part.worth->limits.empty())
        limits_of_worth_ = worth_limits(*part.worth) + '\n';
    }
    if (part.closes_period)
      text += fmt::format("The period ends at {}: standings start again from zero there.\n", part.end.utc());
    return text + '\n';
  }

  // What the worth of cooperation ignores in some part so far, once; empty: nothing, or none is shown.
  [[nodiscard]] const std::string& limits_of_worth() const { return limits_of_worth_; }

  // What each of the periods' rows adds up to.
  [[nodiscard]] std::string identity() const {
    return fmt::format("Before + Given - Got{}{} = After", with_settled_ ? " + Settled" : "",
                       with_rounding_ ? std::string(" + ") + k_rounding : "");
  }

  [[nodiscard]] std::string held() const {
    AmountRows rows(amounts_, k_held_amounts);
    HeldWorks all;
    for (const ledger::AccountRow& row : report_.organizations) {
      const HeldWorks works = works_of(row);
      all += works;
      if (shows({works.got, works.own, works.borrowed, works.lent, works.waited}))
        rows.add({{"name", row.name}}, line_of(works));
    }
    rows.finish({{"name", k_rounding}}, {{"name", k_sum}}, line_of(all));
    return text_of(k_held_fields, std::move(rows));
  }

  // Empty if it is not asked for, or with an empty line after it.
  [[nodiscard]] std::string capacity() const {
    if (!tables_.capacity) return {};
    AmountRows rows(amounts_, k_capacity_amounts);
    CapacityWorks all;
    for (const ledger::AccountRow& row : report_.organizations) {
      const CapacityWorks works{row.capacity.work, row.own.work, row.lent.work, row.idle_wanted.work,
                                row.idle_unwanted.work};
      all += works;
      if (shows({works.capacity, works.own, works.lent, works.wanted, works.unwanted}))
        rows.add({{"name", row.name}}, line_of(works));
    }
    rows.finish({{"name", k_rounding}}, {{"name", k_sum}}, line_of(all));
    return text_of(k_capacity_fields, std::move(rows)) +
           "\nCapacity: what its processors could have done. IdleWanted: idle while startable jobs asked for as "
           "much.\n\n";
  }

  // Likewise.
  [[nodiscard]] std::string pairs() const {
    if (!tables_.pairs) return {};
    AmountRows rows(amounts_, k_pair_amounts);
    std::set<std::pair<std::string, std::string>> taken;
    CpuTime all;
    const auto words = [](const std::string& owner, const std::string& borrower) {
      return json{{"owner", owner}, {"borrower", borrower}};
    };
    const auto take = [&](const std::string& owner, const std::string& borrower, CpuTime work) {
      if (!taken.emplace(owner, borrower).second) return;
      all += work;
      if (shows({work})) rows.add(words(owner, borrower), std::array{amounts_.nearest(work)});
    };
    const std::vector<PairsLeftOver> rests = pairs_left_over(report_, amounts_);
    for (std::size_t i = 0; i < rests.size(); ++i) {
      const ledger::AccountRow& row = report_.organizations[i];
      for (const ledger::LentPair& pair : row.lent_to) take(row.name, pair.organization, pair.work);
      rows.note_rest(words(row.name, k_rounding), std::array{rests[i].lent});
    }
    for (std::size_t i = 0; i < rests.size(); ++i) {
      const ledger::AccountRow& row = report_.organizations[i];
      for (const ledger::LentPair& pair : row.borrowed_from) take(pair.organization, row.name, pair.work);
      rows.note_rest(words(k_rounding, row.name), std::array{rests[i].borrowed});
    }
    rows.finish(words(k_sum, k_rounding), words(k_sum, ""), std::array{amounts_.nearest(all)});
    return rows.empty() ? "" : text_of(k_pair_fields, std::move(rows), {}, report_.of.in) + '\n';
  }

  // Likewise.
  [[nodiscard]] std::string users() const {
    if (!tables_.users) return {};
    AmountRows rows(amounts_, k_user_amounts);
    HeldWorks all;
    const auto words = [](const std::string& name, const json& account, const std::string& user) {
      return json{{"name", name}, {"account", account}, {"user", user}};
    };
    for (const ledger::AccountRow& row : report_.organizations) {
      ColumnSums printed;
      HeldWorks of_users;
      for (const ledger::UserRow& user : row.users) {
        const HeldWorks works{.got = user.got.work, .own = user.own.work, .borrowed = user.borrowed.work};
        of_users += works;
        const std::array<Units, 4> line = user_line(works);
        printed.add(line);
        if (shows({works.got, works.own, works.borrowed}))
          rows.add(words(row.name, json_of(user.account), user.user), line);
      }
      rows.add_rest(words(row.name, "", k_rounding), printed.rest(user_line(of_users)));
      all += of_users;
    }
    rows.finish(words(k_rounding, "", ""), words(k_sum, "", ""), user_line(all));
    return rows.empty() ? "" : text_of(k_user_fields, std::move(rows)) + '\n';
  }

  [[nodiscard]] const PaperAmounts& amounts() const { return amounts_; }

 private:
  // Empty for many organizations, whose table says the same on fewer lines.
  [[nodiscard]] std::string sentences(const ledger::PeriodPart& part) const {
    std::string text;
    for (const ledger::PeriodRow& row : part.organizations) {
      const PeriodWorks works = works_of(row);
      if (!shows(works)) continue;
      text += fmt::format("{} {}.\n", printable(row.name),
                          ledger::difference_sentence(words(works.after), words(works.standing_after), report_.of.in));
    }
    return text;
  }
  [[nodiscard]] AmountRows rows_of(const ledger::PeriodPart& part) const {
    AmountRows rows(amounts_, k_period_amounts);
    PeriodWorks all;
    for (const ledger::PeriodRow& row : part.organizations) {
      const PeriodWorks works = works_of(row);
      all += works;
      if (shows(works)) rows.add({{"name", row.name}}, line_of(works));
    }
    rows.finish({{"name", k_rounding}}, {{"name", k_sum}}, line_of(all));
    return rows;
  }
  [[nodiscard]] std::array<Units, 8> line_of(const PeriodWorks& works) const {
    return {amounts_.nearest(works.before),
            amounts_.nearest(works.given),
            amounts_.nearest(works.got),
            amounts_.nearest(works.settled),
            amounts_.left_over(std::array{works.before, works.given, -works.got, works.settled}),
            amounts_.nearest(works.after),
            amounts_.nearest(works.standing_before),
            amounts_.nearest(works.standing_after)};
  }
  [[nodiscard]] std::array<Units, 4> user_line(const HeldWorks& works) const {
    return {amounts_.nearest(works.got), amounts_.nearest(works.own), amounts_.nearest(works.borrowed),
            amounts_.left_over(std::array{works.own, works.borrowed})};
  }
  [[nodiscard]] std::array<Units, 6> line_of(const HeldWorks& works) const {
    const auto [got, own, borrowed, rounding] = user_line(works);
    return {got, own, borrowed, rounding, amounts_.nearest(works.lent), amounts_.nearest(works.waited)};
  }
  [[nodiscard]] std::array<Units, 6> line_of(const CapacityWorks& works) const {
    return {amounts_.nearest(works.capacity),
            amounts_.nearest(works.own),
            amounts_.nearest(works.lent),
            amounts_.nearest(works.wanted),
            amounts_.nearest(works.unwanted),
            amounts_.left_over(std::array{works.own, works.lent, works.wanted, works.unwanted})};
  }
  [[nodiscard]] ledger::SignedText words(CpuTime work) const {
    const Units units = amounts_.nearest(work);
    return {amounts_.text(units < 0 ? -units : units), units > 0 ? 1 : units < 0 ? -1 : 0};
  }
  // Whether a row with these amounts has anything but zeros as printed, or is shown nevertheless.
  [[nodiscard]] bool shows(std::initializer_list<CpuTime> amounts) const {
    return tables_.all || std::ranges::any_of(amounts, [this](CpuTime work) { return amounts_.nearest(work) != 0; });
  }
  [[nodiscard]] bool shows(const PeriodWorks& works) const {
    return shows({works.before, works.given, works.got, works.settled, works.after, works.standing_before,
                  works.standing_after});
  }

  const ledger::AccountReport& report_;
  StatementTables tables_;
  PaperAmounts amounts_;
  std::vector<AmountRows> parts_ = {};
  bool with_settled_ = false;
  bool with_rounding_ = false;  // in the periods' tables
  std::string limits_of_worth_ = {};
};

// The adjustments of the time, and the later ones, which an earlier statement could not name.
std::string corrections_text(const ledger::AccountReport& report) {
  std::vector<ledger::ListedAdjustment> then;
  std::vector<ledger::ListedAdjustment> later;
  for (const ledger::ListedAdjustment& adjustment : report.adjustments)
    (adjustment.later == true ? later : then).push_back(adjustment);
  std::string text;
  if (!then.empty())
    text += fmt::format("Corrections of the books made in that time:\n{}\n", adjustment_lines(then, report.of.in));
  if (!later.empty())
    text += fmt::format("Corrections of the books made later that changed amounts of that time:\n{}\n",
                        adjustment_lines(later, report.of.in));
  return text;
}

// The tables of all periods, and what they mean.
std::string period_parts(const ledger::AccountReport& report, Paper& paper) {
  std::string text;
  for (std::size_t i = 0; i < report.periods.size(); ++i) text += paper.part(i);
  text += paper.identity() +
          ": work given less work got since the period began, a sum. A standing is that\n"
          "difference on average over the period so far, as status shows it.\n\n";
  return text + paper.limits_of_worth();
}

}  // namespace

void name_users(ledger::AccountReport& report) {
  for (ledger::AccountRow& row : report.organizations) {
    for (ledger::UserRow& user : row.users) {
      // Not by the host that prints it: each reader of a ledger has the same paper.
      if (!user.user_id) user.user = "(others)";
      if (user.user.empty()) user.user = "uid " + std::to_string(*user.user_id);
    }
  }
}

void add_statement(CLI::App& app, StatementArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "statement", "Show what each organization got, gave and lent in a month or a year, by account and user");
  add_interval(*command, arguments.interval);
  command->add_flag("-P,--parsable2", arguments.parsable, "Print the values of --csv between '|'")
      ->excludes(command->get_option("--csv"))
      ->excludes(command->get_option("--json"));
  command->add_flag("-n,--noheader", arguments.no_header, "Print no header with -P");
  add_month(*command, arguments.month);
  add_balance(*command, arguments.balance);
  command
      ->add_option("--as-of", arguments.as_of,
                   "Show closed periods as they were known at their end (then), or as they are known today (now)")
      ->capture_default_str()
      ->check(CLI::IsMember({"then", "now"}))
      ->type_name("WHEN");
  command->add_flag("--pairs", arguments.tables.pairs, "Show what each organization lent to each other one, too");
  command->add_flag("--users", arguments.tables.users, "Show what each user of each account got, too");
  add_accounts_option(*command, arguments.accounts);
  command->add_flag("--capacity", arguments.tables.capacity,
                    "Show what processors could have done, too, and what of it was wanted");
  command->add_flag("--all", arguments.tables.all, "Show organizations, users and pairs without any amount, too");
  command
      ->add_option(
          "--consortium", arguments.consortium,
          "Show a consortium's members by cluster and in sum, from the ledgers of its clusters; the first one's "
          "names and weights count")
      ->excludes(command->get_option("--ledger"))
      ->excludes(command->get_option("--accounts"))  // one cluster's tree is not another's
      ->excludes(command->get_option("--capacity"))
      ->excludes(command->get_option("--all"))
      ->type_name("LEDGER");
  command
      ->add_flag("--board", arguments.tables.board,
                 "Show standings beside those of a month before, what was decided on all clusters, and how long their "
                 "statements did not count, too")
      ->needs(command->get_option("--consortium"));
}

std::string render_statement(const ledger::AccountReport& report, const StatementTables& tables,
                             const StatementAdditions& additions) {
  const Balances& balances = additions.balances;
  Paper paper(report, tables, balances);
  std::string text = fmt::format("Statement: {} to {}, months and days in UTC; contribution {}; amounts in {}\n{}",
                                 report.of.since.utc(), report.of.until.utc(), printable(report.of.contribution),
                                 report.of.in.in_full(), recorded_line(report.of));
  if (report.as_of.is_known()) text += fmt::format("Closed periods by what was known at {}.\n", report.as_of.utc());
  text += '\n';
  if (!balances.by_month) text += period_parts(report, paper);
  if (!balances.rows.empty())
    text += balance_text(balances, balance_table(balances.rows, paper.amounts()), paper.amounts(), true) + '\n';
  text +=
      fmt::format("{}\nOwn: on its own processors. Waited: what its startable jobs asked for, times how long.\n\n{}{}",
                  paper.held(), paper.capacity(), paper.pairs());
  if (!additions.accounts.empty()) text += people_text(accounts_table(additions.accounts, paper.amounts())) + '\n';
  text += paper.users();
  if (report.is_private) text += "What others used is private here (PrivateData in slurm.conf): (others).\n\n";
  text += corrections_text(report);
  return text + (report.exact
                     ? "Books:   exact: got = own + borrowed, given by direct_contr = own + lent, to the unit\n"
                     : "Books:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n");
}

Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  if (arguments.as_of == "now" && arguments.balance.is_asked()) {
    return fail(Errc::invalid_argument,
                "--as-of now does not go with --year, --by-month or --rate: balances carry on what was known at the "
                "end of each period");
  }
  if (!arguments.consortium.empty()) return run_consortium_statement(arguments, environment);
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  SHAPLEY_TRY(take_year(arguments.balance, interval));
  const ledger::StatementRequest request{.as_of = arguments.as_of == "now" ? ledger::AsOf::now : ledger::AsOf::then};
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, interval_report(interval, endpoint, request));
  name_users(report);
  StatementAdditions additions;
  SHAPLEY_TRY_ASSIGN(additions.balances, balances_of(arguments.balance, report.of, interval, endpoint));
  SHAPLEY_TRY_ASSIGN(additions.accounts,
                     subtotals_by(arguments.accounts, interval.ledger, users_of(report), environment.run_program));
  if (interval.json) {
    json values = json_of(report);
    add_to_json(values, additions);
    environment.out << tables::json_text(values);
  } else if (interval.csv) {
    environment.out << csv_text(exact_statement(report, additions));
  } else if (arguments.parsable) {
    environment.out << parsable_text(exact_statement(report, additions), !arguments.no_header);
  } else {
    environment.out << render_statement(report, arguments.tables, additions);
  }
  return report.exact ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
