// When nobody looked at slurmctld's records: told by what a feeder says of itself (Hello), by when it was connected and
// by the observations that came. Single-threaded; pure.
#pragma once

#include <optional>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"

namespace shapley::daemon {

// A feeder's account of itself: members of protocol::Hello with the same names; of the beginning of time: not said.
struct Observing {
  Instant since = k_beginning_of_time;           // observing_since
  Instant before = k_beginning_of_time;          // observed_before
  Instant controller_ran = k_beginning_of_time;  // controller_ran_at
  bool dropped = false;
};

class ObservationWatch {
 public:
  // Of a process that begins: until when the ledger shows that slurmctld was observed (nullopt: it never was), and the
  // gaps on record.
  ObservationWatch(std::optional<Instant> last_observed, const std::vector<accounting::ObservationGap>& known);

  void begin_session(const Observing& observing);
  // The feeder is connected, and nothing of it is unread.
  void note_connected(Instant now);
  // A wrong clock made this session's messages: its times cannot be compared.
  void distrust() { told_ = true; }
  // An observation of `at` was read. The value: the gap that it ends, once a session at most.
  [[nodiscard]] std::optional<accounting::ObservationGap> note_read(Instant at);

  // The gap that this session ended; nullopt: none.
  [[nodiscard]] const std::optional<accounting::ObservationGap>& gap() const { return gap_; }

 private:
  [[nodiscard]] std::optional<accounting::ObservationGap> find_gap() const;

  std::optional<Instant> observed_until_;
  Observing observing_;
  bool told_ = true;  // this session's gap, if there was one; true: there is nothing to tell
  std::optional<accounting::ObservationGap> gap_;
};

}  // namespace shapley::daemon
