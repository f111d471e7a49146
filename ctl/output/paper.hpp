// A statement's amounts as they are printed: rounded so that what is printed adds up with a pocket calculator.
//
// All sums of a statement have one number of decimals; u is the amount of one unit of the last of them. As printed, of
// every organization
//     before + given - got + settled = after                                       (each part of a period)
//     got = own + borrowed                                                         (whole time)
//     given = own + lent                where the books say so, which they do by direct_contr
//     borrowed, lent                    = the sums over its pairs
//     own, borrowed, got                = the sums over its users
// Before and after are rounded to the nearest unit, so one month's statement goes on where the last one ended; what
// rounding leaves over is spread over the other amounts, each of which is off by a unit or two at most. If all
// organizations are shown, the rounded differences need not add up to zero: then pairs with k_rounding hold the rest.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/reports/statement.hpp"

namespace shapley::ctl {

// The other side of a pair that only rounding has made.
inline constexpr const char* k_rounding = "(rounding)";

// Amounts in units.
struct PrintedPeriodRow {
  std::int64_t before = 0;
  std::int64_t given = 0;
  std::int64_t got = 0;
  std::int64_t settled = 0;
  std::int64_t after = 0;
  std::int64_t standing_before = 0;
  std::int64_t standing_after = 0;
};

struct PrintedUser {
  std::int64_t got = 0;
  std::int64_t own = 0;
  std::int64_t borrowed = 0;
};

struct PrintedAccount {
  std::int64_t got = 0;
  std::int64_t own = 0;
  std::int64_t borrowed = 0;
  std::int64_t lent = 0;
  std::int64_t waited = 0;
  std::vector<PrintedUser> users = {};
};

struct PrintedPair {
  std::string owner;
  std::string borrower;
  std::int64_t lent = 0;
};

// In the order of the report's parts, organizations and users; `pairs` in that of the owners.
struct PrintedStatement {
  int decimals = 1;
  std::vector<std::vector<PrintedPeriodRow>> parts = {};
  std::vector<PrintedAccount> organizations = {};
  std::vector<PrintedPair> pairs = {};
};

[[nodiscard]] PrintedStatement printed_statement(const ledger::AccountReport& report);

// "1,204.3" for 12043 units of one decimal; with a sign: "+1,204.3", "-0.5", "0.0".
[[nodiscard]] std::string unit_text(std::int64_t units, int decimals);
[[nodiscard]] std::string signed_unit_text(std::int64_t units, int decimals);

// Shares of `total`, which are whole and as near as possible to the values (largest remainders). `values` are in units,
// none below zero; if `total` is not their rounded sum, the difference goes to the largest values.
[[nodiscard]] std::vector<std::int64_t> apportioned(const std::vector<double>& values, std::int64_t total);

}  // namespace shapley::ctl
