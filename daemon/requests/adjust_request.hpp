// Corrections of the books (ledger/adjustments): made, shown beforehand, and listed.
#pragma once

#include "daemon/requests/queries.hpp"

namespace shapley::daemon {

// Makes one, in one transaction. Its author is the user that the kernel named. On error nothing is booked.
[[nodiscard]] Answer adjust(Service& service, const Question& question);

// What it would change, by a process that only reads the ledger.
[[nodiscard]] Answer adjust_preview(const Service& service, const Question& question);

[[nodiscard]] Answer adjustments(const Service& service, const Question& question);

}  // namespace shapley::daemon
