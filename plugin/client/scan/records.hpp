// Converts the shim's C records to the protocol's, member by member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/client/requests/node_sets.hpp"
#include "plugin/client/shapley_client.h"
#include "protocol/messages.hpp"
#include "request/charging.hpp"

namespace shapley::client {

// A C string of the shim's, or an empty text for NULL.
[[nodiscard]] inline std::string text_or_empty(const char* value) {
  return value == nullptr ? std::string() : std::string(value);
}

[[nodiscard]] protocol::JobUpdate to_record(const shapley_job_t& job);
[[nodiscard]] protocol::NodeRecord to_record(const shapley_node_t& node);
// Of a waiting job; what has started needs nothing.
[[nodiscard]] request::LeastPart least_part(const shapley_job_t& job);
[[nodiscard]] NodeFacts facts_of(const shapley_node_t& node);
[[nodiscard]] protocol::Privacy to_record(const shapley_privacy_t& privacy);

// Approximate memory of a record, in bytes: accurate enough to bound queues.
[[nodiscard]] std::size_t approximate_bytes(const protocol::JobUpdate& job);
[[nodiscard]] std::size_t approximate_bytes(const protocol::NodeRecord& node);
[[nodiscard]] std::size_t approximate_bytes(const protocol::Privacy& privacy);

// Reading of Slurm's texts about generic resources (GRES). Entries are separated by commas outside of parentheses:
//
//   gpu:tesla:2(IDX:0-1),license(CNT:4)    what a run was given of a node
//   gpu:tesla:4(S:0-1),bandwidth:4G        what a node has
//   gres:gpu:2 or gres/gpu:tesla:2         what a job asks for (the former until 23.02, the latter from 23.11 on)
//
// That is NAME[:TYPE][:COUNT], with a count of 1 if the text has none. Results are named as TRES are, without the type
// ("gres/gpu"), in the order of their first appearance, each once, types added up; the types of what a job asks for, or
// a node has, are named by themselves ("gres/gpu:tesla"; least_part, facts_of). Entries that are not counted
// (no_consume), zero or malformed yield nothing; so does a text beyond k_max_gres_text. This runs under slurmctld's
// locks: time and memory are bounded by these two.

inline constexpr std::size_t k_max_gres_text = 4096;  // characters
inline constexpr std::size_t k_max_gres_kinds = 16;   // the first of a text; more are left out
// A count, and a sum of counts, is at most this; an entry with more is malformed.
inline constexpr std::uint64_t k_max_gres_count = 1ULL << 60U;

// What a run got of a node, or what a node has. NULL is the empty text.
[[nodiscard]] std::vector<protocol::Tres> read_gres(const char* text);

// The request of one task of a waiting job, over its `nodes` nodes. `tres`: its requested TRES. Slurm's own count is
// used for a resource that it tracks; otherwise the texts: if several of them name it, the largest, because they then
// express the same request in different ways. A request per socket counts one socket of each node.
[[nodiscard]] std::vector<protocol::Tres> requested_gres(const shapley_gres_request_t& request, std::uint32_t nodes,
                                                         const std::vector<protocol::Tres>& tres);

// Slurm's texts and names about the nodes that a job may use, copied within bounds: this runs under slurmctld's locks.
// Lists ascend, each name once, without empty ones.

// A request about nodes, or a name: at most protocol::k_max_placement_text characters. NULL is the empty text.
[[nodiscard]] std::string placement_text(const char* text);

// The first protocol::k_max_node_names of a node's partitions or reservations.
[[nodiscard]] std::vector<std::string> node_names(const char* const* names, std::size_t count);

// A node's features, separated by commas: the first protocol::k_max_node_names among the first
// protocol::k_max_features_text characters; one that this bound cuts is left out. NULL is the empty text.
[[nodiscard]] std::vector<std::string> node_features(const char* text);

}  // namespace shapley::client
