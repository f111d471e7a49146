// A page of `shapleyctl report` of a ledger, and how a test reads one.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "consortium.hpp"
#include "ctl/offline.hpp"
#include "ctl/report/page.hpp"
#include "ctl/report/sheets.hpp"
#include "program.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {

namespace fs = std::filesystem;
using ledger::testing::must;
using nlohmann::json;

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

using Rows = std::vector<std::map<std::string, std::string>>;

// The values of a line, which may be within quotation marks.
inline std::vector<std::string> csv_values(const std::string& line) {
  std::vector<std::string> values(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ',' && !is_quoted) {
      values.emplace_back();
    } else if (line[i] != '"') {
      values.back() += line[i];
    } else {
      if (is_quoted && i + 1 < line.size() && line[i + 1] == '"')
        values.back() += line[i++];
      else
        is_quoted = !is_quoted;
    }
  }
  return values;
}

// For values of one line.
inline Rows parsed_csv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::vector<std::string> head;
  Rows rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = csv_values(line);
    if (head.empty()) {
      head = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), head.size()) << line;
    rows.emplace_back();
    for (std::size_t i = 0; i < std::min(head.size(), cells.size()); ++i) rows.back()[head[i]] = cells[i];
  }
  return rows;
}

// Without the elements of instants.
inline std::string shown_text(std::string markup) {
  for (std::size_t at = markup.find('<'); at != std::string::npos; at = markup.find('<', at))
    markup.erase(at, markup.find('>', at) + 1 - at);
  return markup;
}

// The cells of the table of this name, as a browser would show them.
inline std::vector<std::vector<std::string>> table_of(const std::string& page, const std::string& name) {
  std::size_t at = page.find("aria-label=\"" + name + "\"><table>");
  const std::size_t end = page.find("</table>", at);
  std::vector<std::vector<std::string>> rows;
  for (at = page.find("<tr>", at); at < end; at = page.find("<tr>", at)) {
    const std::size_t last = page.find("</tr>", at);
    std::vector<std::string>& cells = rows.emplace_back();
    for (at = page.find("<t", at + 4); at < last; at = page.find("<t", at + 5)) {
      const std::size_t begin = page.find('>', at) + 1;
      at = page.find(page.compare(at, 3, "<th") == 0 ? "</th>" : "</td>", begin);
      cells.push_back(shown_text(page.substr(begin, at - begin)));
    }
  }
  return rows;
}

class Page : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }

  [[nodiscard]] SiteReport report_of(Instant since, Instant until, std::vector<std::string> only = {}) const {
    const answers::LedgerFile asked{.path = file()};
    const ledger::IntervalRequest of{.since = since, .until = until, .organizations = std::move(only)};
    SiteReport report;
    report.heading = "A page";
    report.statement = must(answers::answer(ledger::StatementRequest{.of = of}, asked));
    report.history = must(answers::answer(ledger::HistoryRequest{.of = of, .by = ledger::Interval::day}, asked));
    report.months = must(answers::answer(ledger::HistoryRequest{.of = of, .by = ledger::Interval::month}, asked));
    report.titles = must(answers::titles(asked, until));
    report.proof.no_audit = "none";
    report.proof.no_head = "none";
    return report;
  }
  [[nodiscard]] SiteReport whole(std::vector<std::string> only = {}) const {
    return report_of(k_consortium_begin, k_consortium_end, std::move(only));
  }
  [[nodiscard]] Outcome run(const std::string& arguments, const std::string& variables = "") const {
    return run_shapleyctl(directory.path(), "report --ledger " + file().string() + " " + arguments, variables);
  }
  [[nodiscard]] std::string out() const { return (directory.path() / "page").string(); }

  ledger::testing::TemporaryDirectory directory;
};

}  // namespace shapley::ctl
