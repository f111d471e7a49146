// Slurm's texts and names about which nodes a job may use, copied within bounds: this runs under slurmctld's locks.
// Lists come out ascending, each name once, empty ones left out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shapley::client {

// What a job asks of its nodes, or a name: at most protocol::k_max_placement_text characters. NULL is the empty text.
[[nodiscard]] std::string placement_text(const char* text);

// The first protocol::k_max_node_names of a node's partitions or reservations.
[[nodiscard]] std::vector<std::string> node_names(const char* const* names, std::size_t count);

// A node's features, separated by commas: the first protocol::k_max_node_names among the first
// protocol::k_max_features_text characters; one that this bound cuts is left out. NULL is the empty text.
[[nodiscard]] std::vector<std::string> node_features(const char* text);

}  // namespace shapley::client
