// The jobs of a ledger for people and programs, as JSON: who runs, who waits, and for whom it is booked. One source for
// the daemon's replies and for offline reading, as report.hpp. docs/reference/shapleyctl.md lists every member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// A report that listed every job of ten years would be no answer, and no frame could carry it. The newest jobs are
// kept.
inline constexpr std::size_t k_max_reported_jobs = 10'000;

// How far back `all` looks unless it is told: a question about everything would hold up the daemon.
inline constexpr Duration k_reported_history{7 * 24 * 3600};

// A task of an array, by Slurm's number of the array and its own.
struct ArrayTask {
  std::uint32_t array = 0;
  std::uint32_t task = 0;
  friend bool operator==(const ArrayTask&, const ArrayTask&) = default;
};

// A part of a heterogeneous job, by Slurm's number of the whole and the part's place: "3+1".
struct HetPart {
  std::uint32_t het_job = 0;
  std::uint32_t part = 0;
  friend bool operator==(const HetPart&, const HetPart&) = default;
};

// Who sees his own jobs and those of accounts, and no others.
struct JobsViewer {
  std::uint32_t user_id = 0;
  std::vector<std::string> accounts = {};

  [[nodiscard]] bool sees(std::uint32_t owner, std::string_view account) const {
    return owner == user_id || std::ranges::find(accounts, account) != accounts.end();
  }
};

// An empty list selects everything; several lists must all match, but that `jobs`, `tasks` and `parts` are one
// list.
struct JobsFilter {
  bool all = false;  // ended, suspended and blocked jobs, too; else only those that run or could start
  // With `all`: of those only the jobs submitted then or later. Not when some are named.
  std::optional<Instant> since = std::nullopt;
  std::vector<std::string> organizations = {};
  std::vector<std::string> accounts = {};
  std::vector<std::uint32_t> user_ids = {};
  std::vector<std::uint32_t> jobs = {};  // a job of an array is found by the array's id, too
  std::vector<ArrayTask> tasks = {};     // a task that waits is a part of its array's record, and found by no number
  std::vector<HetPart> parts = {};
  // No part of the request: whose question it is, is not the asker's to say.
  std::optional<JobsViewer> viewer = std::nullopt;

  [[nodiscard]] bool names_jobs() const { return !jobs.empty() || !tasks.empty() || !parts.empty(); }
};

// As members of the request {"request": "jobs", "all": true, "accounts": [...], ...} by the names above.
// Errc::invalid_argument names the member that is wrong.
[[nodiscard]] Expected<JobsFilter> parse_jobs_filter(const nlohmann::json& request);
[[nodiscard]] nlohmann::json jobs_request(const JobsFilter& filter);

// Jobs by id and submit time, each with its segments. Open segments count up to `at`. Reads the projections as they are
// at one moment, in three queries of at most `budget` each; Errc::limit says how to ask for less.
[[nodiscard]] Expected<nlohmann::json> jobs_report(const Ledger& ledger, const JobsFilter& filter, Instant at,
                                                   QueryBudget budget = {});

}  // namespace shapley::ledger
