// The ledger: an append-only file of events, and what can be derived from it.
//
// Events are the source of truth. Every projection can be dropped and rebuilt (rebuild_projections), and a test does
// so. append() returns after the commit with WAL and synchronous=FULL: its events are then on disk. Single-threaded;
// one writer per file (a lock file beside it), which waits only a moment for locks of others; readers may open it
// read-only at any time, also a copied file.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ledger {

class AppendRows;
class ReadRows;
class SigningKey;
struct SignedHead;

// read_beside_writer: another connection of a process that writes this ledger already, for a separate thread. It waits
// for no lock.
enum class OpenMode { create_or_write, read_only, read_beside_writer };

struct AppendResult {
  std::size_t appended = 0;
  std::size_t duplicates = 0;               // same key, same content: already there
  std::vector<std::string> conflicts;       // keys recorded before with another content: refused, the first fact stays
  std::vector<std::string> archived;        // keys that change what only an archive has: refused
  std::vector<accounting::Event> accepted;  // the appended ones, in order
};

struct Recovered {
  accounting::State state;
  std::int64_t last_sequence = 0;
  std::int64_t replayed = 0;  // events applied on top of the checkpoint
};

// Lets other threads follow a replay and end it.
struct ReplayWatch {
  std::atomic<std::int64_t> done = 0;   // events
  std::atomic<std::int64_t> total = 0;  // events; 0: not known yet
  std::atomic<bool> stop = false;       // set it, and the replay ends with Errc::unavailable or Errc::limit

  // Of all events, from 0 to 100; 0 while their number is not known.
  [[nodiscard]] int percent() const {
    constexpr std::int64_t k_all = 100;
    const std::int64_t of = total;
    return of <= 0 ? 0 : static_cast<int>(std::clamp<std::int64_t>(done * k_all / of, 0, k_all));
  }
};

// The bound of a query's cost; beyond it the query ends with Errc::limit. 0: no bound. Steps are those of SQLite's
// virtual machine (some ten million a second), counted in thousands, so that the bound does not depend on the machine's
// speed.
struct QueryBudget {
  std::uint64_t steps = 0;
  std::size_t rows = 0;
  // Another thread sets it to end the query at its next thousand steps. null: it always runs to its end.
  const std::atomic<bool>* ended = nullptr;

  [[nodiscard]] bool is_ended() const { return ended != nullptr && ended->load(); }
};

// For readers, which use the estimators in the newest checkpoint.
inline constexpr accounting::StateOptions k_as_saved{.as_saved = true};

class Ledger {
 public:
  // Creates or migrates as needed (create_or_write). Errors: Errc::conflict when another process writes this ledger
  // (names its pid), Errc::corrupt when it is no ledger or damaged (names a remedy), Errc::no_space, Errc::io. A
  // migration reports its progress to `on_progress`.
  [[nodiscard]] static Expected<Ledger> open(const std::filesystem::path& file, OpenMode mode,
                                             const OnProgress& on_progress = {});
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  // One transaction. On error nothing of the batch is stored.
  [[nodiscard]] Expected<AppendResult> append(std::span<const accounting::Event> events, Instant received);

  // Whether append() would refuse the event because it changes what only an archive has. Errc::denied unless this is
  // the writer.
  [[nodiscard]] Expected<bool> is_archived(const accounting::Event& event);
  // The instant before which the books cannot be corrected any more; nullopt: nothing was archived.
  [[nodiscard]] Expected<std::optional<Instant>> archived_before() const;

  // Calls `visit` for every event with sequence > after, in order, until it returns an error. In a ledger with archives
  // these are its own events, preceded by copies of archived events that they refer to.
  [[nodiscard]] Expected<void> for_each_event(std::int64_t after,
                                              const std::function<Expected<void>(const StoredEvent&)>& visit) const;
  [[nodiscard]] std::int64_t last_sequence() const;

  // State from the newest checkpoint that remembers back to all later events, plus those; from_scratch ignores
  // checkpoints and applies all events ordered by their own time (so that nothing is older than the memory horizon).
  // `watch` lets another thread follow it, and end it.
  [[nodiscard]] Expected<Recovered> recover(const accounting::StateOptions& options = k_as_saved,
                                            ReplayWatch* watch = nullptr) const;
  [[nodiscard]] Expected<Recovered> recover_from_scratch(accounting::StateOptions options = {}) const;
  // The books that the ledger begins with: empty ones, or those after the last event of its archive.
  [[nodiscard]] Expected<Recovered> opening(const accounting::StateOptions& options = {}) const;
  // Saves a checkpoint of the books after event `sequence`; takes seconds where much is remembered (in a separate
  // thread: recovery/background.hpp). Another thread may set `stop` to end it soon: Errc::unavailable.
  [[nodiscard]] Expected<void> save_checkpoint(const accounting::State& state, std::int64_t sequence, Instant at,
                                               const std::atomic<bool>* stop = nullptr);
  // Held while this ledger writes, and by a thread of the same process that writes through another connection.
  // Otherwise one of them, waiting for the file's lock, could give up after a moment or wait for long.
  [[nodiscard]] std::shared_ptr<Mutex> turns() const;

  // Records the row of every organization on a day (UTC), as the daemon had it at the day's end, with what it gave by
  // these estimators: for trends. Overwrites that day.
  [[nodiscard]] Expected<void> record_standings(Instant day, const accounting::State& state,
                                                std::span<const accounting::Standing> standings,
                                                const accounting::EstimatorSet& by = accounting::EstimatorSet::all());

  // The name of this ledger in signed heads: 32 hexadecimal digits, drawn when it was created.
  [[nodiscard]] Expected<std::string> identity() const;
  // Stores a signed head (chain/signing.hpp) in the file, so that copies contain it. Only the first head of an event is
  // kept.
  [[nodiscard]] Expected<void> store_head(const SignedHead& head);

  [[nodiscard]] Expected<void> rebuild_projections();

  // For a writer: whether its files still have their names (NamedFiles::check). What is committed to a file without a
  // name is lost when the process ends.
  [[nodiscard]] Expected<void> check_names() const;

  // For other files of common/ledger (rows.hpp): to read rows, and to add some, which only the writer may (else
  // Errc::denied).
  [[nodiscard]] const ReadRows& rows() const;
  [[nodiscard]] Expected<AppendRows*> to_append();

 private:
  struct Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The ledger's newest event, signed (chain/signing.hpp).
[[nodiscard]] Expected<SignedHead> sign_head(const Ledger& ledger, const SigningKey& key, Instant now);
// The newest head that the ledger holds (Ledger::store_head); nullopt: none was stored.
[[nodiscard]] Expected<std::optional<SignedHead>> newest_stored_head(const Ledger& ledger);

}  // namespace shapley::ledger
