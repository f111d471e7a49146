// How far something has come that takes minutes on a large ledger: for logs, supervisors and terminals.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace shapley::ledger {

struct Progress {
  std::string_view what;  // "events taken over"
  std::int64_t done = 0;
  std::int64_t all = 0;  // 0: not known
};

// Called a thousand times a second or less often, by the thread that works. Empty: nobody wants to know.
using OnProgress = std::function<void(const Progress&)>;

// Every so many events are worth a call.
inline constexpr std::int64_t k_events_between_calls = 10'000;

inline void tell(const OnProgress& listener, const Progress& progress) {
  if (listener) listener(progress);
}

}  // namespace shapley::ledger
