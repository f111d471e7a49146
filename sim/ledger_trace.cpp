#include "sim/ledger_trace.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::sim {

namespace {

// Slurm reuses job numbers, so the submission is the last one before the run's start.
constexpr const char* k_runs =
    "SELECT s.job, j.submit, SUM(s.end - s.begin), MAX(s.processors), j.user_id, s.organization "
    "FROM segments s JOIN jobs j ON j.job = s.job "
    "AND j.submit = (SELECT MAX(submit) FROM jobs WHERE job = s.job AND submit <= s.anchor) "
    "WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin IS NOT NULL AND s.end IS NOT NULL "
    "GROUP BY s.job, s.anchor ORDER BY s.job, s.anchor";

std::int64_t integer(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

bool is_ledger(const std::filesystem::path& file) {
  std::string head(15, '\0');
  std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == "SQLite format 3";
}

Expected<workload::Trace> read_ledger_trace(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const auto rows, ledger.query(k_runs));
  workload::Trace trace;
  workload::NameIndex users;
  workload::NameIndex groups;
  for (const auto& row : rows) {
    const std::int64_t run = integer(row[2]);
    if (run <= 0) {
      ++trace.omitted.unusable["no run time"];
      continue;
    }
    // The books count weighted millionths; the model counts whole processors.
    const std::int64_t processors = std::max<std::int64_t>(1, (integer(row[3]) + k_micro / 2) / k_micro);
    trace.jobs.push_back({.id = integer(row[0]),
                          .submit = {integer(row[1])},
                          .run = {run},
                          .processors = processors,
                          .user = users.number_of(row[4]),
                          .group = groups.number_of(row[5])});
  }
  trace.users = users.names();
  trace.groups = groups.names();
  trace.computer = "ledger " + file.filename().string();
  workload::order_jobs(trace);
  return trace;
}

}  // namespace shapley::sim
