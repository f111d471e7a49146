// How a person reads a paper: the tables of a text and of a page, what is printed in a cell, and whether it is the
// nearest to an exact amount and adds up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calculator_books.hpp"
#include "ctl/output/paper.hpp"
#include "page_fixture.hpp"
#include "paper_books.hpp"

namespace shapley::ctl {

using CellsByHead = std::map<std::string, std::string>;

struct ReadTable {
  std::vector<std::string> head;
  std::vector<CellsByHead> rows;

  [[nodiscard]] bool has(const std::string& column) const { return std::ranges::find(head, column) != head.end(); }
};

inline std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The tables of a text: a line of heads above a rule of dashes, whose parts are the columns; up to an empty line.
inline std::vector<ReadTable> text_tables(const std::string& text) {
  std::vector<ReadTable> tables;
  std::vector<std::pair<std::size_t, std::size_t>> columns;
  std::istringstream lines(text);
  std::string before;
  const auto cells_of = [&](const std::string& line) {
    std::vector<std::string> cells;
    for (const auto& [begin, length] : columns)
      cells.push_back(begin < line.size() ? trimmed(line.substr(begin, length)) : "");
    return cells;
  };
  for (std::string line; std::getline(lines, line); before = line) {
    if (line.starts_with("--") && line.find_first_not_of("- ") == std::string::npos) {
      columns.clear();
      for (std::size_t at = 0; at < line.size(); at = line.find('-', line.find(' ', at))) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        columns.emplace_back(at, end - at);
        if (end == line.size()) break;
      }
      tables.push_back({cells_of(before), {}});
    } else if (line.empty()) {
      columns.clear();
    } else if (!columns.empty()) {
      const std::vector<std::string> cells = cells_of(line);
      CellsByHead& row = tables.back().rows.emplace_back();
      for (std::size_t i = 0; i < cells.size(); ++i) row[tables.back().head[i]] = cells[i];
    }
  }
  return tables;
}

inline ReadTable page_table(const std::string& page, const std::string& name) {
  ReadTable table;
  for (const std::vector<std::string>& cells : table_of(page, name)) {
    if (table.head.empty()) {
      table.head = cells;
      continue;
    }
    CellsByHead& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), table.head.size()); ++i) row[table.head[i]] = cells[i];
  }
  EXPECT_FALSE(table.head.empty()) << name;
  return table;
}

// The first table that begins with these columns.
inline ReadTable with_head(const std::vector<ReadTable>& tables, const std::vector<std::string>& columns) {
  for (const ReadTable& table : tables) {
    if (table.head.size() >= columns.size() && std::equal(columns.begin(), columns.end(), table.head.begin()))
      return table;
  }
  ADD_FAILURE() << "no table begins with " << columns.front() << ", " << columns.back();
  return {};
}

inline std::int64_t printed_in(const CellsByHead& row, const std::string& column) {
  const auto cell = row.find(column);
  return cell == row.end() ? 0 : thousandths(cell->second);
}

inline Int128 amount_by(const ByName& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? Int128{0} : found->second;
}

inline Int128 total_of(const ByName& amounts) {
  Int128 sum = 0;
  for (const auto& [name, amount] : amounts) sum += amount;
  return sum;
}

// The cell is the nearest amount with its own number of decimals.
inline void expect_amount(const CellsByHead& row, const std::string& column, Int128 exact) {
  const auto cell = row.find(column);
  ASSERT_NE(cell, row.end()) << column;
  EXPECT_EQ(thousandths(cell->second), nearest_like(cell->second, CpuTime{exact})) << column << ' ' << cell->second;
}

inline void expect_standing(const CellsByHead& row, const std::string& column, const CalculatorStanding& standing) {
  // Millionths of a processor-second, rounded as a quotient of whole numbers; no half of a unit is hit by that.
  const Int128 amount = standing.balance / standing.elapsed;
  expect_amount(row, column, amount);
}

// In each of the columns the rows above `(sum)` add up to it.
inline void expect_columns_add_up(const ReadTable& table, const std::string& words,
                                  const std::vector<std::string>& columns) {
  std::map<std::string, std::int64_t> sums;
  bool ended = false;
  for (const CellsByHead& row : table.rows) {
    ended = row.at(words) == k_sum;
    for (const std::string& column : columns) {
      if (ended)
        EXPECT_EQ(printed_in(row, column), sums[column]) << column;
      else
        sums[column] += printed_in(row, column);
    }
  }
  EXPECT_TRUE(ended) << "no line of sums";
}

}  // namespace shapley::ctl
