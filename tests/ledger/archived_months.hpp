// Events of a small cluster whose books are closed monthly, with everything that crosses the end of a month.
#pragma once

#include <filesystem>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger::testing {

// 00:00 UTC of the first day of October 2026, November, ...; REQUIRES: 0 <= month <= 5.
[[nodiscard]] Instant month_begin(int month);

// An event and when shapleyd would have stored it.
struct Told {
  Instant received;
  accounting::Event event;
};

// What a configuration declares before the first job: organizations, nodes and owners, monthly periods.
[[nodiscard]] std::vector<Told> declarations_at(Instant at);

// From the begin of the month on: runs and waits of three organizations on shared nodes, some of them across its end,
// one across two months; suspended and retracted ones, nodes that fail, an owner that changes, placements.
[[nodiscard]] std::vector<Told> events_of_month(int month, std::uint32_t jobs = 60);

// Appends them as they were received, hour by hour, and records the days that end meanwhile.
void append_received(Ledger& ledger, std::vector<Told> told);

// A ledger of October up to February, the last one of which is not over, and of `more`.
void write_months(const std::filesystem::path& file, int months = 5, std::uint32_t jobs = 60,
                  const std::vector<Told>& more = {});

}  // namespace shapley::ledger::testing
