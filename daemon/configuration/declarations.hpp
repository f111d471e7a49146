// What a configuration adds to what the ledger already says: declarations of organizations, periods and ownership.
//
// The past is not rewritten: but for the very first start, statements hold from the instant of the load on. A date in
// the file that lies before it and that the ledger does not know is applied from now on, and said so. Pure.
#pragma once

#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/books/books.hpp"

namespace shapley::daemon {

struct Declarations {
  std::vector<accounting::Event> events;
  std::vector<std::string> warnings;
};

// Events in the order in which they are to be appended; none when the ledger says the same already. `now` is moved past
// the last declaration on record where two would fall into one second. On the first start (the ledger has no
// declaration) ownership is stated from the beginning of time, so that all dates of the file hold.
[[nodiscard]] Declarations declare(const config::Configuration& configuration, const std::string& text,
                                   const Declared& declared, Instant now);

}  // namespace shapley::daemon
