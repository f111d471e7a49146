// From the shim's C records to the protocol's, member by member.
#pragma once

#include <cstddef>
#include <string>

#include "plugin/client/shapley_client.h"
#include "protocol/messages.hpp"

namespace shapley::client {

// A C string of the shim's, which may be none.
[[nodiscard]] inline std::string text_or_empty(const char* value) {
  return value == nullptr ? std::string() : std::string(value);
}

[[nodiscard]] protocol::JobRecord to_record(const shapley_job_t& job);
[[nodiscard]] protocol::NodeRecord to_record(const shapley_node_t& node);
[[nodiscard]] protocol::Privacy to_record(const shapley_privacy_t& privacy);

// Memory that a record holds, roughly: enough to bound queues with.
[[nodiscard]] std::size_t approximate_bytes(const protocol::JobRecord& job);
[[nodiscard]] std::size_t approximate_bytes(const protocol::NodeRecord& node);
[[nodiscard]] std::size_t approximate_bytes(const protocol::Privacy& privacy);

}  // namespace shapley::client
