// When slurmctld's records were looked at last before it came back: what it has lost was there then. Observations that
// came say so, and where nothing changed a feeder's connection and what the next feeder says of the one before it.
// Single-threaded; pure.
#pragma once

#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/observation_watch.hpp"

namespace shapley::daemon {

class LastLook {
 public:
  void begin_session(const Observing& observing);
  // A feeder scanned until then, whether or not anything changed.
  void note_scanned(Instant until);
  // A frame of `at` is about to be read; `known_until`: the newest one before. Of a feeder's first one that finds out
  // whether slurmctld went away.
  void note_read(Instant at, const std::optional<Instant>& known_until);
  // A whole snapshot was read: what slurmctld has, and has not, is known.
  void end_snapshot() { before_life_.reset(); }

  [[nodiscard]] const std::optional<Instant>& scanned_until() const { return scanned_until_; }
  // `known`, an instant of which all is known, or later if a feeder scanned later and before `at`.
  [[nodiscard]] Instant refined(Instant known, Instant at) const;
  // The last look before slurmctld went away; nullopt: it did not, or all is known again.
  [[nodiscard]] const std::optional<Instant>& before_life() const { return before_life_; }
  // Since when the feeder looks that found it back. REQUIRES: before_life().
  [[nodiscard]] Instant life_began() const { return life_began_; }

 private:
  std::optional<Instant> scanned_until_;
  std::optional<Instant> since_;  // of a feeder of which no frame was read
  std::optional<Instant> before_life_;
  Instant life_began_;
};

// A file beside the ledger that says until when a feeder scanned, about: shapleyd may end with slurmctld, and a quiet
// cluster leaves nothing else that says so.
[[nodiscard]] std::filesystem::path look_file_of(const std::filesystem::path& ledger);
// What write_look_file() wrote last; nullopt: nothing, or something else.
[[nodiscard]] std::optional<Instant> read_look_file(const std::filesystem::path& file);
// Replaces the file. Errors: Errc::io.
[[nodiscard]] Expected<void> write_look_file(const std::filesystem::path& file, Instant scanned_until);

}  // namespace shapley::daemon
