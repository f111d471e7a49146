#include "ctl/commands/users.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <tuple>

#include <nlohmann/json.hpp>

#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"

namespace shapley::ctl {

namespace {

using ledger::AccountReport;
using ledger::AccountRow;
using ledger::UserRow;
using nlohmann::json;
using tables::Field;
using tables::left;

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

constexpr Field k_page_fields[] = {
    left({"organization", "Organization"}),
    left({"account", "Account"}),
    left({"user", "User"}),
    {"got", "Got (core-hours)"},
    {"part", "Part of its organization (%)"},
};

constexpr Field k_file_fields[] = {
    {"since_utc"}, {"until_utc"}, {"organization"}, {"account"}, {"user"}, {"core_hours"}, {"processor_seconds"},
};

// nullopt: the organization got nothing.
std::optional<double> part_of(const UserRow& user, const AccountRow& row) {
  if (row.got.work.value <= 0) return std::nullopt;
  return static_cast<double>(user.got.work.value) / static_cast<double>(row.got.work.value);
}

// A line as printed, in units of the last decimal and of a tenth of a per cent.
struct PrintedLine {
  Units got = 0;
  Units part = 0;

  // Whether it has anything but zeros.
  [[nodiscard]] bool has_any() const { return got != 0 || part != 0; }
};

// The lines of an organization's users, in their order, and what is left of their sums.
struct PrintedUsers {
  std::vector<PrintedLine> users = {};
  PrintedLine rounding = {};

  [[nodiscard]] bool has_any() const { return rounding.has_any() || std::ranges::any_of(users, &PrintedLine::has_any); }
};

PrintedUsers printed_of(const AccountRow& row, const PaperAmounts& amounts) {
  const Int128 all = row.got.work.value;
  const auto part = [all](Int128 got) { return all > 0 ? nearest_of_quotient(got * k_all_parts, all) : Units{0}; };
  PrintedUsers lines;
  std::vector<CpuTime> works;
  CpuTime sum;
  for (const UserRow& user : row.users) {
    works.push_back(user.got.work);
    sum += user.got.work;
    lines.users.push_back({.got = amounts.nearest(user.got.work), .part = part(user.got.work.value)});
  }
  lines.rounding = {.got = amounts.left_over(works), .part = part(sum.value)};
  for (const PrintedLine& line : lines.users) lines.rounding.part -= line.part;
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

std::string part_text(Units tenths) {
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
  const PaperAmounts amounts(statement);
  tables::Table table{.columns = columns_of(k_people_fields)};
  for (const OrganizationUsers& organization : report.organizations) {
    const auto row = std::ranges::find(statement.organizations, organization.name, &AccountRow::name);
    if (row == statement.organizations.end()) continue;
    const PrintedUsers lines = printed_of(*row, amounts);
    if (!lines.has_any()) continue;
    const auto add = [&](const std::string& account, const std::string& user, const std::string& got,
                         const std::string& part, const std::string& fair_share, const std::string& order) {
      table.rows.push_back({{"organization", row->name},
                            {"account", account},
                            {"user", user},
                            {"got", got},
                            {"part", part},
                            {"fair_share", fair_share},
                            {"order", order}});
    };
    add("", k_all_users, amounts.text(row->got.work), part_text(k_all_parts), "", "");
    for (std::size_t i = 0; i < lines.users.size(); ++i) {
      const UserShare& user = organization.users[i];
      const PrintedLine& line = lines.users[i];
      if (!line.has_any()) continue;
      add(user.is.account.value_or(""), user.is.user, amounts.text(line.got), part_text(line.part),
          factor_text(user.fair_share), user.order ? std::to_string(*user.order) : "?");
    }
    if (lines.rounding.has_any()) {
      add("", k_rounding, amounts.signed_text(lines.rounding.got), signed_unit_text(lines.rounding.part, 1), "", "");
    }
  }
  return people_text(table, {.header = header});
}

std::string parsable_users(const UsersReport& report, bool header) {
  tables::Table table{.columns = columns_of(k_exact_fields)};
  for (const OrganizationUsers& organization : report.organizations) {
    for (const UserShare& user : organization.users) {
      table.rows.push_back({{"organization", organization.name},
                            {"account", json_of(user.is.account)},
                            {"user", user.is.user},
                            {"got", user.is.got.core_hours()},
                            {"got_seconds", format_micro(user.is.got.work.value)},
                            {"part", json_of(user.part)},
                            {"fair_share", json_of(user.fair_share)},
                            {"order", json_of(user.order)}});
    }
  }
  return parsable_text(table, header);
}

tables::Table printed_users(const AccountReport& statement, const PaperAmounts& amounts) {
  tables::Table table{.name = "Users of each organization", .columns = columns_of(k_page_fields)};
  name_unit(table, statement.of.in);
  const auto add = [&table](const std::string& organization, const std::string& account, const std::string& user,
                            const std::string& got, const std::string& part) {
    table.rows.push_back(json::array({organization, account, user, got, part}));
  };
  ColumnSums printed;
  CpuTime all;
  std::size_t organizations = 0;
  for (const AccountRow& row : statement.organizations) {
    const PrintedUsers lines = printed_of(row, amounts);
    for (std::size_t i = 0; i < lines.users.size(); ++i) {
      const PrintedLine& line = lines.users[i];
      if (!line.has_any()) continue;
      add(row.name, row.users[i].account.value_or(""), row.users[i].user, amounts.text(line.got), part_text(line.part));
    }
    if (lines.rounding.has_any()) {
      add(row.name, "", k_rounding, amounts.signed_text(lines.rounding.got), signed_unit_text(lines.rounding.part, 1));
    }
    if (!lines.has_any()) continue;
    const Units got = amounts.nearest(row.got.work);
    add(row.name, "", k_sum, amounts.text(got), part_text(k_all_parts));
    printed.add(std::array{got});
    all += row.got.work;
    ++organizations;
  }
  if (organizations < 2) return table;
  const Units rest = printed.rest(std::array{amounts.nearest(all)}).front();
  if (rest != 0) add(k_rounding, "", "", amounts.signed_text(rest), "");
  add(k_sum, "", "", amounts.text(all), "");
  return table;
}

tables::Table exact_users(const AccountReport& statement) {
  tables::Table table{.columns = columns_of(k_file_fields)};
  name_unit(table, statement.of.in);
  for (const AccountRow& row : statement.organizations) {
    for (const UserRow& user : row.users) {
      table.rows.push_back({{"since_utc", statement.of.since.utc()},
                            {"until_utc", statement.of.until.utc()},
                            {"organization", row.name},
                            {"account", json_of(user.account)},
                            {"user", user.user},
                            {"core_hours", user.got.core_hours()},
                            {"processor_seconds", format_micro(user.got.work.value)}});
    }
  }
  return table;
}

}  // namespace shapley::ctl
