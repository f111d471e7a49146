#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "ctl/commands/adjust.hpp"
#include "ctl/commands/consortium_statement.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/output/paper.hpp"
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

constexpr Field k_exact_statement_fields[] = {{"begin_utc"},    {"end_utc"}, {"organization"}, {"item"},
                                              {"contribution"}, {"other"},   {"account"},      {"user"},
                                              {"core_hours"},   {"exact"},   {"unit"}};

bool has_settled(const ledger::AccountReport& report) {
  return std::ranges::any_of(report.organizations, [](const auto& row) { return row.settled.work.value != 0; });
}

// Work given less work got in a part of a period, and what it began with: what it ends with.
std::array<CpuTime, 4> adding_up(const ledger::PeriodRow& row) {
  return {row.opening.difference.work, row.given.work, -row.got.work, row.settled.work};
}

template <typename Row>
std::array<CpuTime, 2> own_and_borrowed(const Row& row) {
  return {row.own.work, row.borrowed.work};
}

// A table whose column `(rounding)` is there only if something is left.
std::string text_of(std::span<const Field> fields, json rows, bool with_rounding) {
  Table table{.columns = columns_of(fields), .rows = std::move(rows)};
  if (!with_rounding) drop_column(table, "rounding");
  return people_text(table);
}

// Empty if no organization had an amount in the period.
std::string worth_text(const std::optional<ledger::WorthReport>& worth) {
  if (!worth || worth->organizations.empty()) return {};
  return "\nWhat cooperation was worth since " + worth->begin.utc() +
         ", utility in core-hours on average over that time:\n" + worth_tables(*worth);
}

// The tables and sentences of a statement for people.
class Paper {
 public:
  Paper(const ledger::AccountReport& report, bool all)
      : report_(report), all_(all), with_settled_(has_settled(report)), amounts_(report) {
    for (const ledger::PeriodPart& part : report.periods) {
      with_rounding_ = with_rounding_ || std::ranges::any_of(part.organizations, [&](const ledger::PeriodRow& row) {
                         return amounts_.left_over(adding_up(row)) != 0;
                       });
    }
  }

  [[nodiscard]] std::string part(const ledger::PeriodPart& part) const {
    std::string text = part.begin.utc() + " to " + part.end.utc() + ", of the period since " + part.period_begin.utc();
    text += part.opens_period ? " (which begins here: before it every standing is zero)\n" : "\n";
    json rows = json::array();
    std::string sentences;
    for (const ledger::PeriodRow& row : part.organizations) {
      const CpuTime standing_before = work_of(row.opening.standing_core_hours);
      const CpuTime standing_after = work_of(row.closing.standing_core_hours);
      const CpuTime after = row.closing.difference.work;
      if (!shows({row.opening.difference.work, row.given.work, row.got.work, row.settled.work, after, standing_before,
                  standing_after}))
        continue;
      rows.push_back({{"name", row.name},
                      {"before", amounts_.signed_text(row.opening.difference.work)},
                      {"given", amounts_.text(row.given.work)},
                      {"got", amounts_.text(row.got.work)},
                      {"settled", amounts_.signed_text(row.settled.work)},
                      {"rounding", amounts_.signed_text(amounts_.left_over(adding_up(row)))},
                      {"after", amounts_.signed_text(after)},
                      {"standing_before", amounts_.signed_text(standing_before)},
                      {"standing_after", amounts_.signed_text(standing_after)}});
      sentences += printable(row.name) + ' ' + ledger::difference_sentence(words(after), words(standing_after)) + ".\n";
    }
    Table table{.columns = columns_of(k_period_fields), .rows = std::move(rows)};
    if (!with_settled_) drop_column(table, "settled");
    if (!with_rounding_) drop_column(table, "rounding");
    text += people_text(table) + '\n' + sentences + worth_text(part.worth);
    if (part.closes_period)
      text += "The period ends at " + part.end.utc() + ": standings start again from zero there.\n";
    return text + '\n';
  }

  // What each of the periods' rows adds up to.
  [[nodiscard]] std::string identity() const {
    return std::string("Before + Given - Got") + (with_settled_ ? " + Settled" : "") +
           (with_rounding_ ? std::string(" + ") + k_rounding : "") + " = After";
  }

  [[nodiscard]] std::string held() const {
    json rows = json::array();
    bool with_rounding = false;
    for (const ledger::AccountRow& row : report_.organizations) {
      if (!shows({row.got.work, row.own.work, row.borrowed.work, row.lent.work, row.waited.work})) continue;
      const Units rest = amounts_.left_over(own_and_borrowed(row));
      with_rounding = with_rounding || rest != 0;
      rows.push_back({{"name", row.name},
                      {"got", amounts_.text(row.got.work)},
                      {"own", amounts_.text(row.own.work)},
                      {"borrowed", amounts_.text(row.borrowed.work)},
                      {"rounding", amounts_.signed_text(rest)},
                      {"lent", amounts_.text(row.lent.work)},
                      {"waited", amounts_.text(row.waited.work)}});
    }
    return text_of(k_held_fields, std::move(rows), with_rounding);
  }

  // Empty, or with an empty line after it.
  [[nodiscard]] std::string pairs() const {
    json rows = json::array();
    std::set<std::pair<std::string, std::string>> taken;
    const auto take = [&](const std::string& owner, const std::string& borrower, CpuTime work) {
      if (!taken.emplace(owner, borrower).second || !shows({work})) return;
      rows.push_back({{"owner", owner}, {"borrower", borrower}, {"core_hours", amounts_.text(work)}});
    };
    const auto add_rest = [&](const std::string& owner, const std::string& borrower, Units rest) {
      if (rest == 0) return;
      rows.push_back({{"owner", owner}, {"borrower", borrower}, {"core_hours", amounts_.signed_text(rest)}});
    };
    const std::vector<PairsLeftOver> rests = pairs_left_over(report_, amounts_);
    for (std::size_t i = 0; i < rests.size(); ++i) {
      const ledger::AccountRow& row = report_.organizations[i];
      for (const ledger::LentPair& pair : row.lent_to) take(row.name, pair.organization, pair.work);
      add_rest(row.name, k_rounding, rests[i].lent);
    }
    for (std::size_t i = 0; i < rests.size(); ++i) {
      const ledger::AccountRow& row = report_.organizations[i];
      for (const ledger::LentPair& pair : row.borrowed_from) take(pair.organization, row.name, pair.work);
      add_rest(k_rounding, row.name, rests[i].borrowed);
    }
    return rows.empty() ? "" : text_of(k_pair_fields, std::move(rows), false) + '\n';
  }

  // Likewise.
  [[nodiscard]] std::string users() const {
    json rows = json::array();
    bool with_rounding = false;
    const auto add = [&](const std::string& organization, const json& account, const std::string& user,
                         const std::array<std::string, 3>& texts, Units rest) {
      with_rounding = with_rounding || rest != 0;
      rows.push_back({{"name", organization},
                      {"account", account},
                      {"user", user},
                      {"got", texts[0]},
                      {"own", texts[1]},
                      {"borrowed", texts[2]},
                      {"rounding", amounts_.signed_text(rest)}});
    };
    for (const ledger::AccountRow& row : report_.organizations) {
      std::vector<CpuTime> got;
      std::vector<CpuTime> own;
      std::vector<CpuTime> borrowed;
      for (const ledger::UserRow& user : row.users) {
        got.push_back(user.got.work);
        own.push_back(user.own.work);
        borrowed.push_back(user.borrowed.work);
        if (!shows({user.got.work, user.own.work, user.borrowed.work})) continue;
        add(row.name, json_of(user.account), user.user,
            {amounts_.text(user.got.work), amounts_.text(user.own.work), amounts_.text(user.borrowed.work)},
            amounts_.left_over(own_and_borrowed(user)));
      }
      const std::array<Units, 3> rests{amounts_.left_over(got), amounts_.left_over(own), amounts_.left_over(borrowed)};
      if (std::ranges::count(rests, Units{0}) == 3) continue;
      add(row.name, "", k_rounding,
          {amounts_.signed_text(rests[0]), amounts_.signed_text(rests[1]), amounts_.signed_text(rests[2])},
          rests[0] - rests[1] - rests[2]);
    }
    return rows.empty() ? "" : text_of(k_user_fields, std::move(rows), with_rounding) + '\n';
  }

 private:
  [[nodiscard]] ledger::SignedText words(CpuTime work) const {
    const Units units = amounts_.nearest(work);
    return {amounts_.text(units < 0 ? -units : units), units > 0 ? 1 : units < 0 ? -1 : 0};
  }
  // Whether a row with these amounts has anything but zeros as printed, or is shown nevertheless.
  [[nodiscard]] bool shows(std::initializer_list<CpuTime> amounts) const {
    return all_ || std::ranges::any_of(amounts, [this](CpuTime work) { return amounts_.nearest(work) != 0; });
  }

  const ledger::AccountReport& report_;
  bool all_;
  bool with_settled_;
  PaperAmounts amounts_;
  bool with_rounding_ = false;  // in the periods' tables
};

class ExactRows {
 public:
  explicit ExactRows(const ledger::AccountReport& report) : report_(report) {}

  json make() && {
    for (const ledger::PeriodPart& part : report_.periods) {
      begin_ = part.begin.utc();
      end_ = part.end.utc();
      add_part(part);
    }
    begin_ = report_.of.since.utc();
    end_ = report_.of.until.utc();
    for (const ledger::AccountRow& row : report_.organizations) add_whole(row);
    return std::move(rows_);
  }

 private:
  void add(const std::string& name, std::string_view item, double core_hours, const std::string& exact,
           const json& more) {
    json row{{"begin_utc", begin_},
             {"end_utc", end_},
             {"organization", name},
             {"item", item},
             {"contribution", report_.of.contribution},
             {"core_hours", core_hours},
             {"exact", exact},
             {"unit", "processor_seconds"}};
    row.update(more);
    rows_.push_back(std::move(row));
  }

  void add(const std::string& name, std::string_view item, const ledger::Amount& amount,
           const json& more = json::object()) {
    add(name, item, amount.core_hours(), format_micro(amount.work.value), more);
  }

  void add_utility(const std::string& name, std::string_view item, double core_hours, Utility exact,
                   json more = json::object()) {
    more.update({{"unit", "processor_seconds_squared"}});
    add(name, item, core_hours, format_micro(exact.value), more);
  }

  void add_part(const ledger::PeriodPart& part) {
    for (const ledger::PeriodRow& row : part.organizations) {
      const auto& [name, opening, got, given, settled, closing, sentence] = row;
      add_utility(name, "standing_before", opening.standing_core_hours, opening.phi_minus_psi);
      add(name, "difference_before", opening.difference);
      add(name, "given", given);
      add(name, "got", got);
      if (settled.work.value != 0) add(name, "settled", settled);
      add(name, "difference_after", closing.difference);
      add_utility(name, "standing_after", closing.standing_core_hours, closing.phi_minus_psi);
    }
    if (part.worth) add_worth(*part.worth);
  }

  void add_worth(const ledger::WorthReport& worth) {
    for (const ledger::WorthRow& row : worth.organizations) {
      add_utility(row.name, "psi", row.is.psi_core_hours, row.is.psi);
      add_utility(row.name, "alone", row.is.alone_core_hours, row.is.alone);
      if (const auto& bounds = row.is.bounds)
        add_utility(row.name, "alone_if_ended", bounds->end_now_core_hours, bounds->end_now);
    }
    for (const ledger::WorthPair& pair : worth.pairs) {
      const json other{{"other", pair.organizations.at(1)}};
      const std::string& name = pair.organizations.front();
      add_utility(name, "pair_psi", pair.is.psi_core_hours, pair.is.psi, other);
      add_utility(name, "pair_alone", pair.is.alone_core_hours, pair.is.alone, other);
    }
  }

  void add_whole(const ledger::AccountRow& row) {
    add(row.name, "own", row.own);
    add(row.name, "borrowed", row.borrowed);
    add(row.name, "lent", row.lent);
    add(row.name, "waited", row.waited);
    for (const ledger::LentPair& pair : row.lent_to)
      add(row.name, "lent_to", pair.amount(), {{"other", pair.organization}});
    for (const ledger::LentPair& pair : row.borrowed_from)
      add(row.name, "borrowed_from", pair.amount(), {{"other", pair.organization}});
    for (const ledger::UserRow& user : row.users) {
      const json who{{"account", json_of(user.account)}, {"user", user.user}};
      add(row.name, "user_own", user.own, who);
      add(row.name, "user_borrowed", user.borrowed, who);
    }
  }

  const ledger::AccountReport& report_;
  std::string begin_, end_;
  json rows_ = json::array();
};

// nullptr: the worth of cooperation is unknown for all periods.
const ledger::WorthReport* first_worth(const ledger::AccountReport& report) {
  for (const ledger::PeriodPart& part : report.periods) {
    if (part.worth && !part.worth->organizations.empty()) return &*part.worth;
  }
  return nullptr;
}

// The adjustments of the time, and the later ones, which an earlier statement could not name.
std::string corrections_text(const ledger::AccountReport& report) {
  std::vector<ledger::ListedAdjustment> then;
  std::vector<ledger::ListedAdjustment> later;
  for (const ledger::ListedAdjustment& adjustment : report.adjustments)
    (adjustment.later == true ? later : then).push_back(adjustment);
  std::string text;
  if (!then.empty()) text += "Corrections of the books made in that time:\n" + adjustment_lines(then) + '\n';
  if (!later.empty())
    text += "Corrections of the books made later that changed amounts of that time:\n" + adjustment_lines(later) + '\n';
  return text;
}

}  // namespace

void name_users(ledger::AccountReport& report) {
  for (ledger::AccountRow& row : report.organizations) {
    for (ledger::UserRow& user : row.users) {
      // A daemon's answer has the names of its own host, where the jobs come from.
      if (user.user_id && !user.user.empty()) continue;
      user.user = user.user_id ? user_name_of(*user.user_id) : "(others)";
    }
  }
}

void add_statement(CLI::App& app, StatementArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "statement", "Show the core-hours that each organization got, gave and lent in a month, by account and user");
  add_interval(*command, arguments.interval);
  add_month(*command, arguments.month);
  command
      ->add_option("--as-of", arguments.as_of,
                   "Show closed periods as they were known at their end (then), or as they are known today (now)")
      ->capture_default_str()
      ->check(CLI::IsMember({"then", "now"}))
      ->type_name("WHEN");
  command->add_flag("--all", arguments.all, "Show organizations, users and pairs without any amount, too");
  command
      ->add_option(
          "--consortium", arguments.consortium,
          "Show a consortium's members by cluster and in sum, from the ledgers of its clusters; the first one's "
          "names and weights count")
      ->excludes(command->get_option("--ledger"))
      ->type_name("LEDGER");
}

std::string render_statement(const ledger::AccountReport& report, bool all) {
  const Paper paper(report, all);
  std::string text = "Statement: " + report.of.since.utc() + " to " + report.of.until.utc() +
                     ", months and days in UTC; contribution " + printable(report.of.contribution) +
                     "; amounts in core-hours\n" + recorded_line(report.of);
  if (report.as_of.is_known()) text += "Closed periods by what was known at " + report.as_of.utc() + ".\n";
  text += '\n';
  for (const ledger::PeriodPart& part : report.periods) text += paper.part(part);
  text += paper.identity();
  text +=
      ": work given less work got since the period began, a sum. A standing is that\n"
      "difference on average over the period so far, as status shows it.\n\n";
  if (const ledger::WorthReport* limits = first_worth(report)) text += worth_limits(*limits) + '\n';
  text += paper.held() +
          "\nOwn: on its own processors. Waited: what its startable jobs asked for, times how long.\n\n" +
          paper.pairs() + paper.users();
  if (report.is_private) text += "What others used is private here (PrivateData in slurm.conf): (others).\n\n";
  text += corrections_text(report);
  return text + (report.exact
                     ? "Books:   exact: got = own + borrowed, given by direct_contr = own + lent, to the unit\n"
                     : "Books:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n");
}

Table exact_statement(const ledger::AccountReport& report) {
  return {.columns = columns_of(k_exact_statement_fields), .rows = ExactRows(report).make()};
}

Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  if (!arguments.consortium.empty()) return run_consortium_statement(arguments, environment);
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  const ledger::StatementRequest request{.as_of = arguments.as_of == "now" ? ledger::AsOf::now : ledger::AsOf::then};
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, interval_report(interval, endpoint, request));
  name_users(report);
  if (interval.json) {
    environment.out << tables::json_text(json_of(report));
  } else {
    environment.out << (interval.csv ? csv_text(exact_statement(report)) : render_statement(report, arguments.all));
  }
  return report.exact ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
