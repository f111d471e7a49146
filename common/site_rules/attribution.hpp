// The organization of a past job: the configuration's rules applied to a row of sacct, or to a job of the ledger.
//
// Rules name users and groups by name or number, and so do exports. The number of a name is the one that the export
// itself lists with it, else this machine's, else a made-up one, so that a name in a rule still matches the same name
// in a row. Accounts above a job's own are known from `parents` only (sacct does not list them).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/configuration.hpp"
#include "ledger/reports/explain_report.hpp"
#include "protocol/classifier.hpp"
#include "sacct/sacct_rows.hpp"

namespace shapley::site_rules {

// Of a user or group whose number is not known.
inline constexpr std::uint32_t k_unknown_number = 0xffff'ffffU;

// An account's parent, by the account's name in lower case.
using AccountParents = std::map<std::string, std::string, std::less<>>;

// Lines "ACCOUNT|PARENT", as `sacctmgr -nP list associations cluster=NAME format=Account,ParentName` prints them; lines
// without a parent are users'. Errc::invalid_argument names the line: it has another form, or another parent of an
// account than a line before, which is of another cluster then.
[[nodiscard]] Expected<AccountParents> read_account_parents(std::istream& text);

// The account's parent, that one's parent and so on; 64 at most.
[[nodiscard]] std::vector<std::string> accounts_above(const AccountParents& parents, std::string_view account);

class Attribution {
 public:
  // `users`, `groups`: those of all rows (sacct::SacctExport).
  Attribution(const config::Configuration& configuration, const sacct::NamedNumbers& users,
              const sacct::NamedNumbers& groups, AccountParents parents = {});

  // Empty: no rule matches (guests). Lives as long as the attribution.
  [[nodiscard]] std::string_view organization_of(const sacct::SacctRow& row) const;

  [[nodiscard]] const protocol::Classifier& classifier() const { return classifier_; }
  // The numbers by which the classifier identifies a row's user, group and the accounts above.
  [[nodiscard]] std::uint32_t user_of(const sacct::SacctRow& row) const;
  [[nodiscard]] std::uint32_t group_of(const sacct::SacctRow& row) const;
  [[nodiscard]] std::vector<std::string> ancestors_of(std::string_view account) const {
    return accounts_above(parents_, account);
  }

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

  Numbers users_, groups_;  // of all names in rules and rows
  AccountParents parents_;
  protocol::Classifier classifier_;
};

// The rule by which a job of the ledger belongs to its organization, in the form of `explain`.
[[nodiscard]] ledger::RuleMatched rule_matched(const protocol::Rule& rule, std::string_view through);

// The rule that matches; without the accounts above the job's own, which the ledger does not keep.
[[nodiscard]] std::optional<ledger::RuleMatched> rule_of(const protocol::Classifier& classifier,
                                                         const ledger::JobIdentity& job);
[[nodiscard]] std::optional<ledger::RuleMatched> rule_of(const protocol::Classifier& classifier,
                                                         const ledger::SubmissionAsked& job);

// The rule in a configuration's text (ledger::RuleIn). A text that only an older release accepted has no rules.
[[nodiscard]] ledger::RuleFound rule_in(const std::string& configuration, const ledger::JobIdentity& job);
[[nodiscard]] std::optional<ledger::RuleMatched> rule_for(const std::string& configuration,
                                                          const ledger::SubmissionAsked& job);

}  // namespace shapley::site_rules
