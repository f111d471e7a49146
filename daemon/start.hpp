// Starting the service. The books are made in a thread of their own; where that takes long (a large ledger whose
// checkpoint is lost, or does not remember far enough), the socket and the supervisor hear meanwhile how far they are.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "daemon/service.hpp"
#include "ledger/recovery/replay_watch.hpp"

namespace shapley::daemon {

// Runs in the other thread. It is to end, with whatever result, soon after the watch's `stop` is set.
using MakeService = std::function<Expected<std::unique_ptr<Service>>(ledger::ReplayWatch& watch)>;

struct StartOptions {
  std::string socket;
  // A start that takes no longer, or replays no more events, opens no socket of its own.
  std::chrono::milliseconds patience{1000};
  std::int64_t few_events = 100'000;
  std::function<void(const std::string& state)> notify;  // tells the supervisor, by the protocol of sd_notify(3)
};

// What `make` returned; nullptr if SIGTERM or SIGINT came while the socket was served. Errc::unavailable: there is no
// thread to be had.
[[nodiscard]] Expected<std::unique_ptr<Service>> start_service(const MakeService& make, const StartOptions& options);

}  // namespace shapley::daemon
