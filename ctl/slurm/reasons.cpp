#include "ctl/slurm/reasons.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace shapley::ctl {

namespace {

using Sentence = std::pair<std::string_view, std::string_view>;

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
    Sentence{"PartitionDown", "its partition is down"},
    Sentence{"PartitionInactive", "its partition is inactive"},
    Sentence{"PartitionNodeLimit", "it asks for more or fewer nodes than its partition allows"},
    Sentence{"PartitionTimeLimit", "it asks for more time than its partition allows"},
    Sentence{"JobArrayTaskLimit", "as many tasks of its array run as the array allows at once"},
    Sentence{"Licenses", "it waits for licenses"},
    Sentence{"BadConstraints", "no node fits what it asks for"},
    Sentence{"NodeDown", "a node that it needs is down"},
    Sentence{"InvalidAccount", "its account is not valid"},
    Sentence{"InvalidQOS", "its QOS is not valid"},
    Sentence{"Cleaning", "it was requeued and its last run is still being cleaned up"},
    Sentence{"FrontEndDown", "no front end is up"},
};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

}  // namespace

std::string reason_sentence(std::string_view reason) {
  // "ReqNodeNotAvail, UnavailableNodes:n1" and the like.
  const std::string_view word = reason.substr(0, reason.find_first_of(",("));
  const auto known = std::ranges::find(k_sentences, word, &Sentence::first);
  if (known != k_sentences.end()) return std::string(known->second);
  if (word.starts_with("QOS")) return "a limit of its QOS is reached; ranks do not matter until others of it end";
  if (starts_with_any(word, {"Assoc", "Max", "Grp"})) {
    return "a limit of its account or user is reached; ranks do not matter until others of it end";
  }
  if (starts_with_any(word, {"Node", "Prolog"})) return "the nodes that it needs are not ready";
  return "Slurm calls its reason so";
}

}  // namespace shapley::ctl
