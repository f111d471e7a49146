// Both readers of `sacct -P`, that of import and replay and that of the audit, against a plain parser of its own
// (tests/support/naive_sacct.hpp).
#include <algorithm>
#include <ctime>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sacct/sacct_rows.hpp"
#include "sacct/slurm_records.hpp"
#include "tests/support/must.hpp"
#include "tests/support/naive_sacct.hpp"
#include "tests/support/time_zone.hpp"

namespace shapley::sacct {
namespace {

using test::NaiveRow;

std::int64_t seconds_of(const std::optional<Instant>& at) {
  return at ? at->value : -1;
}
std::int64_t seconds_of(const std::optional<RecordedTime>& at) {
  return at ? at->instant.value : -1;
}

NaiveRow as_naive(const SacctRow& row) {
  return {row.job,
          row.state,
          seconds_of(row.start),
          seconds_of(row.end),
          row.cpus,
          row.suspended.value,
          row.billing ? static_cast<std::int64_t>(*row.billing) : -1};
}
NaiveRow as_naive(const SlurmRecord& row) {
  return {row.job.value,           row.state,
          seconds_of(row.start),   seconds_of(row.end),
          row.cpus.value_or(-1),   row.suspended.value_or(Duration{-1}).value,
          row.billing.value_or(-1)};
}

std::vector<NaiveRow> by_import(const std::string& text) {
  std::istringstream in(text);
  std::vector<SacctRow> rows;
  must(must(read_sacct_rows(in)).rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    rows.insert(rows.end(), of_job.begin(), of_job.end());
    return {};
  }));
  std::ranges::sort(rows, {}, &SacctRow::line);
  std::vector<NaiveRow> naive;
  for (const SacctRow& row : rows) naive.push_back(as_naive(row));
  return naive;
}

std::vector<NaiveRow> by_audit(const std::string& text) {
  std::istringstream in(text);
  const SlurmRecords read = must(read_slurm_records(in, [](auto, auto) { return std::nullopt; }));
  EXPECT_TRUE(read.unreadable.empty() && read.impossible.empty());
  std::vector<NaiveRow> naive;
  for (const SlurmRecord& record : read.records) naive.push_back(as_naive(record));
  return naive;
}

std::string clock_text(std::int64_t t) {
  const std::time_t seconds = t;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

std::string duration_text(std::int64_t seconds) {
  const std::int64_t day = seconds % 86'400;
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return (seconds < 86'400 ? "" : std::to_string(seconds / 86'400) + "-") + two(day / 3600) + ":" + two(day / 60 % 60) +
         ":" + two(day % 60);
}

using Texts = std::map<std::string, std::string>;  // by column

// A row of job `number` as sacct would print it.
Texts any_row(std::uint32_t number, bool has_raw) {
  const std::int64_t submit = 1'700'000'000 + *rc::gen::inRange<std::int64_t>(0, 90'000'000);
  const std::int64_t start = submit + *rc::gen::inRange<std::int64_t>(0, 400'000);
  const std::int64_t length = *rc::gen::inRange<std::int64_t>(0, 200'000);
  const std::int64_t cpus = *rc::gen::inRange<std::int64_t>(1, 5000);
  const bool billed = *rc::gen::arbitrary<bool>();
  Texts row{{"User", "amy"},
            {"Account", "north"},
            {"State", *rc::gen::element<std::string>("COMPLETED", "CANCELLED by 1001", "RESIZING", "REQUEUED")},
            {"Submit", clock_text(submit)},
            {"Start", clock_text(start)},
            {"End", clock_text(start + length)},
            {"Suspended", duration_text(*rc::gen::inRange<std::int64_t>(0, length + 1))},
            {"AllocCPUS", std::to_string(cpus)},
            {"AllocTRES", (billed ? "billing=" + std::to_string(*rc::gen::inRange(0, 9000)) + "," : "") +
                              "cpu=" + std::to_string(cpus) + ",mem=1.5G,node=1,gres/gpu=2"},
            {"NodeList", "n[1-2]"},
            {"JobID", *rc::gen::arbitrary<bool>() ? std::to_string(number) : std::to_string(number - 2) + "+2"}};
  if (has_raw) {
    row["JobIDRaw"] = std::to_string(number);
    if (*rc::gen::arbitrary<bool>()) row["JobID"] = "70000_" + std::to_string(number);
  }
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      row["State"] = *rc::gen::element<std::string>("RUNNING", "SUSPENDED", "COMPLETING");
      row["End"] = "Unknown";
      break;
    case 1:
      row["State"] = "CANCELLED";
      row["Start"] = "None";
      row["AllocCPUS"] = "0";
      row["AllocTRES"] = "";
      row["Suspended"] = "00:00:00";
      row["NodeList"] = "None assigned";
      break;
    case 2:
      row["JobID"] += ".batch";
      break;
    case 3:
      row["JobID"] = std::to_string(number) + "_[1-3%2]";
      row["Start"] = row["End"] = "Unknown";
      break;
    default:
      break;
  }
  return row;
}

RC_GTEST_PROP(SacctWitness, both_readers_read_what_a_plain_parser_reads, ()) {
  const ::shapley::testing::TimeZone utc("UTC0");
  const bool has_raw = *rc::gen::arbitrary<bool>();
  std::vector<std::string> columns{"User",      "Account", "State",     "Submit",    "Start",    "End",
                                   "Suspended", "JobID",   "AllocCPUS", "AllocTRES", "NodeList", "Partition"};
  if (has_raw) columns.emplace_back("JobIDRaw");
  for (std::size_t left = columns.size(); left > 1; --left)
    std::swap(columns[left - 1], columns[*rc::gen::inRange<std::size_t>(0, left)]);
  const auto line_of = [&](const auto& text) {
    std::string line;
    for (const std::string& column : columns) line += text(column) + "|";
    line.back() = '\n';
    return line;
  };
  std::string sacct = line_of([](const std::string& column) { return column; });
  const auto jobs = *rc::gen::inRange<std::uint32_t>(1, 12);
  for (std::uint32_t job = 100; job < 100 + jobs; ++job) {
    Texts row = any_row(job, has_raw);
    row["Partition"] = "main";
    sacct += line_of([&](const std::string& column) { return row.at(column); });
  }
  const std::vector<NaiveRow> expected = test::naive_rows(sacct);
  RC_ASSERT(by_import(sacct) == expected);
  RC_ASSERT(by_audit(sacct) == expected);
}

}  // namespace
}  // namespace shapley::sacct
