#include <algorithm>
#include <initializer_list>
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
#include "ctl/output/table.hpp"
#include "ctl/output/worth.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr Field k_period_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    {"before", "Before"},
    {"given", "Given"},
    {"got", "Got"},
    {"after", "After"},
    {"standing_before", "StandingBefore"},
    {"standing_after", "StandingAfter"},
};

constexpr Field k_settled_field{"settled", "Settled"};

bool has_settled(const ledger::AccountReport& report) {
  return std::ranges::any_of(report.organizations, [](const auto& row) { return row.settled.work.value != 0; });
}

// The columns of a period's table: what was settled only if anything was.
std::vector<Field> period_fields(bool with_settled) {
  std::vector<Field> fields(std::begin(k_period_fields), std::end(k_period_fields));
  if (with_settled) fields.insert(std::ranges::find(fields, "after", &Field::name), k_settled_field);
  return fields;
}

constexpr Field k_held_fields[] = {
    left({"organization", "Organization", {}, "name"}),
    {"got", "Got"},
    {"own", "Own"},
    {"borrowed", "Borrowed"},
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
};

constexpr Field k_csv_fields[] = {{"begin_utc"}, {"end_utc"}, {"organization"}, {"item"},  {"contribution"}, {"other"},
                                  {"account"},   {"user"},    {"core_hours"},   {"exact"}, {"unit"}};

// Whether any organization had an amount in the period.
std::string worth_text(const std::optional<ledger::WorthReport>& worth) {
  if (!worth || worth->organizations.empty()) return {};
  return "\nWhat cooperation was worth since " + worth->begin.utc() +
         ", utility in core-hours on average over that time:\n" + worth_tables(*worth);
}

// The tables and sentences of a statement for people.
class Paper {
 public:
  Paper(const ledger::AccountReport& report, bool all)
      : report_(report), all_(all), with_settled_(has_settled(report)), printed_(printed_statement(report)) {}

  [[nodiscard]] std::string part(std::size_t index) const {
    const ledger::PeriodPart& part = report_.periods[index];
    std::string text = part.begin.utc() + " to " + part.end.utc() + ", of the period since " + part.period_begin.utc();
    text += part.opens_period ? " (which begins here: before it every standing is zero)\n" : "\n";
    json rows = json::array();
    std::string sentences;
    for (std::size_t i = 0; i < part.organizations.size(); ++i) {
      const PrintedPeriodRow& row = printed_.parts[index][i];
      if (!shows({row.before, row.given, row.got, row.settled, row.after, row.standing_before, row.standing_after}))
        continue;
      const std::string& name = part.organizations[i].name;
      rows.push_back({{"name", name},
                      {"before", signed_amount(row.before)},
                      {"given", amount(row.given)},
                      {"got", amount(row.got)},
                      {"settled", signed_amount(row.settled)},
                      {"after", signed_amount(row.after)},
                      {"standing_before", signed_amount(row.standing_before)},
                      {"standing_after", signed_amount(row.standing_after)}});
      sentences +=
          printable(name) + ' ' + ledger::difference_sentence(words(row.after), words(row.standing_after)) + ".\n";
    }
    text += render_table(period_fields(with_settled_), rows) + '\n' + sentences + worth_text(part.worth);
    if (part.closes_period)
      text += "The period ends at " + part.end.utc() + ": standings start again from zero there.\n";
    return text + '\n';
  }

  // What each of the periods' rows adds up to.
  [[nodiscard]] const char* identity() const {
    return with_settled_ ? "Before + Given - Got + Settled = After" : "Before + Given - Got = After";
  }

  [[nodiscard]] std::string held() const {
    json rows = json::array();
    for (std::size_t i = 0; i < report_.organizations.size(); ++i) {
      const PrintedAccount& row = printed_.organizations[i];
      if (!shows({row.own, row.borrowed, row.lent, row.waited})) continue;
      rows.push_back({{"name", report_.organizations[i].name},
                      {"got", amount(row.got)},
                      {"own", amount(row.own)},
                      {"borrowed", amount(row.borrowed)},
                      {"lent", amount(row.lent)},
                      {"waited", amount(row.waited)}});
    }
    return render_table(k_held_fields, rows);
  }

  // Empty, or with an empty line after it.
  [[nodiscard]] std::string pairs() const {
    json rows = json::array();
    for (const PrintedPair& pair : printed_.pairs) {
      if (!shows({pair.lent})) continue;
      rows.push_back({{"owner", pair.owner}, {"borrower", pair.borrower}, {"core_hours", amount(pair.lent)}});
    }
    return rows.empty() ? "" : render_table(k_pair_fields, rows) + '\n';
  }
  [[nodiscard]] std::string users() const {
    json rows = json::array();
    for (std::size_t i = 0; i < report_.organizations.size(); ++i) {
      const ledger::AccountRow& row = report_.organizations[i];
      for (std::size_t k = 0; k < row.users.size(); ++k) {
        const PrintedUser& user = printed_.organizations[i].users[k];
        if (!shows({user.own, user.borrowed})) continue;
        rows.push_back({{"name", row.name},
                        {"account", json_of(row.users[k].account)},
                        {"user", row.users[k].user},
                        {"got", amount(user.got)},
                        {"own", amount(user.own)},
                        {"borrowed", amount(user.borrowed)}});
      }
    }
    return rows.empty() ? "" : render_table(k_user_fields, rows) + '\n';
  }

 private:
  // What hindsight took back of what was given earlier is below zero.
  [[nodiscard]] std::string amount(std::int64_t units) const {
    return (units < 0 ? "-" : "") + unit_text(units, printed_.decimals);
  }
  [[nodiscard]] std::string signed_amount(std::int64_t units) const {
    return signed_unit_text(units, printed_.decimals);
  }
  [[nodiscard]] ledger::SignedText words(std::int64_t units) const {
    return {unit_text(units, printed_.decimals), units > 0 ? 1 : units < 0 ? -1 : 0};
  }
  [[nodiscard]] bool shows(std::initializer_list<std::int64_t> amounts) const {
    return all_ || std::ranges::any_of(amounts, [](std::int64_t units) { return units != 0; });
  }

  const ledger::AccountReport& report_;
  bool all_;
  bool with_settled_;
  PrintedStatement printed_;
};

class CsvRows {
 public:
  explicit CsvRows(const ledger::AccountReport& report) : report_(report) {}

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
    for (ledger::UserRow& user : row.users) user.user = user.user_id ? user_name_of(*user.user_id) : "(others)";
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
  for (std::size_t i = 0; i < report.periods.size(); ++i) text += paper.part(i);
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

std::string statement_csv(const ledger::AccountReport& report) {
  return render_csv(k_csv_fields, CsvRows(report).make());
}

Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  if (!arguments.consortium.empty()) return run_consortium_statement(arguments, environment);
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  const bool as_of_now = arguments.as_of == "now";
  const ledger::StatementRequest request{.as_of = as_of_now ? ledger::AsOf::now : ledger::AsOf::then};
  const auto offline = [as_of_now](IntervalQuestion question) {
    question.as_of_now = as_of_now;
    return offline_statement(question);
  };
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report,
                     interval_report<ledger::AccountReport>(interval, endpoint, "statement", request, offline));
  name_users(report);
  if (interval.json) {
    environment.out << json_text(json_of(report));
  } else {
    environment.out << (interval.csv ? statement_csv(report) : render_statement(report, arguments.all));
  }
  return report.exact ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
