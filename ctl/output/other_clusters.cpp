#include "ctl/output/other_clusters.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using ledger::AmountUnit;
using ledger::OtherClusterReport;
using ledger::OwedElsewhere;

std::string in_words(const OwedElsewhere& row, const AmountUnit& in) {
  return printable(row.organization) + (row.core_hours > 0 ? " is owed " : " owes ") +
         ledger::format_core_hours(row.core_hours) + ' ' + in.word();
}

// "bio owes 3.1 core-hours, physics is owed 3.1 core-hours": of those that owe or are owed something.
std::string in_words(std::span<const OwedElsewhere> rows, const AmountUnit& in) {
  std::string text;
  for (const OwedElsewhere& row : rows) {
    if (row.core_hours != 0) text += (text.empty() ? "" : ", ") + in_words(row, in);
  }
  return text.empty() ? "nothing is owed" : text;
}

// How old its last statement is. REQUIRES: there is one.
std::string age_text(const OtherClusterReport& other, Instant at) {
  return short_duration(std::max<std::int64_t>(0, (at - other.last_stated()).value)) + " ago";
}

}  // namespace

std::string other_cluster_lines(const ledger::StatusReport& report, bool colour) {
  std::vector<std::string> lines;
  for (const OtherClusterReport& other : report.clusters) {
    std::string line = "Others:  " + printable(other.cluster);
    if (!other.stated_at.is_known()) {
      line += ", no statement yet";
    } else {
      line += fmt::format("{}{}: {}", other.is_stale ? ", TOO OLD: stated " : ", stated ", age_text(other, report.at),
                          in_words(other.organizations, report.in));
      if (other.is_stale) line += "; that has stood still since " + other.stands_still.utc();
    }
    for (const std::string& name : other.uncounted)
      line += fmt::format("; {} is no organization here and does not count", printable(name));
    if (!other.jump.empty()) line += "; " + printable(other.jump);
    if (!other.fault.empty()) line += "; " + printable(other.fault);
    const bool is_bad = other.is_stale || !other.fault.empty();
    lines.push_back((is_bad ? tables::painted(line, tables::Paint::bad, colour) : line) + '\n');
  }
  return first_lines(lines, "Others:  ");
}

std::string elsewhere_lines(std::span<const OtherClusterReport> clusters, std::span<const std::string> organizations,
                            Instant at, const AmountUnit& in) {
  std::vector<std::string> lines;
  for (const OtherClusterReport& other : clusters) {
    const std::string name = printable(other.cluster);
    if (!other.stated_at.is_known()) {
      lines.push_back(fmt::format("Ranks do not count the cluster {} yet: no statement of it has come.\n", name));
      continue;
    }
    std::vector<OwedElsewhere> rows;
    std::ranges::copy_if(other.organizations, std::back_inserter(rows), [&](const OwedElsewhere& row) {
      return row.core_hours != 0 && std::ranges::find(organizations, row.organization) != organizations.end();
    });
    if (rows.empty()) continue;
    std::string line = fmt::format("Ranks also count the cluster {}, which stated {}: there {}", name,
                                   age_text(other, at), in_words(rows, in));
    if (other.is_stale)
      line += "; that is too old, so these figures have stood still since " + other.stands_still.utc();
    lines.push_back(line + ".\n");
  }
  return first_lines(lines, "Ranks also count: ");
}

}  // namespace shapley::ctl
