// What a job is charged on a node: the key `charge` of the configuration (request/charging.hpp).
#pragma once

#include <cstdint>

namespace shapley {

// The numbers travel in messages (protocol/messages.hpp): a new kind comes last.
enum class Charge : std::uint8_t { dominant, cpu, weights, billing };

}  // namespace shapley
