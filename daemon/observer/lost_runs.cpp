#include "daemon/observer/lost_runs.hpp"

#include <fmt/format.h>

namespace shapley::daemon {

LostRuns& LostRuns::operator+=(const LostRuns& other) {
  closed += other.closed;
  retracted += other.retracted;
  closed_work += other.closed_work;
  retracted_work += other.retracted_work;
  return *this;
}

LostRuns lose_run(RunWriter& run, Instant start, Instant last_look, Instant at) {
  if (start >= last_look - k_few_saves) {
    const Int128 work = run.work_until(last_look);
    run.retract(at);
    return {.retracted = 1, .retracted_work = work};
  }
  run.close(last_look, accounting::CloseReason::vanished);
  return {.closed = 1, .closed_work = run.work_until(last_look)};
}

accounting::StateLost loss_of(const LostRuns& lost, Instant at, Instant seen) {
  const auto seconds = [](Int128 work) { return static_cast<std::int64_t>(work / k_micro); };
  return {.at = at,
          .seen = seen,
          .closed = lost.closed,
          .closed_seconds = seconds(lost.closed_work),
          .retracted = lost.retracted,
          .retracted_seconds = seconds(lost.retracted_work)};
}

std::string what_becomes_of(const LostRuns& lost, Instant last_look) {
  return lost.closed > 0 ? fmt::format("is counted until {}, when it was seen last", last_look.value) : "is retracted";
}

}  // namespace shapley::daemon
