// Every key that the configuration file may hold. Parser, reference page and example file are tested against these
// lists.
#pragma once

#include <array>
#include <string_view>

namespace shapley::config {

inline constexpr std::array<std::string_view, 14> k_file_keys = {
    "ledger", "socket", "signing_key", "slurm_user", "contribution",        "order",     "rank_weight",
    "mode",   "period", "stale_after", "weights",    "within_organization", "workflows", "organizations",
};

inline constexpr std::array<std::string_view, 10> k_organization_keys = {
    "name", "title", "accounts", "partitions", "qos", "users", "groups", "within_organization", "workflows", "nodes",
};

// Of `workflows`, at the file's top level and in an organization.
inline constexpr std::array<std::string_view, 6> k_workflow_keys = {
    "workflow_key", "activity_key", "name_delimiter", "mode", "relative_duration", "threshold",
};

// A claim in its long form: {nodes: "gpu[1-2]", share: 1/3, from: 2026-01-01, until: 2030-01-01}.
inline constexpr std::array<std::string_view, 4> k_claim_keys = {"nodes", "share", "from", "until"};

}  // namespace shapley::config
