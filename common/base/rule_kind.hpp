// What a rule that says whose a job is looks at: the job's account, partition or QOS, or who submitted it.
#pragma once

#include <cstdint>

namespace shapley {

// The numbers travel in messages (protocol/messages.hpp): a new kind comes last.
enum class RuleKind : std::uint8_t { account, partition, qos, user, group };

}  // namespace shapley
