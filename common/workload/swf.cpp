#include "workload/swf.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/bounded_text.hpp"

namespace shapley::workload {

namespace {

constexpr std::size_t k_columns = 18;
// Instants stay far below 2^40 s and jobs below any machine, so that no sum of them overflows.
constexpr std::int64_t k_max_time = std::int64_t{1} << 40U;
constexpr std::int64_t k_max_processors = 10'000'000;

using Record = std::array<std::int64_t, k_columns>;

// Whole part of a number; some logs write the average processor time with a fraction.
std::optional<std::int64_t> parse_number(std::string_view word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (rest != end && *rest == '.') {
    ++rest;
    while (rest != end && *rest >= '0' && *rest <= '9') ++rest;
  }
  return rest == end ? std::optional(value) : std::nullopt;
}

// The record, or why the line is none.
struct Parsed {
  Record record{};
  std::string problem;
};

Parsed parse_record(std::string_view line) {
  Parsed parsed;
  std::size_t column = 0;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    line.remove_prefix(word.size());
    if (column < k_columns) {
      const auto number = parse_number(word);
      if (!number) {
        parsed.problem = "column " + std::to_string(column + 1) + ": \"" + std::string(word) + "\" is no number";
        return parsed;
      }
      parsed.record[column] = *number;
    }
    ++column;
  }
  if (column != k_columns) parsed.problem = "expected 18 columns, found " + std::to_string(column);
  return parsed;
}

// Why a well-formed record holds no job, or nothing.
const char* unusable(const Record& record, std::int64_t processors) {
  const std::int64_t status = record[10];
  if (status >= 2 && status <= 4) return "part of a job that is told in full elsewhere";
  if (record[11] < 0) return "no user";
  if (record[3] <= 0) return "no run time";
  if (processors <= 0) return "no processors";
  return nullptr;
}

bool out_of_range(const Record& record, std::int64_t processors) {
  return record[1] < 0 || record[1] > k_max_time || record[3] > k_max_time || processors > k_max_processors;
}

std::string header_value(std::string_view line, std::string_view key) {
  const std::size_t begin = line.find_first_not_of("; \t");
  if (begin == std::string_view::npos || line.substr(begin, key.size()) != key) return {};
  std::string_view value = line.substr(begin + key.size());
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  value.remove_prefix(first);
  return std::string(value.substr(0, value.find_last_not_of(" \t\r") + 1));
}

void read_header(std::string_view line, Trace& trace) {
  if (const std::string value = header_value(line, "MaxProcs:"); !value.empty())
    trace.processors = parse_number(value.substr(0, value.find(' '))).value_or(0);
  if (const std::string value = header_value(line, "Computer:"); !value.empty()) trace.computer = value;
  if (const std::string value = header_value(line, "Acknowledge:"); !value.empty())
    trace.acknowledge += (trace.acknowledge.empty() ? "" : "; ") + value;
}

}  // namespace

Expected<Trace> parse_swf(std::istream& text, Malformed choice) {
  Trace trace;
  NameIndex users;
  NameIndex groups;
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    if (line[begin] == ';') {
      read_header(line, trace);
      continue;
    }
    const Parsed parsed = parse_record(line);
    const Record& record = parsed.record;
    const std::int64_t processors = record[4] > 0 ? record[4] : record[7];
    std::string problem = parsed.problem;
    if (problem.empty() && out_of_range(record, processors)) problem = "a time or processor count is out of range";
    if (!problem.empty()) {
      SHAPLEY_TRY(note_malformed(trace.omitted, choice, static_cast<std::uint64_t>(lines.number()), problem));
      continue;
    }
    if (const char* reason = unusable(record, processors)) {
      ++trace.omitted.unusable[reason];
      continue;
    }
    trace.jobs.push_back({.id = record[0],
                          .submit = {record[1]},
                          .run = {record[3]},
                          .processors = processors,
                          .user = users.number_of(std::to_string(record[11])),
                          .group = groups.number_of(std::to_string(record[12]))});
  }
  SHAPLEY_TRY(lines.end());
  trace.users = users.names();
  trace.groups = groups.names();
  order_jobs(trace);
  return trace;
}

}  // namespace shapley::workload
