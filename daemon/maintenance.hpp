// Periodic work of shapleyd: rebuilds of the books, checkpoints, signed heads, the mean residual run time, and dropping
// old records. Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/configuration/declarations.hpp"
#include "daemon/configuration/site.hpp"

namespace shapley::daemon {

// Operations that fail at present and are tried again: operation -> cause.
class Failures {
 public:
  // Returns whether the operation succeeded. A failure is logged once, until the operation succeeds or fails for
  // another reason.
  bool note(std::string_view operation, const Expected<void>& result, std::string_view again = "every second");
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& present() const { return causes_; }

 private:
  std::map<std::string, std::string, std::less<>> causes_;
};

class Maintenance {
 public:
  struct Limits {
    // A checkpoint is due after this number of events, which take about a second to replay, or after this time, if
    // there was any event.
    std::int64_t checkpoint_events = 100'000;
    Duration checkpoint_interval{600};
    // Late events are collected for one rebuild while the feeder sends its backlog. The rebuild begins nevertheless
    // after a silence of `feed_silence`, or when they have waited for `longest_collection`.
    Duration feed_silence{30};
    Duration longest_collection{600};
  };

  // `books`, `site` and `failures` must outlive it.
  Maintenance(Books& books, const Site& site, const Limits& limits, Failures& failures, Instant now)
      : books_(books), site_(site), limits_(limits), failures_(failures), last_checkpoint_(now) {}

  // Begins and ends rebuilds of the books. `feed_goes_on`: more late events may follow.
  void rebuild_books(bool feed_goes_on, Instant now);
  // Limits memory, measures the mean residual run time, and makes checkpoints and a signed head a day. `is_active`:
  // this daemon writes the ledger.
  void maintain(bool is_active, Instant now);
  // Drops records that a start replayed and that are older than the memory horizon.
  void begin_memory(Instant now);
  // Stores a signed head in the ledger, if there is a key.
  [[nodiscard]] Expected<void> store_head(Instant now);

 private:
  void rest_after_rebuild(Instant now);
  // The number of newest runs that are measured: enough for a mean, and read within a tenth of a second.
  [[nodiscard]] Expected<std::vector<ledger::EndedRun>> latest_runs() const;
  // Measures the mean residual run time if that is due, and records it if it has changed enough.
  [[nodiscard]] Expected<void> measure_residual(Instant now);
  // If jobs start whole by the definition of hindsight, defines again which nodes are of one kind, as soon as the
  // placements in use need it.
  [[nodiscard]] Expected<void> define_kinds(Instant now);
  [[nodiscard]] bool is_checkpoint_due(Instant now) const;
  void end_checkpoint(Instant now);
  void checkpoint_failed(const Expected<void>& result, Instant now);

  Books& books_;
  const Site& site_;
  Limits limits_;
  Failures& failures_;
  ResidualWatch residual_watch_;
  std::map<std::string, std::string> placed_;  // the nodes of the placements that kinds were last made for
  Instant last_checkpoint_;                    // when the last one began
  Instant no_checkpoint_before_ = k_beginning_of_time;
  Instant rebuild_began_ = k_beginning_of_time;
  Instant no_rebuild_before_ = k_beginning_of_time;
  std::optional<Instant> head_day_;  // the last UTC day with a signed head
};

}  // namespace shapley::daemon
