// Slurm's own facts about a job: from squeue (state, priority, reason, dependency), sprio (the parts of the priority)
// and scontrol (the weights and the partitions' tiers). Their output is requested in fixed columns without names that
// users choose, so no text of a job can be taken for another column.
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
};
constexpr auto description_of(std::type_identity<SlurmJob>) {
  return describe(member("id", &SlurmJob::id), member("state", &SlurmJob::state),
                  member("priority", &SlurmJob::priority), member("reason", &SlurmJob::reason),
                  member("dependency", &SlurmJob::dependency), member("partition", &SlurmJob::partition),
                  member("qos", &SlurmJob::qos), member("nice", &SlurmJob::nice),
                  member("reservation", &SlurmJob::reservation), member("start", &SlurmJob::start));
}

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
constexpr auto description_of(std::type_identity<SlurmParts>) {
  return describe(member("partition", &SlurmParts::partition), member("priority", &SlurmParts::priority),
                  member("site", &SlurmParts::site), member("age", &SlurmParts::age),
                  member("assoc", &SlurmParts::assoc), member("fairshare", &SlurmParts::fairshare),
                  member("jobsize", &SlurmParts::jobsize), member("part_weight", &SlurmParts::part_weight),
                  member("qos", &SlurmParts::qos), member("nice", &SlurmParts::nice),
                  member("tres", &SlurmParts::tres));
}

struct SlurmWeights {
  std::string type = {};
  bool bounded = true;
  std::int64_t others_max = 0;  // the greatest sum of a job's other factors
};
constexpr auto description_of(std::type_identity<SlurmWeights>) {
  return describe(member("type", &SlurmWeights::type), member("bounded", &SlurmWeights::bounded),
                  member("others_max", &SlurmWeights::others_max));
}

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
constexpr auto description_of(std::type_identity<SlurmFacts>) {
  return describe(member("asked", &SlurmFacts::asked), supplement("why", &SlurmFacts::why),
                  supplement("job", &SlurmFacts::job), supplement("parts", &SlurmFacts::parts),
                  supplement("weights", &SlurmFacts::weights), supplement("tiers", &SlurmFacts::tiers));
}

// `job`: "4711" or "4711_3".
[[nodiscard]] SlurmFacts slurm_facts(const std::string& job, const ProgramRunner& run);

// The value for the case that Slurm was not asked, with the reason.
[[nodiscard]] SlurmFacts slurm_not_asked(const std::string& why);

// Slurm's reasons why a job does not start, as sentences.

// The meaning of squeue's reason ("Priority", "Dependency", "AssocGrpCpuLimit", ...), without a full stop. An unknown
// reason is returned in Slurm's spelling.
[[nodiscard]] std::string reason_sentence(std::string_view reason);

}  // namespace shapley::ctl
