// Requests about the past. They are answered by shapleyctl, which reads the ledger file in a process of its own, so
// that neither the feed nor other readers wait, and its memory is bounded and freed afterwards.
//
// The process gets one request on its standard input (ledger::Reading) and writes one reply, {"report": ...} or
// {"error": ...}, on its standard output. Its command line is fixed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "daemon/requests/queries.hpp"
#include "reports/requests.hpp"

namespace shapley::daemon {

// The report of `shapleyctl status --at`.
[[nodiscard]] Expected<Answer> status_at(Service& service, const ledger::StatusAtRequest& asked,
                                         const Context& context);
// The reports of `shapleyctl statement` and of `shapleyctl history`.
[[nodiscard]] Expected<Answer> statement(Service& service, const ledger::StatementRequest& asked,
                                         const Context& context);
[[nodiscard]] Expected<Answer> history(Service& service, const ledger::HistoryRequest& asked, const Context& context);
// The effect of an adjustment (ledger::preview_report).
[[nodiscard]] Expected<Answer> adjust_preview(Service& service, const ledger::AdjustRequest& asked,
                                              const Context& context);

// Checks the name of an estimator in a request. Errc::invalid_argument unless it is one, or empty.
[[nodiscard]] Expected<void> check_contribution(const std::string& name);

// The path of shapleyctl: beside this program, or in the directory bin beside its directory (/usr/sbin, /usr/bin).
[[nodiscard]] std::filesystem::path reading_program();

struct ChildLimits {
  std::chrono::milliseconds time{60'000};  // time after which it is killed
  std::size_t memory_bytes = 0;            // of address space (RLIMIT_AS); 0: no bound
  std::size_t output_bytes = 16UL << 20U;  // of standard output
  // If another thread sets it, the process is killed within 100 ms; null: not used.
  const std::atomic<bool>* ended = nullptr;
};

// The reply of the program. Any thread; blocks until the program has ended and is reaped. It has an environment with
// PATH and LC_ALL=C only, and is the first process that the kernel ends when memory runs out. Errors: the program's
// own; Errc::io when it cannot be started or ends without a reply; Errc::limit when it exceeded a limit or `ended` was
// set (the text says which).
[[nodiscard]] Expected<nlohmann::json> ask_program(const std::vector<std::string>& words, const nlohmann::json& request,
                                                   const ChildLimits& limits);

}  // namespace shapley::daemon
