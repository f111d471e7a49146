// What Slurm's commands say of the jobs that wait: squeue about the jobs themselves, sinfo about what is idle where.
// Names that users choose are not among the columns (job_facts.hpp). Pure, except that the commands are run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/slurm/job_facts.hpp"

namespace shapley::ctl {

// A pending record: a job, a task of an array, or all tasks of an array that have no records of their own.
struct PendingRecord {
  std::uint32_t job = 0;
  std::string id = {};  // as squeue shows it: "72_[3-5]"
  std::uint32_t user_id = 0;
  std::string partition = {};  // several: with commas
  std::string qos = {};
  std::string account = {};
  std::int64_t cpus = 0;
  std::optional<std::int64_t> time_limit_s = {};  // nullopt: none
  std::string reason = {};
  std::int64_t priority = 0;
  std::optional<Instant> start = {};  // when Slurm expects to start it
  // It asks for more than CPUs and time: generic resources of each node, features, nodes by name, a reservation, or
  // nodes that it does not share; or it is a part of a heterogeneous job, whose parts start together. Memory is not
  // among them: squeue shows the default as a wish, too.
  bool asks_for_more = false;
};
// Those that this user may see.
[[nodiscard]] Expected<std::vector<PendingRecord>> pending_records(const ProgramRunner& run);

// What squeue does not show of a job.
struct JobWishes {
  std::string memory = {};  // as an option of sbatch; empty: none
  std::int64_t cpus_per_task = 1;
  std::int64_t least_nodes = 1;
  std::optional<std::int64_t> most_nodes = {};  // nullopt: as many as it takes
  // Generic resources of the whole job, its tasks or its sockets (--gpus and its like), licenses, sockets, cores or
  // threads of a kind, tasks by node, neighbours or local disks.
  bool asks_for_more = false;
};
// nullopt: scontrol does not show it.
[[nodiscard]] std::optional<JobWishes> wishes_of(std::uint32_t job, const ProgramRunner& run);

// How many CPUs of each node are idle, by partition, of all nodes in it. Empty if sinfo does not answer.
using IdleCpus = std::map<std::string, std::vector<std::int64_t>>;
[[nodiscard]] IdleCpus idle_cpus(const ProgramRunner& run);
// So many CPUs are idle on nodes that a job of such wishes could have: for whole tasks, on no more nodes than it may
// have; 0: on fewer than it needs.
[[nodiscard]] std::int64_t fitting_cpus(const std::vector<std::int64_t>& idle, const JobWishes& wishes);
struct FittingPartition {
  std::string partition = {};
  std::int64_t cpus = 0;
  std::int64_t nodes = 0;  // of the partition, idle or not
};
// The one of the partitions where most would fit; nullopt: none of them is known.
[[nodiscard]] std::optional<FittingPartition> fitting_in(const IdleCpus& idle, std::string_view partitions,
                                                         const JobWishes& wishes);

// "45:00", "2-12:30:00", as Slurm writes limits; nullopt: UNLIMITED, or no time.
[[nodiscard]] std::optional<std::int64_t> limit_seconds(std::string_view text);
// The same the other way, as sbatch takes it, of whole minutes.
[[nodiscard]] std::string limit_text(std::int64_t seconds);

// The instant in the answer of sbatch --test-only (submission.hpp); nullopt: it has no estimate.
[[nodiscard]] std::optional<Instant> estimate_in(const std::string& answer);

}  // namespace shapley::ctl
