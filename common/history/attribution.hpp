// Whose a past job was: the configuration's rules applied to a row of sacct.
//
// Rules name users and groups by name or number, and so do exports. A name has the number that the export itself tells
// beside it, else this machine's, else one of its own, so that a name in a rule still matches the same name in a row.
// Accounts above a job's own are known from `parents` only (sacct does not tell them).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/configuration.hpp"
#include "history/sacct_rows.hpp"
#include "protocol/classifier.hpp"

namespace shapley::history {

// An account's parent, by the account's name in lower case.
using AccountParents = std::map<std::string, std::string, std::less<>>;

// Lines "ACCOUNT|PARENT", as `sacctmgr -nP list associations format=Account,ParentName` prints them; lines without a
// parent are users'. Errc::invalid_argument names the line.
[[nodiscard]] Expected<AccountParents> read_account_parents(std::istream& text);

class Attribution {
 public:
  Attribution(const config::Configuration& configuration, const std::vector<SacctRow>& rows,
              AccountParents parents = {});

  // Empty: no rule matches (guests). Lives as long as the attribution.
  [[nodiscard]] std::string_view organization_of(const SacctRow& row) const;

  [[nodiscard]] const protocol::Classifier& classifier() const { return classifier_; }
  // What the classifier knows a row's user, group and accounts above by.
  [[nodiscard]] std::uint32_t user_of(const SacctRow& row) const;
  [[nodiscard]] std::uint32_t group_of(const SacctRow& row) const;
  [[nodiscard]] std::vector<std::string> ancestors_of(std::string_view account) const;

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

  Numbers users_, groups_;  // of all names in rules and rows
  AccountParents parents_;
  protocol::Classifier classifier_;
};

}  // namespace shapley::history
