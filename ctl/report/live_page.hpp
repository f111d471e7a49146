// The page of `shapleyctl report --live`: where every organization stands now, which goes first and why, when that
// turns, and the places of the jobs that wait. A timer renews it, a web server shows it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ctl/slurm/place.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ctl {

// The most jobs and turns that the page lists; it says how many there are.
inline constexpr std::size_t k_most_live_jobs = 500;
inline constexpr std::size_t k_most_live_turns = 10;

struct LiveReport {
  std::string heading = {};
  ledger::StatusReport status = {};  // with the forecast
  std::vector<PlacedJob> jobs = {};  // all that could start, by place
  bool truncated = false;            // but those of the highest numbers
  std::string no_jobs = {};          // why the jobs are not known; then `jobs` is empty
  std::int64_t every_s = 0;          // the page is renewed so often
};

[[nodiscard]] std::string live_page(const LiveReport& report);

}  // namespace shapley::ctl
