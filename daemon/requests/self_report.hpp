// What shapleyd says of its own work: commits, files, what fails. Members of `daemon` and `plugin` in the answer to
// `status` (docs/reference/protocol.md).
#pragma once

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include "daemon/books/commit_times.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

// {"count", "seconds", "last_s", "buckets": [[UPPER BOUND, how many up to it and above the one before], ...]}.
[[nodiscard]] nlohmann::json commits_object(const CommitTimes& times);

// {"ledger_bytes", "wal_bytes", "free_bytes"}: the ledger's file, SQLite's log beside it, and what the file system that
// holds them has left for shapleyd's user. null: cannot be said. Three system calls.
[[nodiscard]] nlohmann::json storage_object(const std::filesystem::path& ledger);

// {OPERATION: CAUSE, ...} of what fails at present and is tried again; empty: nothing.
[[nodiscard]] nlohmann::json failures_object(const Service& service);

}  // namespace shapley::daemon
