#include "history/runs.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace shapley::history {

namespace {

bool continues(const Run& run, const SacctRow& row) {
  return run.last().state == "RESIZING" && (row.start == run.last().end || row.start == run.first().start);
}

bool repeats(const SacctRow& row, const SacctRow& before) {
  return row.start == before.start && row.end == before.end && row.state != "RESIZING";
}

}  // namespace

std::vector<std::vector<const SacctRow*>> rows_by_job(const std::vector<SacctRow>& rows) {
  std::map<std::uint32_t, std::vector<const SacctRow*>> by_number;
  for (const SacctRow& row : rows) {
    if (row.ran()) by_number[row.job].push_back(&row);
  }
  std::vector<std::vector<const SacctRow*>> jobs;
  for (auto& [job, of_job] : by_number) {
    std::stable_sort(of_job.begin(), of_job.end(), [](const SacctRow* a, const SacctRow* b) {
      const auto key = [](const SacctRow* r) {
        return std::tuple(*r->start, r->end.value_or(k_end_of_time), r->submit);
      };
      return key(a) < key(b);
    });
    jobs.push_back(std::move(of_job));
  }
  return jobs;
}

std::vector<Run> runs_of(const std::vector<SacctRow>& rows) {
  std::vector<Run> runs;
  for (const std::vector<const SacctRow*>& of_job : rows_by_job(rows)) {
    const std::size_t first_of_job = runs.size();
    for (const SacctRow* row : of_job) {
      if (runs.size() > first_of_job && repeats(*row, runs.back().last())) continue;
      if (runs.size() > first_of_job && continues(runs.back(), *row)) {
        runs.back().rows.push_back(row);
      } else {
        runs.push_back({{row}});
      }
    }
  }
  return runs;
}

}  // namespace shapley::history
