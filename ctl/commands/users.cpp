#include "ctl/commands/users.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <tuple>

#include <nlohmann/json.hpp>

#include "ctl/output/paper.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using ledger::AccountReport;
using ledger::AccountRow;
using ledger::UserRow;
using nlohmann::json;

constexpr const char* k_all_users = "(all)";
constexpr std::int64_t k_all_parts = 1000;  // tenths of a per cent

constexpr Field k_people_fields[] = {
    left({"organization", "Organization"}),
    left({"account", "Account"}),
    left({"user", "User"}),
    {"got", "Got"},
    {"part", "Part%"},
    {"fair_share", "FairShare"},
    {"order", "Order"},
};

constexpr Field k_exact_fields[] = {
    {"organization"}, {"account"}, {"user"}, {"got"}, {"got_seconds"}, {"part"}, {"fair_share"}, {"order"},
};

constexpr Field k_csv_columns[] = {
    {"since_utc"}, {"until_utc"}, {"organization"}, {"account"}, {"user"}, {"core_hours"}, {"processor_seconds"},
};

// nullopt: the organization got nothing.
std::optional<double> part_of(const UserRow& user, const AccountRow& row) {
  if (row.got.work.value <= 0) return std::nullopt;
  return static_cast<double>(user.got.work.value) / static_cast<double>(row.got.work.value);
}

// An organization's lines, in units of the last decimal and of a tenth of a per cent.
struct PrintedUsers {
  std::int64_t got = 0;
  std::vector<std::int64_t> users = {};
  std::vector<std::int64_t> parts = {};

  // Whether a user's line has anything but zeros; whether any line has.
  [[nodiscard]] bool has(std::size_t user) const { return users[user] != 0 || parts[user] != 0; }
  [[nodiscard]] bool has_any() const {
    const auto is_some = [](std::int64_t amount) { return amount != 0; };
    return std::ranges::any_of(users, is_some) || std::ranges::any_of(parts, is_some);
  }
};

PrintedUsers printed_of(const PrintedAccount& printed, const AccountRow& row) {
  PrintedUsers lines{.got = printed.got};
  std::vector<double> parts;
  for (std::size_t i = 0; i < row.users.size(); ++i) {
    lines.users.push_back(printed.users[i].got);
    parts.push_back(part_of(row.users[i], row).value_or(0) * k_all_parts);
  }
  lines.parts = apportioned(parts, row.got.work.value > 0 ? k_all_parts : 0);
  return lines;
}

std::optional<double> factor_of(const UserRow& user, const Expected<FairShares>& shares) {
  if (!shares || !user.account) return std::nullopt;
  const auto known = shares->find({*user.account, user.user});
  return known == shares->end() ? std::nullopt : std::optional(known->second);
}

void set_order(std::vector<UserShare>& users) {
  std::vector<double> factors;
  for (const UserShare& user : users) {
    if (user.fair_share) factors.push_back(*user.fair_share);
  }
  std::ranges::sort(factors, std::greater<>());
  for (UserShare& user : users) {
    if (user.fair_share)
      user.order = 1 + (std::ranges::lower_bound(factors, *user.fair_share, std::greater<>()) - factors.begin());
  }
}

// With six decimals, as sshare writes it.
std::string factor_text(const std::optional<double>& factor) {
  if (!factor) return "?";
  constexpr int k_decimals = 6;
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), *factor, std::chars_format::fixed, k_decimals);
  return error == std::errc{} ? std::string(buffer.data(), end) : "?";
}

std::string part_text(std::int64_t tenths) {
  return unit_text(tenths, 1);
}

}  // namespace

void order_users(AccountReport& statement) {
  for (AccountRow& row : statement.organizations) {
    std::ranges::stable_sort(row.users, [](const UserRow& a, const UserRow& b) {
      return std::tuple(!a.account, a.account, -a.got.work.value) <
             std::tuple(!b.account, b.account, -b.got.work.value);
    });
  }
}

UsersReport users_report(const AccountReport& statement, const std::vector<std::string>& only,
                         const Expected<FairShares>& shares) {
  UsersReport report{.exact = statement.exact, .is_private = statement.is_private};
  if (!shares) report.no_fair_share = shares.error().what;
  for (const AccountRow& row : statement.organizations) {
    if (!only.empty() && std::ranges::find(only, row.name) == only.end()) continue;
    OrganizationUsers& organization = report.organizations.emplace_back();
    organization.name = row.name;
    organization.got = row.got;
    for (const UserRow& user : row.users) {
      UserShare& share = organization.users.emplace_back();
      share.is = user;
      share.part = part_of(user, row);
      share.fair_share = factor_of(user, shares);
    }
    set_order(organization.users);
  }
  return report;
}

std::string render_users(const UsersReport& report, const AccountReport& statement, bool header) {
  const PrintedStatement printed = printed_statement(statement);
  json rows = json::array();
  for (const OrganizationUsers& organization : report.organizations) {
    const auto row = std::ranges::find(statement.organizations, organization.name, &AccountRow::name);
    if (row == statement.organizations.end()) continue;
    const auto index = static_cast<std::size_t>(row - statement.organizations.begin());
    const PrintedUsers lines = printed_of(printed.organizations[index], *row);
    if (!lines.has_any()) continue;
    rows.push_back({{"organization", row->name},
                    {"account", ""},
                    {"user", k_all_users},
                    {"got", unit_text(lines.got, printed.decimals)},
                    {"part", part_text(k_all_parts)},
                    {"fair_share", ""},
                    {"order", ""}});
    for (std::size_t i = 0; i < lines.users.size(); ++i) {
      const UserShare& user = organization.users[i];
      if (!lines.has(i)) continue;
      rows.push_back({{"organization", row->name},
                      {"account", user.is.account.value_or("")},
                      {"user", user.is.user},
                      {"got", unit_text(lines.users[i], printed.decimals)},
                      {"part", part_text(lines.parts[i])},
                      {"fair_share", factor_text(user.fair_share)},
                      {"order", user.order ? std::to_string(*user.order) : "?"}});
    }
  }
  std::vector<Column> columns;
  for (const Field& field : k_people_fields) columns.push_back({.field = &field, .width = 0, .align = field.align});
  return render_table(columns, rows, {.header = header});
}

std::string parsable_users(const UsersReport& report, bool header) {
  json rows = json::array();
  for (const OrganizationUsers& organization : report.organizations) {
    for (const UserShare& user : organization.users) {
      rows.push_back({{"organization", organization.name},
                      {"account", json_of(user.is.account)},
                      {"user", user.is.user},
                      {"got", user.is.got.core_hours()},
                      {"got_seconds", format_micro(user.is.got.work.value)},
                      {"part", json_of(user.part)},
                      {"fair_share", json_of(user.fair_share)},
                      {"order", json_of(user.order)}});
    }
  }
  std::vector<Column> columns;
  for (const Field& field : k_exact_fields) columns.push_back({.field = &field, .width = 0, .align = field.align});
  return render_table(columns, rows, {.form = Form::parsable, .header = header});
}

std::vector<std::vector<std::string>> printed_users(const AccountReport& statement) {
  const PrintedStatement printed = printed_statement(statement);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < statement.organizations.size(); ++k) {
    const AccountRow& row = statement.organizations[k];
    const PrintedUsers lines = printed_of(printed.organizations[k], row);
    for (std::size_t i = 0; i < lines.users.size(); ++i) {
      if (!lines.has(i)) continue;
      rows.push_back({row.name, row.users[i].account.value_or(""), row.users[i].user,
                      unit_text(lines.users[i], printed.decimals), part_text(lines.parts[i])});
    }
  }
  return rows;
}

std::string users_csv(const AccountReport& statement) {
  json rows = json::array();
  for (const AccountRow& row : statement.organizations) {
    for (const UserRow& user : row.users) {
      rows.push_back({{"since_utc", statement.of.since.utc()},
                      {"until_utc", statement.of.until.utc()},
                      {"organization", row.name},
                      {"account", json_of(user.account)},
                      {"user", user.user},
                      {"core_hours", user.got.core_hours()},
                      {"processor_seconds", format_micro(user.got.work.value)}});
    }
  }
  return render_csv(k_csv_columns, rows);
}

}  // namespace shapley::ctl
