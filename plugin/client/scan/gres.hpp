// Slurm's texts about generic resources (GRES), read. Entries are separated by commas outside of parentheses:
//
//   gpu:tesla:2(IDX:0-1),license(CNT:4)    what a run was given of a node
//   gpu:tesla:4(S:0-1),bandwidth:4G        what a node has
//   gres:gpu:2 or gres/gpu:tesla:2         what a job asks for (the former until 23.02, the latter from 23.11 on)
//
// That is NAME[:TYPE][:COUNT], a count of 1 where none is told. Results are named as TRES are, without the type
// ("gres/gpu"), in the order of their first appearance, each once, types added up. What is not counted (no_consume),
// zero or malformed yields nothing; so does a text beyond k_max_gres_text. This runs under slurmctld's locks: time and
// memory are bounded by these two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/client/shapley_client.h"
#include "protocol/messages.hpp"

namespace shapley::client {

inline constexpr std::size_t k_max_gres_text = 4096;  // characters
inline constexpr std::size_t k_max_gres_kinds = 16;   // the first of a text; more are left out
// A count, and a sum of counts, is at most this; an entry with more is malformed.
inline constexpr std::uint64_t k_max_gres_count = 1ULL << 60U;

// What a run was given of a node, or what a node has. NULL is the empty text.
[[nodiscard]] std::vector<protocol::Tres> read_gres(const char* text);

// What one task of a waiting job asks for, over its `nodes` nodes. `tres`: its requested TRES. Where Slurm tracks a
// resource its own count there stands; else what the texts say: of one that several of them name the largest, because
// they then say the same in different ways. A request for each socket counts one socket of each node.
[[nodiscard]] std::vector<protocol::Tres> requested_gres(const shapley_gres_request_t& request, std::uint32_t nodes,
                                                         const std::vector<protocol::Tres>& tres);

}  // namespace shapley::client
