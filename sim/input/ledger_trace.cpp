#include "sim/input/ledger_trace.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/types.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::sim {

bool is_ledger(const std::filesystem::path& file) {
  std::string head(15, '\0');
  std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == "SQLite format 3";
}

Expected<workload::Trace> read_ledger_trace(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(file, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const auto runs, ledger::runs(ledger));
  workload::Trace trace;
  NameIndex users;
  NameIndex groups;
  for (const ledger::Run& run : runs) {
    if (run.length.value <= 0) {
      ++trace.omitted.unusable["no run time"];
      continue;
    }
    // The books count weighted millionths; the model counts whole processors.
    const std::int64_t processors = std::max<std::int64_t>(1, (run.processors.value + k_micro / 2) / k_micro);
    trace.jobs.push_back({.id = run.job.value,
                          .submit = run.submit,
                          .run = run.length,
                          .processors = processors,
                          .user = users.number_of(std::to_string(run.user_id)),
                          .group = groups.number_of(run.organization)});
  }
  trace.users = users.names();
  trace.groups = groups.names();
  trace.computer = "ledger " + file.filename().string();
  workload::order_jobs(trace);
  return trace;
}

}  // namespace shapley::sim
