// All that the page of `shapleyctl report` is made of: reports of ledger/reports/statement.hpp, and the books' proof.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ctl/commands/examine.hpp"
#include "ledger/chain/signed_head.hpp"
#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

enum class SignatureState { unchecked, good, bad };

struct Proof {
  std::optional<Examined> audit;
  std::string no_audit;  // why there is none
  std::optional<ledger::SignedHead> head;
  std::string no_head;  // why there is none
  SignatureState signature = SignatureState::unchecked;
  std::string signature_fault;  // of a bad one

  // Nothing was found that does not hold; what was not looked at is no fault.
  [[nodiscard]] bool clean() const;
};

struct SiteReport {
  std::string heading;
  nlohmann::json statement;  // ledger::statement_report, with the members that interval_report adds
  nlohmann::json history;    // ledger::history_report of the same time, at intervals that a chart can show
  ledger::Interval rows_by = ledger::Interval::day;  // of these the table has those at which such an interval ends
  nlohmann::json months;                             // the same by month
  std::map<std::string, std::string> titles;
  Proof proof;

  // The sums over all parts of all runs are the books'.
  [[nodiscard]] bool exact() const;
};

}  // namespace shapley::ctl
