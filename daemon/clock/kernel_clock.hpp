// The kernel's clocks.
#pragma once

#include <string>

#include "daemon/clock/trusted_clock.hpp"

namespace shapley::daemon {

// Wall clock and time since boot are read one after the other: a step between them, or a pause of a second, looks like
// a step of the clock by as much until the next reading.
[[nodiscard]] ClockReading read_kernel_clock();

// Names this boot of the host; empty: the kernel does not tell.
[[nodiscard]] std::string boot_name();

}  // namespace shapley::daemon
