#include "ctl/slurm/job_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

namespace {

using Cells = std::vector<std::string>;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::optional<std::string> known_text(const std::string& text) {
  return text.empty() || text == "N/A" || text == "(null)" ? std::nullopt : std::optional(text);
}

// A time as squeue prints it where TZ is UTC (run_program.hpp).
std::optional<std::string> utc_text(const std::string& text) {
  const auto instant = parse_instant(text);
  return instant ? std::optional(format_instant(*instant)) : known_text(text);
}

// Rows with this number of cells; others are left out.
std::vector<Cells> rows_of(const std::string& output, std::size_t size) {
  std::vector<Cells> rows;
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() != size) continue;
    Cells& row = rows.emplace_back();
    for (const std::string_view cell : cells) row.emplace_back(trimmed(cell));
  }
  return rows;
}

// For the id of an array squeue lists every task that it knows; the pending rest is taken.
std::optional<SlurmJob> chosen_job(const std::vector<Cells>& rows) {
  const Cells* chosen = nullptr;
  for (const Cells& row : rows) {
    if (chosen == nullptr || ((*chosen)[1] != "PENDING" && row[1] == "PENDING")) chosen = &row;
  }
  if (chosen == nullptr) return std::nullopt;
  const Cells& row = *chosen;
  return SlurmJob{.id = row[0],
                  .state = row[1],
                  .priority = number_in(row[2]),
                  .reason = known_text(row[3]),
                  .dependency = known_text(row[4]),
                  .partition = row[5],
                  .qos = row[6],
                  .nice = number_in(row[7]),
                  .reservation = known_text(row[8]),
                  .start = utc_text(row[9])};
}

std::optional<std::vector<SlurmParts>> parts_of(const Expected<std::string>& output) {
  if (!output) return std::nullopt;
  constexpr std::size_t k_cells = 12;
  const std::vector<Cells> rows = rows_of(*output, k_cells);
  std::vector<SlurmParts> parts;
  for (const Cells& row : rows) {
    if (row[0] != rows[0][0]) continue;  // the first line of an array, because all of its tasks have the same parts
    parts.push_back({.partition = row[1],
                     .priority = number_in(row[2]),
                     .site = number_in(row[3]),
                     .age = number_in(row[4]),
                     .assoc = number_in(row[5]),
                     .fairshare = number_in(row[6]),
                     .jobsize = number_in(row[7]),
                     .part_weight = number_in(row[8]),
                     .qos = number_in(row[9]),
                     .nice = number_in(row[10]),
                     .tres = known_text(row[11])});
  }
  return parts;
}

// "cpu=1000,gres/gpu=5000": the sum of the numbers, as the plugin computes it.
double weights_sum(std::string_view text) {
  double sum = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string number(equals == std::string_view::npos ? "0" : part.substr(equals + 1));
    const double weight = std::strtod(number.c_str(), nullptr);
    if (std::isfinite(weight) && weight > 0) sum += weight;
  }
  return sum;
}

std::optional<SlurmWeights> weights_of(const Expected<std::string>& output) {
  if (!output) return std::nullopt;
  double others = 0;
  SlurmWeights weights;
  for (const std::string_view line : split(*output, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string value(trimmed(line.substr(equals + 1)));
    if (key == "PriorityType") weights.type = value;
    if (key == "PriorityFlags" && value.find("NO_NORMAL") != std::string::npos) weights.bounded = false;
    if (key == "PriorityWeightTRES") {
      others += weights_sum(value);
    } else if (key.starts_with("PriorityWeight")) {
      others += std::strtod(value.c_str(), nullptr);
    }
  }
  if (weights.type.empty()) return std::nullopt;
  weights.others_max = static_cast<std::int64_t>(std::ceil(others));
  return weights;
}

// Lines of "PartitionName=main ... PriorityTier=1 ...".
std::optional<SlurmTiers> tiers_of(const Expected<std::string>& output) {
  if (!output) return std::nullopt;
  SlurmTiers tiers;
  for (const std::string_view line : split(*output, '\n')) {
    std::string name;
    for (const std::string_view word : split(trimmed(line), ' ')) {
      if (word.starts_with("PartitionName=")) name = word.substr(word.find('=') + 1);
      if (word.starts_with("PriorityTier=") && !name.empty()) tiers[name] = number_in(word.substr(word.find('=') + 1));
    }
  }
  return tiers;
}

}  // namespace

std::optional<RanElsewhere> ran_elsewhere(std::uint32_t job, const ProgramRunner& run) {
  // The number of a federated job has the cluster where it was submitted in its highest six bits.
  constexpr std::uint32_t k_first_federated = std::uint32_t{1} << 26U;
  if (!run || job < k_first_federated) return std::nullopt;
  const auto output = run({"sacct", "--federation", "--allocations", "--noheader", "--parsable2", "--duplicates",
                           "--jobs=" + std::to_string(job), "--format=Cluster,State,Start"});
  const std::string own = config_value(run({"scontrol", "show", "config"}).value_or(""), "ClusterName");
  std::optional<RanElsewhere> last;
  std::string start;
  constexpr std::size_t k_cells = 3;
  for (const Cells& row : rows_of(output.value_or(""), k_cells)) {
    const bool has_run = !row[2].empty() && row[2] != "Unknown" && row[2] != "None" && row[1] != "REVOKED";
    if (!has_run || row[2] < start || row[0] == own) continue;
    start = row[2];
    last = RanElsewhere{.cluster = row[0], .state = row[1].substr(0, row[1].find(' '))};
  }
  return last;
}

SlurmFacts slurm_not_asked(const std::string& why) {
  return {.asked = false, .why = why};
}

SlurmFacts slurm_facts(const std::string& job, const ProgramRunner& run) {
  if (!run) return slurm_not_asked("this program runs no others here");
  // --local: a federation may show the jobs of all its clusters (fed_display), and a job that waits on several of them
  // has another priority on each.
  const auto queue = run(
      {"squeue", "--noheader", "--local", "--states=all", "--jobs=" + job, "--format=%i|%T|%Q|%r|%E|%P|%q|%y|%v|%S"});
  // For a job that it does not know, squeue says so and fails; that counts as an answer.
  const bool is_unknown = !queue && queue.error().what.find("Invalid job id") != std::string::npos;
  if (!queue && !is_unknown) return slurm_not_asked(queue.error().what);
  constexpr std::size_t k_cells = 10;
  SlurmFacts facts{.asked = true};
  facts.job.emplace(chosen_job(rows_of(queue.value_or(""), k_cells)));
  facts.parts.emplace(parts_of(run({"sprio", "--noheader", "--local", "--jobs=" + job.substr(0, job.find('_')),
                                    "--format=%i|%r|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T"})));
  facts.weights.emplace(weights_of(run({"scontrol", "show", "config"})));
  facts.tiers.emplace(tiers_of(run({"scontrol", "-a", "-o", "show", "partition"})));
  return facts;
}

namespace {

using Sentence = std::pair<std::string_view, std::string_view>;

// Slurm's names of reasons in all releases from 22.05 on; those of limits are recognized by their beginnings, below.
constexpr std::array k_waits{
    Sentence{"None", "Slurm has not tried it yet"},
    Sentence{"Priority", "jobs of a higher priority are before it"},
    Sentence{"Resources", "it waits until enough processors, memory and other resources are free"},
    Sentence{"Dependency", "it waits for other jobs that it depends on; ranks do not matter until these are done"},
    Sentence{"DependencyNeverSatisfied",
             "a job that it depends on ended otherwise than it asks for: it will never start"},
    Sentence{"JobHeldUser", "its user holds it (scontrol release lets it go)"},
    Sentence{"JobHeldAdmin", "an administrator holds it"},
    Sentence{"JobHoldMaxRequeue", "it is held, for it was requeued too often"},
    Sentence{"BeginTime", "it asked not to begin before a certain time, or was requeued a moment ago"},
    Sentence{"ReqNodeNotAvail", "a node that it needs is down, drained or reserved"},
    Sentence{"Reservation", "it waits for its reservation to begin"},
    Sentence{"ReservationDeleted", "its reservation is gone"},
    Sentence{"ReservationInvalid", "its reservation is not valid"},
    Sentence{"PartitionDown", "its partition is down"},
    Sentence{"PartitionInactive", "its partition is inactive"},
    Sentence{"PartitionNodeLimit", "it asks for more or fewer nodes than its partition allows"},
    Sentence{"PartitionTimeLimit", "it asks for more time than its partition allows"},
    Sentence{"PartitionConfig",
             "it asks for something that the limits of its partition do not allow (scontrol show partition)"},
    Sentence{"JobArrayTaskLimit", "as many tasks of its array run as the array allows at once"},
    Sentence{"Licenses", "it waits for licenses"},
    Sentence{"BadConstraints", "no node fits what it asks for"},
    Sentence{"Constraints", "what it asks for cannot be had at present"},
    Sentence{"NodeDown", "a node that it needs is down"},
    Sentence{"AccountNotAllowed", "its account may not use its partition"},
    Sentence{"QOSNotAllowed", "its QOS may not be used in its partition or by its account"},
    Sentence{"InvalidAccount", "its account is not valid"},
    Sentence{"InvalidQOS", "its QOS is not valid"},
    Sentence{"AccountingPolicy", "a limit in Slurm's accounting is reached"},
    Sentence{"MaxMemPerLimit", "it asks for more memory per CPU or node than is allowed"},
    Sentence{"MaxPoweredUpNodes", "as many nodes are powered up as may be at once"},
    Sentence{"Cleaning", "it was requeued and its last run is still being cleaned up"},
    Sentence{"Prolog", "the program that prepares its nodes still runs"},
    Sentence{"SchedDefer", "it asks to start at once, which SchedulerParameters=defer does not allow"},
    Sentence{"BurstBufferResources", "it waits for room in a burst buffer"},
    Sentence{"BurstBufferStageIn", "its data are being copied to a burst buffer"},
    Sentence{"BurstBufferOperation", "an operation of its burst buffer failed"},
    Sentence{"BlockFreeAction", "Slurm waits until a block of nodes is free"},
    Sentence{"BlockMaxError", "a block of nodes had too many errors"},
    Sentence{"FedJobLock", "the clusters of its federation have not agreed yet which of them runs it"},
    Sentence{"FrontEndDown", "no front end is up"},
    Sentence{"MpiPortsBusy", "it waits for ports for MPI"},
    Sentence{"NvidiaImexChannels", "it waits for an NVIDIA IMEX channel"},
    Sentence{"PowerNotAvail", "it waits until enough electrical power is available"},
    Sentence{"PowerReserved", "the electrical power that it needs is reserved"},
};

// The causes by which jobs ended.
constexpr std::array k_ends{
    Sentence{"DeadLine", "it cannot end before the deadline that it was given"},
    Sentence{"NonZeroExitCode", "its script ended with an exit code other than 0"},
    Sentence{"RaisedSignal", "a signal ended it"},
    Sentence{"TimeLimit", "it reached its time limit"},
    Sentence{"OutOfMemory", "it ran out of memory"},
    Sentence{"JobLaunchFailure", "it could not be launched: a file system, its program or its environment failed"},
    Sentence{"InactiveLimit", "it was inactive for longer than Slurm allows (InactiveLimit)"},
    Sentence{"SystemFailure", "Slurm, a network or a file system failed"},
};

// Reasons that slurmctld writes as text, by their beginnings.
constexpr std::array k_texts{
    Sentence{"launch failed requeued held", "its launch failed; it was requeued and is held (scontrol release)"},
    Sentence{"launch failure limit exceeded",
             "its launch failed too often; it was requeued and is held (scontrol release)"},
    Sentence{"user env retrieval failed",
             "its user's environment could not be read; it was requeued and is held (scontrol release)"},
    Sentence{"job requeued in held state", "it was requeued and is held (scontrol release)"},
    Sentence{"job requeued in special exit state",
             "it ended with a special exit code, was requeued and is held (scontrol release)"},
    Sentence{"Nodes required for job are DOWN",
             "nodes that it needs are down, drained or kept for a partition of a "
             "higher tier"},
    Sentence{"uid ", "its user may not use its partition (AllowGroups)"},
    Sentence{"Job is at or exceeds QOS", "a limit of its QOS is reached"},
    Sentence{"Job is at or exceeds association", "a limit of its account or user is reached"},
    Sentence{"Reservation ", "its reservation has ended, is gone or is not valid"},
    Sentence{"burst_buffer", "its burst buffer is not ready, or an operation of it failed"},
    Sentence{"Burst buffer", "an operation of its burst buffer failed"},
    Sentence{"Could not find burst buffer", "an operation of its burst buffer failed"},
    Sentence{"Error managing persistent burst buffers", "an operation of its burst buffer failed"},
};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// Of "ReqNodeNotAvail, UnavailableNodes:n1", "RaisedSignal:9(Killed)" and the like.
std::string_view word_of(std::string_view reason) {
  return reason.substr(0, reason.find_first_of(",(:"));
}

std::string limit_sentence(std::string_view word, const std::string& whose) {
  // "AssocMaxCpuPerJobLimit", "QOSMaxMemoryPerNode": limits of each single job.
  if (word.find("PerJob") != std::string_view::npos || word.find("PerNode") != std::string_view::npos)
    return fmt::format("it asks for more than {} may have in one job; it does not start before it or the limit changes",
                       whose);
  return fmt::format("a limit of {} is reached; ranks do not matter until others of it end", whose);
}

}  // namespace

bool SlurmJob::is_over() const {
  // Slurm's names of the states that end a job; REVOKED: another cluster of its federation has it.
  constexpr std::array<std::string_view, 10> k_over{"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",  "FAILED",
                                                    "NODE_FAIL", "REVOKED",   "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"};
  return std::ranges::find(k_over, state) != k_over.end();
}

std::optional<std::string> SlurmJob::reported_reason() const {
  if (!reason || *reason == "None") return std::nullopt;
  // Slurm leaves in the record why a job waited when it ends.
  if (is_over() && std::ranges::find(k_ends, word_of(*reason), &Sentence::first) == k_ends.end()) return std::nullopt;
  return reason;
}

std::string reason_sentence(std::string_view reason) {
  const std::string_view word = word_of(reason);
  for (const std::span<const Sentence> sentences :
       {std::span<const Sentence>(k_waits), std::span<const Sentence>(k_ends)}) {
    const auto known = std::ranges::find(sentences, word, &Sentence::first);
    if (known != sentences.end()) return std::string(known->second);
  }
  const auto text = std::ranges::find_if(k_texts, [&](const Sentence& s) { return reason.starts_with(s.first); });
  if (text != k_texts.end()) return std::string(text->second);
  if (word.starts_with("QOSMin")) return "it asks for less than its QOS demands of a job";
  if (word.starts_with("QOS")) return limit_sentence(word, "its QOS");
  if (starts_with_any(word, {"Assoc", "Max", "Grp"})) return limit_sentence(word, "its account or user");
  if (word.starts_with("Node")) return "the nodes that it needs are not ready";
  return "Slurm calls its reason so";
}

}  // namespace shapley::ctl
