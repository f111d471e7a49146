// Slurm's own facts about a job: from squeue (state, priority, reason, dependency), sprio (the parts of the priority),
// scontrol (the weights and the partitions' tiers) and, of a federated job, sacct (where it ran). Their output is
// requested in fixed columns without names that users choose, so no text of a job can be taken for another column.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace shapley::ctl {

// Runs a program (run_program.hpp); tests replace it.
using ProgramRunner = std::function<Expected<std::string>(const std::vector<std::string>& words)>;

struct SlurmJob {
  std::string id = {};
  std::string state = {};
  std::optional<std::int64_t> priority = {};
  std::optional<std::string> reason = {};
  std::optional<std::string> dependency = {};
  std::string partition = {};
  std::string qos = {};
  std::optional<std::int64_t> nice = {};
  std::optional<std::string> reservation = {};
  std::optional<std::string> start = {};

  [[nodiscard]] bool is_over() const;
  // Why it waits, or why it ended: of a job that is over not why it had waited. nullopt: no reason.
  [[nodiscard]] std::optional<std::string> reported_reason() const;
};
SHAPLEY_DESCRIBE(SlurmJob, id, state, priority, reason, dependency, partition, qos, nice, reservation, start);

// The parts of a priority in one partition, as sprio shows them.
struct SlurmParts {
  std::string partition = {};
  std::optional<std::int64_t> priority = {};
  std::optional<std::int64_t> site = {};
  std::optional<std::int64_t> age = {};
  std::optional<std::int64_t> assoc = {};
  std::optional<std::int64_t> fairshare = {};
  std::optional<std::int64_t> jobsize = {};
  std::optional<std::int64_t> part_weight = {};
  std::optional<std::int64_t> qos = {};
  std::optional<std::int64_t> nice = {};
  std::optional<std::string> tres = {};
};
SHAPLEY_DESCRIBE(SlurmParts, partition, priority, site, age, assoc, fairshare, jobsize, part_weight, qos, nice, tres);

struct SlurmWeights {
  std::string type = {};
  bool bounded = true;
  std::int64_t others_max = 0;  // the greatest sum of a job's other factors
};
SHAPLEY_DESCRIBE(SlurmWeights, type, bounded, others_max);

using SlurmTiers = std::map<std::string, std::optional<std::int64_t>>;  // by partition

// Slurm's answers, in which facts that no command showed are nullopt; or the reason why Slurm was not asked.
struct SlurmFacts {
  bool asked = false;
  std::string why = {};
  std::optional<std::optional<SlurmJob>> job = {};
  std::optional<std::optional<std::vector<SlurmParts>>> parts = {};
  std::optional<std::optional<SlurmWeights>> weights = {};
  std::optional<std::optional<SlurmTiers>> tiers = {};

  // nullptr: unknown.
  [[nodiscard]] const SlurmJob* known_job() const { return job && *job ? &**job : nullptr; }
  [[nodiscard]] const SlurmWeights* known_weights() const { return weights && *weights ? &**weights : nullptr; }
  [[nodiscard]] const SlurmTiers* known_tiers() const { return tiers && *tiers ? &**tiers : nullptr; }
  [[nodiscard]] const std::vector<SlurmParts>* known_parts() const { return parts && *parts ? &**parts : nullptr; }
  [[nodiscard]] bool is_configuring() const { return known_job() != nullptr && known_job()->state == "CONFIGURING"; }
};
SHAPLEY_DESCRIBE(SlurmFacts, asked, (supplement, why), (supplement, job), (supplement, parts), (supplement, weights),
                 (supplement, tiers));

// The cluster of the federation on which a job ran last or runs, by sacct.
struct RanElsewhere {
  std::string cluster = {};
  std::string state = {};
};
SHAPLEY_DESCRIBE(RanElsewhere, cluster, state);

// nullopt: it is no job of a federation, or no cluster has a run of it that sacct shows to this user.
[[nodiscard]] std::optional<RanElsewhere> ran_elsewhere(std::uint32_t job, const ProgramRunner& run);

// `job`: "4711" or "4711_3".
[[nodiscard]] SlurmFacts slurm_facts(const std::string& job, const ProgramRunner& run);

// The value for the case that Slurm was not asked, with the reason.
[[nodiscard]] SlurmFacts slurm_not_asked(const std::string& why);

// Slurm's reasons why a job does not start, as sentences.

// The meaning of squeue's reason ("Priority", "Dependency", "AssocGrpCpuLimit", ...), without a full stop. An unknown
// reason is returned in Slurm's spelling.
[[nodiscard]] std::string reason_sentence(std::string_view reason);

}  // namespace shapley::ctl
