#include "ctl/commands/statement.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ctl/commands/adjust.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/csv.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/table.hpp"
#include "ctl/output/worth.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string signed_cell(const json& value) {
  return value.is_number() ? signed_core_hours(value.get<double>()) : std::string("?");
}

constexpr std::array k_period_fields{
    Field{.name = "organization", .member = "name", .title = "Organization", .meaning = {}, .align = Align::left},
    Field{.name = "before", .member = "before", .title = "Before", .meaning = {}, .people = signed_cell},
    Field{.name = "given", .member = "given", .title = "Given", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "got", .member = "got", .title = "Got", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "after", .member = "after", .title = "After", .meaning = {}, .people = signed_cell},
    Field{.name = "standing_before",
          .member = "standing_before",
          .title = "StandingBefore",
          .meaning = {},
          .people = signed_cell},
    Field{.name = "standing_after",
          .member = "standing_after",
          .title = "StandingAfter",
          .meaning = {},
          .people = signed_cell},
};

constexpr std::array k_held_fields{
    Field{.name = "organization", .member = "name", .title = "Organization", .meaning = {}, .align = Align::left},
    Field{.name = "got", .member = "got", .title = "Got", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "own", .member = "own", .title = "Own", .meaning = {}, .people = core_hours_or_unknown},
    Field{
        .name = "borrowed", .member = "borrowed", .title = "Borrowed", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "lent", .member = "lent", .title = "Lent", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "waited", .member = "waited", .title = "Waited", .meaning = {}, .people = core_hours_or_unknown},
};

constexpr std::array k_pair_fields{
    Field{.name = "owner", .member = "owner", .title = "Lent by", .meaning = {}, .align = Align::left},
    Field{.name = "borrower", .member = "borrower", .title = "Borrowed by", .meaning = {}, .align = Align::left},
    Field{.name = "core_hours",
          .member = "core_hours",
          .title = "CoreHours",
          .meaning = {},
          .people = core_hours_or_unknown},
};

constexpr std::array k_user_fields{
    Field{.name = "organization", .member = "name", .title = "Organization", .meaning = {}, .align = Align::left},
    Field{.name = "account", .member = "account", .title = "Account", .meaning = {}, .align = Align::left},
    Field{.name = "user", .member = "user", .title = "User", .meaning = {}, .align = Align::left},
    Field{.name = "got", .member = "got", .title = "Got", .meaning = {}, .people = core_hours_or_unknown},
    Field{.name = "own", .member = "own", .title = "Own", .meaning = {}, .people = core_hours_or_unknown},
    Field{
        .name = "borrowed", .member = "borrowed", .title = "Borrowed", .meaning = {}, .people = core_hours_or_unknown},
};

constexpr std::array k_csv_fields{
    Field{.name = "begin_utc", .member = "begin_utc", .title = {}, .meaning = {}},
    Field{.name = "end_utc", .member = "end_utc", .title = {}, .meaning = {}},
    Field{.name = "organization", .member = "organization", .title = {}, .meaning = {}},
    Field{.name = "item", .member = "item", .title = {}, .meaning = {}},
    Field{.name = "contribution", .member = "contribution", .title = {}, .meaning = {}},
    Field{.name = "other", .member = "other", .title = {}, .meaning = {}},
    Field{.name = "account", .member = "account", .title = {}, .meaning = {}},
    Field{.name = "user", .member = "user", .title = {}, .meaning = {}},
    Field{.name = "core_hours", .member = "core_hours", .title = {}, .meaning = {}},
    Field{.name = "exact", .member = "exact", .title = {}, .meaning = {}},
    Field{.name = "unit", .member = "unit", .title = {}, .meaning = {}},
};

std::string table(std::span<const Field> fields, const json& rows) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back({.field = &field, .width = 0, .align = field.align});
  return render_table(columns, rows, {});
}

// The members of `row` that are amounts, as numbers of core-hours.
json core_hours_of(const json& row, std::initializer_list<const char*> members) {
  json hours{{"name", row["name"]}};
  for (const char* member : members) hours[member] = row[member]["core_hours"];
  return hours;
}

// Of a period in which somebody had something.
std::string worth_text(const json& worth) {
  if (worth.is_null() || worth["organizations"].empty()) return {};
  return "\nWhat cooperation was worth since " + member_text(worth, "begin_utc") +
         ", utility in core-hours on average over that time:\n" + worth_tables(worth);
}

std::string period_text(const json& part) {
  std::string text = member_text(part, "begin_utc") + " to " + member_text(part, "end_utc") + ", of the period since " +
                     member_text(part, "period_begin_utc");
  text += part["opens_period"] == true ? " (which begins here: before it everybody stands at zero)\n" : "\n";
  json rows = json::array();
  std::string sentences;
  for (const json& organization : part["organizations"]) {
    json row = core_hours_of(organization, {"got", "given"});
    row["before"] = organization["opening"]["difference"]["core_hours"];
    row["after"] = organization["closing"]["difference"]["core_hours"];
    row["standing_before"] = organization["opening"]["standing_core_hours"];
    row["standing_after"] = organization["closing"]["standing_core_hours"];
    rows.push_back(std::move(row));
    sentences += member_text(organization, "name") + ' ' + member_text(organization, "sentence") + ".\n";
  }
  text += table(k_period_fields, rows) + '\n' + sentences + worth_text(part["worth"]);
  if (part["closes_period"] == true) {
    text += "The period ends at " + member_text(part, "end_utc") + ": standings start again from zero there.\n";
  }
  return text + '\n';
}

json pairs_of(const json& report) {
  json pairs = json::array();
  // With -O one side of a pair may not be among the rows; each is listed once.
  for (const json& row : report["organizations"]) {
    for (const json& pair : row["lent_to"]) {
      pairs.push_back({{"owner", row["name"]}, {"borrower", pair["organization"]}, {"core_hours", pair["core_hours"]}});
    }
  }
  for (const json& row : report["organizations"]) {
    for (const json& pair : row["borrowed_from"]) {
      const bool listed = std::ranges::any_of(
          pairs, [&](const json& p) { return p["owner"] == pair["organization"] && p["borrower"] == row["name"]; });
      if (listed) continue;
      pairs.push_back({{"owner", pair["organization"]}, {"borrower", row["name"]}, {"core_hours", pair["core_hours"]}});
    }
  }
  return pairs;
}

json users_of(const json& report) {
  json users = json::array();
  for (const json& row : report["organizations"]) {
    for (const json& user : row["users"]) {
      users.push_back({{"name", row["name"]},
                       {"account", user["account"]},
                       {"user", user["user"]},
                       {"got", user["got"]["core_hours"]},
                       {"own", user["own"]["core_hours"]},
                       {"borrowed", user["borrowed"]["core_hours"]}});
    }
  }
  return users;
}

class CsvRows {
 public:
  explicit CsvRows(const json& report) : report_(report) {}

  json make() && {
    for (const json& part : report_["periods"]) add_part(part);
    for (const json& row : report_["organizations"]) add_whole(row);
    return std::move(rows_);
  }

 private:
  void add(const json& of, const json& name, std::string_view item, const json& amount, const json& more = {}) {
    json row{{"begin_utc", of.value("begin_utc", report_["since_utc"])},
             {"end_utc", of.value("end_utc", report_["until_utc"])},
             {"organization", name},
             {"item", item},
             {"contribution", report_["contribution"]},
             {"core_hours", amount["core_hours"]},
             {"exact", amount["processor_seconds"]},
             {"unit", "processor_seconds"}};
    if (more.is_object()) row.update(more);
    rows_.push_back(std::move(row));
  }

  void add_standing(const json& part, const json& name, std::string_view item, const json& books) {
    add(part, name, item, {{"core_hours", books["standing_core_hours"]}, {"processor_seconds", books["phi_minus_psi"]}},
        {{"unit", "processor_seconds_squared"}});
  }

  void add_part(const json& part) {
    for (const json& row : part["organizations"]) {
      const json& name = row["name"];
      add_standing(part, name, "standing_before", row["opening"]);
      add(part, name, "difference_before", row["opening"]["difference"]);
      add(part, name, "given", row["given"]);
      add(part, name, "got", row["got"]);
      add(part, name, "difference_after", row["closing"]["difference"]);
      add_standing(part, name, "standing_after", row["closing"]);
    }
    if (!part["worth"].is_null()) add_worth(part, part["worth"]);
  }

  void add_utility(const json& part, const json& name, std::string_view item, const json& of, const char* member,
                   json more = json::object()) {
    more["unit"] = "processor_seconds_squared";
    add(part, name, item, {{"core_hours", of[member + std::string("_core_hours")]}, {"processor_seconds", of[member]}},
        more);
  }

  void add_worth(const json& part, const json& worth) {
    for (const json& row : worth["organizations"]) {
      add_utility(part, row["name"], "psi", row, "psi");
      add_utility(part, row["name"], "alone", row, "alone");
      if (!row["bounds"].is_null()) add_utility(part, row["name"], "alone_if_ended", row["bounds"], "end_now");
    }
    for (const json& pair : worth["pairs"]) {
      const json other{{"other", pair["organizations"][1]}};
      add_utility(part, pair["organizations"][0], "pair_psi", pair, "psi", other);
      add_utility(part, pair["organizations"][0], "pair_alone", pair, "alone", other);
    }
  }

  void add_whole(const json& row) {
    const json whole = json::object();
    for (const char* item : {"own", "borrowed", "lent", "waited"}) add(whole, row["name"], item, row[item]);
    for (const json& pair : row["lent_to"]) {
      add(whole, row["name"], "lent_to", pair, {{"other", pair["organization"]}});
    }
    for (const json& pair : row["borrowed_from"]) {
      add(whole, row["name"], "borrowed_from", pair, {{"other", pair["organization"]}});
    }
    for (const json& user : row["users"]) {
      const json who{{"account", user["account"]}, {"user", user["user"]}};
      add(whole, row["name"], "user_own", user["own"], who);
      add(whole, row["name"], "user_borrowed", user["borrowed"], who);
    }
  }

  const json& report_;
  json rows_ = json::array();
};

}  // namespace

void add_statement(CLI::App& app, StatementArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "statement", "Of a month: what every organization got, gave, lent to whom, and which accounts and users got it");
  add_interval(*command, arguments.interval);
  add_month(*command, arguments.month);
  command
      ->add_option("--as-of", arguments.as_of,
                   "Closed periods by what was known at their end (then), or by what is known today (now)")
      ->capture_default_str()
      ->check(CLI::IsMember({"then", "now"}))
      ->type_name("WHEN");
}

namespace {

// nullptr: of no period it could be said what cooperation was worth.
const json* first_worth(const json& report) {
  for (const json& part : report["periods"]) {
    if (!part["worth"].is_null() && !part["worth"]["organizations"].empty()) return &part["worth"];
  }
  return nullptr;
}

// Those of the time, and what a statement of before did not say.
std::string corrections_text(const json& report) {
  json then = json::array();
  json later = json::array();
  for (const json& adjustment : report["adjustments"])
    (adjustment["later"] == true ? later : then).push_back(adjustment);
  std::string text;
  if (!then.empty()) text += "Corrections of the books made in that time:\n" + adjustment_lines(then) + '\n';
  if (!later.empty())
    text += "Corrections of the books made later that changed amounts of that time:\n" + adjustment_lines(later) + '\n';
  return text;
}

}  // namespace

namespace {

std::string as_of_line(const json& report) {
  const std::string at = member_text(report, "as_of_utc");
  return at.empty() ? "" : "Closed periods by what was known at " + at + ".\n";
}

}  // namespace

std::string render_statement(const json& report) {
  std::string text = "Statement: " + member_text(report, "since_utc") + " to " + member_text(report, "until_utc") +
                     ", months and days in UTC; contribution " + member_text(report, "contribution") +
                     "; amounts in core-hours\n" + recorded_line(report) + as_of_line(report) + '\n';
  for (const json& part : report["periods"]) text += period_text(part);
  text +=
      "Before + Given - Got = After: work given less work got since the period began, a sum. A standing is that\n"
      "difference on average over the period so far, as status shows it.\n\n";
  if (const json* limits = first_worth(report)) text += worth_limits(*limits) + '\n';
  json rows = json::array();
  for (const json& row : report["organizations"]) {
    rows.push_back(core_hours_of(row, {"got", "own", "borrowed", "lent", "waited"}));
  }
  text += table(k_held_fields, rows) +
          "\nOwn: on its own processors. Waited: what its startable jobs asked for, times how long.\n\n";
  if (const json pairs = pairs_of(report); !pairs.empty()) text += table(k_pair_fields, pairs) + '\n';
  if (const json users = users_of(report); !users.empty()) text += table(k_user_fields, users) + '\n';
  if (report.value("private", false))
    text += "What others used is private here (PrivateData in slurm.conf): (others).\n\n";
  text += corrections_text(report);
  return text + (report["exact"] == true
                     ? "Books:   exact: got = own + borrowed, given by direct_contr = own + lent, to the unit\n"
                     : "Books:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n");
}

std::string statement_csv(const json& report) {
  return render_csv(k_csv_fields, CsvRows(report).make());
}

namespace {

// Those who are private to the asker have neither account nor number, and are one.
void name_user(json& user) {
  const bool is_hidden = user["user_id"].is_null();
  user["user"] = is_hidden ? json("(others)") : json(user_name_of(user["user_id"].get<std::uint32_t>()));
}

}  // namespace

Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                 const Environment& environment) {
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  json request{{"request", "statement"}};
  const bool as_of_now = arguments.as_of == "now";
  if (as_of_now) request["as_of"] = "now";
  const auto offline = [as_of_now](IntervalQuestion question) {
    question.as_of_now = as_of_now;
    return offline_statement(question);
  };
  SHAPLEY_TRY_ASSIGN(json report, interval_report(interval, endpoint, std::move(request), offline));
  for (json& row : report["organizations"]) {
    for (json& user : row["users"]) name_user(user);
  }
  if (interval.json) {
    environment.out << json_text(report);
  } else {
    environment.out << (interval.csv ? statement_csv(report) : render_statement(report));
  }
  return report["exact"] == true ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
