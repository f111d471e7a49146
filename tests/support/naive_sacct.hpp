// Rows of `sacct -P`, read a second time: a plain parser that shares no code with common/sacct and is its witness.
// REQUIRES: rows as sacct prints them, with times in UTC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

namespace shapley::test {

struct NaiveRow {
  std::int64_t job = 0;
  std::string state;
  std::int64_t start = -1, end = -1;  // seconds since 1970; -1: none
  std::int64_t cpus = 0, suspended = 0;
  std::int64_t billing = -1;  // -1: there is no list of resources
  friend bool operator==(const NaiveRow&, const NaiveRow&) = default;
};

inline std::vector<std::string> naive_fields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line + "|");
  for (std::string field; std::getline(text, field, '|');) fields.push_back(field);
  return fields;
}

inline std::int64_t naive_time(const std::string& text) {
  std::tm parts{};
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr ? -1 : ::timegm(&parts);
}

// "[days-]hours:minutes:seconds"
inline std::int64_t naive_seconds(const std::string& text) {
  std::istringstream in(text);
  std::int64_t days = 0, hours = 0, minutes = 0, seconds = 0;
  char mark = 0;
  if (text.find('-') != std::string::npos) in >> days >> mark;
  in >> hours >> mark >> minutes >> mark >> seconds;
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

inline std::int64_t naive_billing(const std::string& tres) {
  if (tres.empty()) return -1;
  const std::size_t at = tres.find("billing=");
  return at == std::string::npos ? 0 : std::stoll(tres.substr(at + 8));
}

// The rows of jobs, in the order of the file: without steps, and without array tasks that have not started.
inline std::vector<NaiveRow> naive_rows(const std::string& sacct) {
  std::istringstream text(sacct);
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> names = naive_fields(line);
  std::vector<NaiveRow> rows;
  while (std::getline(text, line)) {
    const std::vector<std::string> fields = naive_fields(line);
    const auto field = [&](const char* name) {
      const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      return at < fields.size() ? fields[at] : std::string();
    };
    if ((field("JobID") + field("JobIDRaw")).find_first_of(".[") != std::string::npos) continue;
    const std::string name = field("JobIDRaw").empty() ? field("JobID") : field("JobIDRaw");
    const std::size_t part = name.find('+');
    rows.push_back({.job = std::stoll(name) + (part == std::string::npos ? 0 : std::stoll(name.substr(part + 1))),
                    .state = field("State").substr(0, field("State").find(' ')),
                    .start = naive_time(field("Start")),
                    .end = naive_time(field("End")),
                    .cpus = std::stoll(field("AllocCPUS")),
                    .suspended = naive_seconds(field("Suspended")),
                    .billing = naive_billing(field("AllocTRES"))});
  }
  return rows;
}

}  // namespace shapley::test
