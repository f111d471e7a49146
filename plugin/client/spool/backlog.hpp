// Messages that shapleyd has not acknowledged yet, numbered, in memory or in the spool (feeder thread only).
//
// Invariants: sequence numbers increase by one from 1 and are never reused for other content, across connections too.
// An entry is in memory or, once spooled, in the file only, so an outage of hours costs slurmctld little memory. Bound:
// memory + file <= max_bytes, without the snapshot in flight (its size is that of slurmctld's own tables; if it
// counted, a bound below it would drop every snapshot). Beyond the bound everything is dropped: only a fresh snapshot
// helps then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "plugin/client/log.hpp"
#include "plugin/client/spool/spool.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

using Clock = std::chrono::steady_clock;

class Backlog {
 public:
  Backlog(std::string spool_path, std::size_t max_bytes, Log log);

  // Queues what an earlier life of slurmctld left in the spool. Called first; a spool that cannot be opened is tried
  // again whenever something is to be spooled.
  void recover();

  // Queues a message as the next in sequence. `in_snapshot`: part of the snapshot that goes over the present
  // connection.
  void add_observations(protocol::Observations&& message, bool in_snapshot, Clock::time_point now);
  void add_snapshot_begin(std::int64_t observed_at, Clock::time_point now);
  void add_snapshot_end(std::int64_t observed_at, Clock::time_point now);

  // Queues that a scan at `observed_at` found nothing new. A later connection does not need it.
  void add_sign_of_life(std::int64_t observed_at, Clock::time_point now);

  // A new connection: everything after `acknowledged` is to be sent again. False: `acknowledged` was never sent.
  [[nodiscard]] bool begin_connection(std::uint64_t acknowledged);
  // The present connection ended, its snapshot with it: a new one will follow on the next connection, so the marks of
  // its beginning and end become empty observations (a number may not be left out) and its records ordinary changes.
  void end_connection();

  struct Outgoing {
    std::uint64_t sequence = 0;
    std::string frame;
  };
  [[nodiscard]] bool has_unsent() const { return unsent_ != next_sequence_; }
  // The next message for this connection, which then counts as sent; nullopt: no message is left.
  [[nodiscard]] std::optional<Outgoing> take_unsent();
  // Everything up to `sequence` is durable in the daemon. False: it was never sent.
  [[nodiscard]] bool acknowledge(std::uint64_t sequence);

  // Observation time of the last entry; 0: there is no entry.
  [[nodiscard]] std::int64_t last_observed_at() const { return entries_.empty() ? 0 : entries_.back().observed_at; }
  [[nodiscard]] std::uint64_t last_sequence() const { return next_sequence_ - 1; }
  // Whether everything up to `sequence` was acknowledged (or dropped).
  [[nodiscard]] bool is_through(std::uint64_t sequence) const {
    return entries_.empty() || entries_.front().sequence > sequence;
  }

  // Writes entries queued at `until` or before to the file. A failing disk is logged once and leaves them in memory.
  void spool(Clock::time_point until);
  // When the oldest entry that is in memory only was queued.
  [[nodiscard]] std::optional<Clock::time_point> oldest_unspooled() const;

  // Compacts the file if that suffices to respect the bound; false: it is exceeded.
  [[nodiscard]] bool within_bound();
  void drop();

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Whether something was sent on this connection and is not acknowledged.
  [[nodiscard]] bool awaits_acknowledgement() const;
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return spool_.bytes(); }

 private:
  struct Entry {
    std::uint64_t sequence = 0;
    std::int64_t observed_at = 0;
    Clock::time_point queued_at{};
    bool worth_spooling = true;  // false: useless to a later connection
    bool in_snapshot = false;    // of the present connection
    std::string frame{};         // as sent; empty when it is in the file only
    Spool::Place place{};        // length 0: not in the file

    [[nodiscard]] bool needs_spooling() const { return worth_spooling && place.length == 0; }
    [[nodiscard]] std::uint64_t bytes() const {
      return sizeof(Entry) + (frame.empty() ? place.length + 4U : frame.size());  // the wire adds a length
    }
  };

  void add(Entry&& entry, const protocol::Message& message, Clock::time_point now);
  [[nodiscard]] std::size_t index_of(std::uint64_t sequence) const;
  void release_frames(std::size_t from, std::size_t to);
  void forget_front();
  [[nodiscard]] std::string load(const Entry& entry);
  void report_spool(const Expected<void>& outcome);
  void compact();
  [[nodiscard]] std::uint64_t counted_bytes() const { return memory_bytes_ + spool_.bytes() - snapshot_bytes_; }

  Spool spool_;
  const std::size_t max_bytes_;
  const Log log_;
  std::deque<Entry> entries_;        // consecutive sequence numbers
  std::uint64_t next_sequence_ = 1;  // of the next entry
  std::uint64_t unsent_ = 1;         // first sequence number not sent on this connection
  std::uint64_t unspooled_ = 1;      // entries before this one need no spooling
  std::uint64_t highest_sent_ = 0;   // on any connection
  std::size_t entries_in_file_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t snapshot_bytes_ = 0;  // of entries in the snapshot in flight, wherever they lie
  bool spool_fails_ = false;
};

}  // namespace shapley::client
