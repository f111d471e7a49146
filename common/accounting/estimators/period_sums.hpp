// Sums of work by organization and period: psi, and every contribution that is made of parts of runs.
//
// Adding and removing are exact inverses and commute, so neither the order of events nor their repetition can leave a
// trace. In a closed period work that goes on to the period's end or beyond counts as running: the period's sums are
// evaluated at its end, where both forms agree, and their running processors are those of its last second.
// Single-threaded; the caller owns it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.hpp"
#include "game/utility.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

// Processors held during [begin, end).
struct Work {
  ProcessorMillionths processors;
  Instant begin;
  Instant end;  // exclusive; k_end_of_time while it goes on
};

class PeriodSums {
 public:
  struct Period {
    Instant begin;
    Instant end;
    std::vector<game::UtilitySum> sums;  // by OrgId
  };

  PeriodSums() : periods_{{k_beginning_of_time, k_end_of_time, {}}} {}

  void resize(std::size_t organizations);  // more of them; those that were keep their sums
  void fold(int sign, OrgId organization, const Work& work);

  // Ends the current period at `boundary`; what runs then goes on in the next one. REQUIRES: all work so far begins
  // before `boundary`, and ends at or before it if it ends.
  void close_period(Instant boundary);
  // Replaces the boundaries. REQUIRES: work at instants after the first boundary that changes is all removed.
  void set_boundaries(const std::vector<Instant>& boundaries);

  [[nodiscard]] const std::vector<Period>& periods() const { return periods_; }  // ascending, gapless; the last is open

  // Lines of a checkpoint. Reading adds to the sums; sums that do not fit the periods are a fault of the reader.
  void save(TextWriter& out) const;
  void load(TextReader& in);

 private:
  std::vector<Period> periods_;
};

}  // namespace shapley::accounting
