#include "ctl/slurm/reasons.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace shapley::ctl {

namespace {

using Sentence = std::pair<std::string_view, std::string_view>;

// By Slurm's names of all releases from 22.05 on; those of limits by how they begin, below.
constexpr std::array k_sentences{
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
    Sentence{"DeadLine", "it cannot end before the deadline that it was given"},
    // What an ended job ended by.
    Sentence{"NonZeroExitCode", "its script ended with an exit code other than 0"},
    Sentence{"RaisedSignal", "a signal ended it"},
    Sentence{"TimeLimit", "it reached its time limit"},
    Sentence{"OutOfMemory", "it ran out of memory"},
    Sentence{"JobLaunchFailure", "it could not be launched: a file system, its program or its environment failed"},
    Sentence{"InactiveLimit", "it was inactive for longer than Slurm allows (InactiveLimit)"},
    Sentence{"SystemFailure", "Slurm, a network or a file system failed"},
};

// What slurmctld writes out in words instead, by how it begins.
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

std::string limit_sentence(std::string_view word, const std::string& whose) {
  // "AssocMaxCpuPerJobLimit", "QOSMaxMemoryPerNode": of each job by itself.
  if (word.find("PerJob") != std::string_view::npos || word.find("PerNode") != std::string_view::npos)
    return "it asks for more than " + whose + " may have in one job; it does not start before it or the limit changes";
  return "a limit of " + whose + " is reached; ranks do not matter until others of it end";
}

}  // namespace

std::string reason_sentence(std::string_view reason) {
  // "ReqNodeNotAvail, UnavailableNodes:n1", "RaisedSignal:9(Killed)" and the like.
  const std::string_view word = reason.substr(0, reason.find_first_of(",(:"));
  const auto known = std::ranges::find(k_sentences, word, &Sentence::first);
  if (known != k_sentences.end()) return std::string(known->second);
  const auto text = std::ranges::find_if(k_texts, [&](const Sentence& s) { return reason.starts_with(s.first); });
  if (text != k_texts.end()) return std::string(text->second);
  if (word.starts_with("QOSMin")) return "it asks for less than its QOS demands of a job";
  if (word.starts_with("QOS")) return limit_sentence(word, "its QOS");
  if (starts_with_any(word, {"Assoc", "Max", "Grp"})) return limit_sentence(word, "its account or user");
  if (word.starts_with("Node")) return "the nodes that it needs are not ready";
  return "Slurm calls its reason so";
}

}  // namespace shapley::ctl
