// Adjustments as a statement lists them: with what each of them changed, found in the facts right behind it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

struct PastAdjustment {
  accounting::AdjustmentMade made;
  // It changed amounts of [from, to) and of no other time. What it gave to others and went on when it was made has no
  // end here, and two rows that were added up are so for all times.
  Instant from = k_beginning_of_time;
  Instant to = k_end_of_time;
  // Of the runs that it gave to others: charged processors times seconds, up to when it was made. nullopt: of none.
  std::optional<CpuTime> work = {};

  // Whether a statement of [since, until) names it: it was made then, or later and changed what the statement says. One
  // that was made at `until` belongs to the books of that instant, which the statement closes with.
  [[nodiscard]] bool concerns(Instant since, Instant until) const;
  [[nodiscard]] bool made_after(Instant until) const { return made.at > until; }
};

// REQUIRES: note() is told every event of the ledger from some event on, in the order of recording.
class AdjustmentReader {
 public:
  void note(const accounting::Event& event);
  [[nodiscard]] std::vector<PastAdjustment> take() && { return std::move(all_); }

 private:
  struct OpenRun {
    Instant begin;
    MicroProcessors processors;
  };
  void note_fact(const accounting::Event& fact);
  void reach(Instant from, Instant to);
  void end_facts();

  std::vector<PastAdjustment> all_;
  std::int64_t facts_left_ = 0;  // of the last one
  std::optional<std::pair<Instant, Instant>> reached_;
  std::map<accounting::SegmentKey, OpenRun> open_;  // stated anew, without an end so far
};

}  // namespace shapley::ledger
