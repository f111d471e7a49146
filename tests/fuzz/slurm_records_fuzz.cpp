// Slurm's own records as text: jobcomp/filetxt or sacct -P. Users choose parts of both.
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "fuzz.hpp"
#include "ledger/audit/slurm_records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::fuzz::require;
  // A zone with summer time, named by its rule so that no zone data base is needed.
  static const bool in_zone = ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1) == 0 && (::tzset(), true);
  require(in_zone, "the time zone can be set");
  std::istringstream in(std::string(shapley::fuzz::text_of(data, size)));
  const auto find_task = [](std::uint32_t array, std::uint32_t task) -> std::optional<shapley::JobId> {
    if (array != 17) return std::nullopt;
    return shapley::JobId{array + task % 100};
  };
  const auto records = shapley::ledger::read_slurm_records(in, find_task);
  if (!records) {
    require(!records.error().what.empty(), "a refusal has words");
    return 0;
  }
  std::int64_t line = 0;
  for (const auto& record : records->records) {
    require(record.line >= line && record.line >= 1, "records are in the order of the file");
    line = record.line;
    require(record.cpus && *record.cpus >= 0, "a record that is kept has its processors");
    require(!record.suspended || record.suspended->value >= 0, "no suspension is negative");
  }
  for (const auto& left_out : records->unreadable) require(!left_out.why.empty(), "what is left out is explained");
  return 0;
}
