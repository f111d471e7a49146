// Slurm's own records as text: jobcomp/filetxt or sacct -P, as the audit and as import and replay read them. Users
// choose parts of both.
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>

#include "fuzz.hpp"
#include "sacct/sacct_rows.hpp"
#include "sacct/slurm_records.hpp"

namespace {

using shapley::fuzz::require;
using shapley::sacct::SacctRow;
using shapley::sacct::SlurmRecord;
using shapley::sacct::SlurmRecords;

void check_records(const SlurmRecords& records) {
  std::int64_t line = 0;
  for (const SlurmRecord& record : records.records) {
    require(record.line >= line && record.line >= 1, "records are in the order of the file");
    line = record.line;
    require(record.cpus && *record.cpus >= 0, "a record that is kept has its processors");
    require(!record.suspended || record.suspended->value >= 0, "no suspension is negative");
  }
  for (const auto& left_out : records.unreadable) require(!left_out.why.empty(), "what is left out is explained");
}

// What both uses read of a row is the same.
void check_rows(const shapley::sacct::SacctExport& read, const SlurmRecords& records) {
  std::map<std::int64_t, const SlurmRecord*> by_line;
  for (const SlurmRecord& record : records.records) by_line[record.line] = &record;
  const auto done = read.rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> shapley::Expected<void> {
    for (const SacctRow& row : of_job) {
      const auto record = by_line.find(row.line);
      if (record == by_line.end()) continue;
      require(record->second->job.value == row.job && record->second->state == row.state, "a row is of one job");
      require(record->second->cpus == row.cpus, "a row has one number of processors");
      require(record->second->start.has_value() == row.start.has_value(), "a row began, or did not");
      require(!row.start || record->second->start->is(*row.start), "a row has one start");
    }
    return {};
  });
  require(done.has_value(), "rows that were read can be visited");
  for (const auto& bad : read.bad) require(!bad.why.empty(), "what is left out is explained");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A zone with summer time, named by its rule so that no zone data base is needed.
  static const bool in_zone = ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1) == 0 && (::tzset(), true);
  require(in_zone, "the time zone can be set");
  const std::string text(shapley::fuzz::text_of(data, size));
  std::istringstream in(text);
  const auto find_task = [](std::uint32_t array, std::uint32_t task) -> std::optional<shapley::JobId> {
    if (array != 17) return std::nullopt;
    return shapley::JobId{array + task % 100};
  };
  const auto records = shapley::sacct::read_slurm_records(in, find_task);
  require(records || !records.error().what.empty(), "a refusal has words");
  if (records) check_records(*records);
  std::istringstream again(text);
  const auto rows = shapley::sacct::read_sacct_rows(again, shapley::sacct::Malformed::skip);
  require(rows || !rows.error().what.empty(), "a refusal has words");
  if (records && rows) check_rows(*rows, *records);
  return 0;
}
