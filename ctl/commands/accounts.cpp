#include "ctl/commands/accounts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "ctl/offline.hpp"
#include "ctl/slurm/submission.hpp"
#include "ledger/readers/declarations.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr Field k_account_fields[] = {
    left({"organization", "Organization"}),
    left({"account", "Account"}),
    left({"above", "Above"}),
    {"got", "Got"},
    {"own", "Own"},
    {"borrowed", "Borrowed"},
    {"rounding", k_rounding},
};
constexpr AmountField k_account_amounts[] = {{"got"}, {"own"}, {"borrowed"}, {"rounding", true}};

constexpr const char* k_itself = "(itself)";

struct AccountWorks {
  CpuTime own = {}, borrowed = {};
};
SHAPLEY_DESCRIBE(AccountWorks, own, borrowed);

// Users that the asker may not see have no account, and jobs may have an empty one.
std::string account_of(const ledger::UserRow& user) {
  const std::string account = user.account.value_or("(others)");
  return account.empty() ? "(none)" : account;
}

constexpr std::size_t k_deepest = 1000;

// Whether more accounts than that are below each other; each of those that lead back to themselves counts once.
bool is_too_deep(const site_rules::AccountParents& parents) {
  return std::ranges::any_of(parents, [&parents](const auto& entry) {
    std::set<std::string_view> passed;
    for (auto at = parents.find(entry.first); at != parents.end() && passed.insert(at->first).second;
         at = parents.find(at->second)) {
      if (passed.size() > k_deepest) return true;
    }
    return false;
  });
}

// The accounts of an organization's users, and those above them except root.
class AccountTree {
 public:
  AccountTree(const UsersOf& users, const site_rules::AccountParents& parents) : users_(users), parents_(parents) {
    for (const ledger::UserRow& user : users.users) {
      const std::string account = account_of(user);
      place(account);
      const AccountWorks works{user.own.work, user.borrowed.work};
      itself_[account] += works;
      for (std::string at = account; !at.empty(); at = above_[at]) all_[at] += works;
    }
    for (const auto& [account, above] : above_) below_[above].insert(account);
  }

  void add_to(std::vector<AccountSubtotal>& rows, const std::string& above = "") {
    for (const std::string& account : below_[above]) {
      const AccountWorks& all = all_[account];
      const AccountWorks& itself = itself_[account];
      rows.push_back({.organization = users_.organization,
                      .account = account,
                      .above = above,
                      .own = {all.own},
                      .borrowed = {all.borrowed},
                      .itself_own = {itself.own},
                      .itself_borrowed = {itself.borrowed}});
      add_to(rows, account);
    }
  }

 private:
  void place(const std::string& account) {
    if (!above_.try_emplace(account).second) return;
    const auto parent = parents_.find(lower(account));
    if (parent == parents_.end() || parent->second.empty() || parent->second == "root") return;
    place(parent->second);
    // A tree that leads back to the account is no tree.
    for (std::string at = parent->second; !at.empty(); at = above_[at]) {
      if (at == account) return;
    }
    above_[account] = parent->second;
  }

  const UsersOf& users_;
  const site_rules::AccountParents& parents_;
  std::map<std::string, std::string> above_;  // by account; "": none
  std::map<std::string, std::set<std::string>> below_;
  std::map<std::string, AccountWorks> all_, itself_;
};

Expected<std::string> cluster_of(const std::filesystem::path& ledger) {
  if (ledger.empty()) return std::string();
  return answers::from_ledger(ledger, [](const ledger::Ledger& books) { return ledger::cluster_name(books); });
}

class AccountLines {
 public:
  AccountLines(const std::vector<AccountSubtotal>& accounts, const PaperAmounts& amounts)
      : accounts_(accounts), amounts_(amounts), rows_(amounts, k_account_amounts) {}

  // Of one organization.
  void add(const std::string& organization) {
    organization_ = organization;
    AccountWorks sum;
    for (const AccountSubtotal* account : below("")) sum += AccountWorks{account->own.work, account->borrowed.work};
    all_ += sum;
    if (line_of(sum) == std::array<Units, 4>{}) return;
    add_below("", sum);
    const auto line = line_of(sum);
    rows_.note(words(k_sum, ""), line);
    printed_.add(line);
    ++organizations_;
  }

  // With the sum of all organizations.
  AmountRows finish() && {
    if (organizations_ < 2) return std::move(rows_);
    organization_ = k_rounding;
    rows_.note_rest(words("", ""), printed_.rest(line_of(all_)));
    organization_ = k_sum;
    rows_.note(words("", ""), line_of(all_));
    return std::move(rows_);
  }

 private:
  [[nodiscard]] std::vector<const AccountSubtotal*> below(const std::string& above) const {
    std::vector<const AccountSubtotal*> found;
    for (const AccountSubtotal& account : accounts_) {
      if (account.organization == organization_ && account.above == above) found.push_back(&account);
    }
    return found;
  }

  // The lines below an account, and what they lack to `sum`.
  void add_below(const std::string& above, const AccountWorks& sum, const AccountWorks& itself = {}) {
    ColumnSums printed;
    const auto add = [&](const std::string& account, const AccountWorks& works) {
      const auto line = line_of(works);
      printed.add(line);
      if (line != std::array<Units, 4>{}) rows_.note(words(account, above), line);
    };
    add(k_itself, itself);
    for (const AccountSubtotal* account : below(above)) {
      const AccountWorks works{account->own.work, account->borrowed.work};
      add(account->account, works);
      if (!below(account->account).empty())
        add_below(account->account, works, {account->itself_own.work, account->itself_borrowed.work});
    }
    rows_.note_rest(words(k_rounding, above), printed.rest(line_of(sum)));
  }

  [[nodiscard]] std::array<Units, 4> line_of(const AccountWorks& works) const {
    return {amounts_.nearest(works.own + works.borrowed), amounts_.nearest(works.own), amounts_.nearest(works.borrowed),
            amounts_.left_over(std::array{works.own, works.borrowed})};
  }
  [[nodiscard]] json words(const std::string& account, const std::string& above) const {
    return {{"organization", organization_}, {"account", account}, {"above", above}};
  }

  const std::vector<AccountSubtotal>& accounts_;
  const PaperAmounts& amounts_;
  AmountRows rows_;
  std::string organization_;
  ColumnSums printed_;
  AccountWorks all_;
  std::size_t organizations_ = 0;
};

}  // namespace

std::vector<UsersOf> users_of(const ledger::AccountReport& report) {
  std::vector<UsersOf> users;
  for (const ledger::AccountRow& row : report.organizations) users.push_back({row.name, row.users});
  return users;
}

std::vector<AccountSubtotal> account_subtotals(const std::vector<UsersOf>& users,
                                               const site_rules::AccountParents& parents) {
  std::vector<AccountSubtotal> rows;
  for (const UsersOf& each : users) AccountTree(each, parents).add_to(rows);
  return rows;
}

Table accounts_table(const std::vector<AccountSubtotal>& accounts, const PaperAmounts& amounts) {
  AccountLines lines(accounts, amounts);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    if (i == 0 || accounts[i - 1].organization != accounts[i].organization) lines.add(accounts[i].organization);
  }
  Table table{.name = "Accounts of each organization", .columns = columns_of(k_account_fields)};
  AmountRows rows = std::move(lines).finish();
  if (!rows.has("rounding")) drop_column(table, "rounding");
  table.rows = std::move(rows).take();
  return table;
}

json exact_accounts(const std::vector<AccountSubtotal>& accounts, const ledger::IntervalHeading& of) {
  json rows = json::array();
  for (const AccountSubtotal& account : accounts) {
    for (const auto& [item, amount] :
         {std::pair("account_own", account.own), std::pair("account_borrowed", account.borrowed)}) {
      rows.push_back({{"begin_utc", of.since.utc()},
                      {"end_utc", of.until.utc()},
                      {"organization", account.organization},
                      {"item", item},
                      {"contribution", of.contribution},
                      {"other", account.above},
                      {"account", account.account},
                      {"core_hours", amount.core_hours()},
                      {"exact", format_micro(amount.work.value)},
                      {"unit", "processor_seconds"}});
    }
  }
  return rows;
}

void add_accounts_option(CLI::App& command, AccountsAsked& accounts) {
  const auto take = [&accounts](const std::string& file) { accounts = {.is_asked = true, .file = file}; };
  command
      .add_option_function<std::string>(
          "--accounts", take,
          "Show subtotals by the tree of accounts, which Slurm is asked for, or in this output of sacctmgr -nP list "
          "associations cluster=NAME format=Account,ParentName")
      ->expected(0, 1)
      ->type_name("[FILE]");
}

Expected<std::vector<AccountSubtotal>> subtotals_by(const AccountsAsked& asked, const std::filesystem::path& ledger,
                                                    const std::vector<UsersOf>& users, const ProgramRunner& run) {
  if (!asked.is_asked) return std::vector<AccountSubtotal>{};
  const auto read = [&]() -> Expected<site_rules::AccountParents> {
    if (asked.file.empty()) {
      SHAPLEY_TRY_ASSIGN(std::string cluster, cluster_of(ledger));
      return account_parents(std::move(cluster), run);
    }
    auto opened = InputFile::open(asked.file);
    if (!opened) return tl::unexpected(std::move(opened).error());
    auto parents = site_rules::read_account_parents(*opened);
    if (!parents) return with_context(asked.file, std::move(parents).error());
    return parents;
  };
  const auto parents = read();
  if (!parents) return with_context("--accounts", parents.error());
  if (is_too_deep(*parents)) {
    return fail(Errc::invalid_argument, fmt::format("--accounts: {}the tree is more than {} accounts deep",
                                                    asked.file.empty() ? "" : asked.file + ": ", k_deepest));
  }
  return account_subtotals(users, *parents);
}

}  // namespace shapley::ctl
