// The options that `statement` and `history` share: time, organizations and ledger.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/offline.hpp"
#include "reports/requests.hpp"
#include "tables/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct IntervalArguments {
  std::string since;
  std::string until;
  std::string ledger;    // empty: the daemon is asked
  std::string archives;  // empty: beside the ledger
  std::string contribution;
  std::string known_until;  // `ledger` is complete up to this instant; empty: up to its last record
  std::vector<std::string> organizations;
  bool csv = false;
  bool json = false;
};

// Adds the options, except --csv and --json.
void add_time_and_ledger(CLI::App& command, IntervalArguments& arguments);
void add_interval(CLI::App& command, IntervalArguments& arguments);
// Adds --month, as an alternative to --since and --until, which must have been added before.
void add_month(CLI::App& command, std::string& month);
// Sets --since and --until to the month, such as "2026-11"; does nothing if it is empty.
[[nodiscard]] Expected<void> take_month(const std::string& month, IntervalArguments& arguments);

// The ledger's file that is asked, none for the daemon, and the part of the request that both commands share.
struct IntervalQuestion {
  answers::LedgerFile file;
  ledger::IntervalRequest of;
};
[[nodiscard]] Expected<IntervalQuestion> interval_question(const IntervalArguments& arguments);

template <typename Request>
[[nodiscard]] Expected<typename Request::Report> interval_report(const IntervalArguments& arguments,
                                                                 const Endpoint& endpoint, Request request) {
  SHAPLEY_TRY_ASSIGN(IntervalQuestion question, interval_question(arguments));
  request.of = std::move(question.of);
  return answer_to(request, question.file, endpoint);
}

// "" if the report covers the whole requested time, else lines with the begin of the books and the end of the ledger.
[[nodiscard]] std::string recorded_line(const ledger::IntervalHeading& heading);

// `shapleyctl statement`: what every organization got and gave in a month or another interval, which
// organization lent to which, and which accounts and users used them.

struct StatementArguments {
  IntervalArguments interval;
  std::string month;           // "2026-11"
  std::string as_of = "then";  // or "now"
  // Ledgers of the clusters of one consortium; by the first of them clusters are weighed and organizations named.
  std::vector<std::string> consortium = {};
  bool all = false;  // rows without any amount, too
};

void add_statement(CLI::App& app, StatementArguments& arguments);

// Sets the name of each user who has none yet, by this host. Users that the asker may not see have neither account nor
// number, and are one row.
void name_users(ledger::AccountReport& report);

[[nodiscard]] Expected<ExitCode> run_statement(const StatementArguments& arguments, const Endpoint& endpoint,
                                               const Environment& environment);

// The text for people, and the exact amounts, of a report whose users have names. `all`: with the rows whose amounts
// are all zero as they are printed.
[[nodiscard]] std::string render_statement(const ledger::AccountReport& report, bool all = false);
[[nodiscard]] tables::Table exact_statement(const ledger::AccountReport& report);

}  // namespace shapley::ctl
