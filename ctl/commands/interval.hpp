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

// Lines with the begin of the books and the end of the ledger, if the report does not cover the whole requested time,
// and with an estimator that this version does not have, if the ranks were by it.
[[nodiscard]] std::string recorded_line(const ledger::IntervalHeading& heading);

}  // namespace shapley::ctl
