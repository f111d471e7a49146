// The ledger and the State that folds it, kept together.
//
// Invariant: the State is the fold of exactly the events in the ledger. Events are appended first; only what the ledger
// accepted is applied. So a failed commit (disk full) changes nothing, and a killed daemon comes back with all that it
// ever acknowledged. Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/observer/run_writer.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

// What the ledger says the configuration is: the last declaration of each kind.
struct Declared {
  std::optional<accounting::OrganizationsDeclared> organizations;
  std::optional<accounting::PeriodDeclared> period;
  std::optional<accounting::ConfigurationLoaded> configuration;
  std::optional<accounting::RankingDeclared> ranking;
  std::optional<accounting::ChargeDeclared> charge;
  std::map<std::string, std::vector<accounting::OwnershipStated>> ownership;  // by node, ascending by `effective`
};

class Books {
 public:
  // A migration of the ledger tells `on_migration` how far it is.
  [[nodiscard]] static Expected<Books> open(const std::filesystem::path& file,
                                            const ledger::OnProgress& on_migration = {});

  // One transaction: durable when it returns. On error neither ledger nor State changed. Conflicting events (another
  // fact of the same identity is on record) are refused and logged; the others of the batch stand.
  [[nodiscard]] Expected<void> commit(std::span<const accounting::Event> events, Instant now);

  [[nodiscard]] accounting::State& state() { return state_; }
  [[nodiscard]] const accounting::State& state() const { return state_; }
  [[nodiscard]] const ledger::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] std::int64_t last_sequence() const { return last_sequence_; }
  [[nodiscard]] std::int64_t replayed_at_start() const { return replayed_; }

  [[nodiscard]] Expected<Declared> declared() const;
  // The last instant at which an observation changed the books, as far as the newest events tell; nullopt: none does.
  [[nodiscard]] Expected<std::optional<Instant>> last_observed() const;

  // The segments of a run from the ledger's tables, for runs that began before the State's horizon; empty for later
  // ones.
  [[nodiscard]] Expected<std::vector<PastSegment>> past_segments(JobId job, Instant start) const;

  // Writes the standings of every UTC day that ended since the last call.
  [[nodiscard]] Expected<void> close_days(Instant now);
  // Forgets what is beyond the horizon and saves a checkpoint, so that the next start need not replay.
  [[nodiscard]] Expected<void> checkpoint(Instant now);
  // Keeps a signed head in the ledger (ledger/chain/signed_head.hpp).
  [[nodiscard]] Expected<void> store_head(const ledger::SignedHead& head) { return ledger_.store_head(head); }
  [[nodiscard]] std::int64_t events_since_checkpoint() const { return last_sequence_ - checkpoint_sequence_; }

 private:
  Books(ledger::Ledger ledger, ledger::Recovered recovered);
  [[nodiscard]] Expected<Instant> first_unwritten_day(Instant today) const;
  void apply(const accounting::Event& event);
  [[nodiscard]] Expected<void> rebuild();

  ledger::Ledger ledger_;
  accounting::State state_;
  std::int64_t last_sequence_ = 0;
  std::int64_t replayed_ = 0;
  std::int64_t checkpoint_sequence_ = 0;
  bool rebuild_due_ = false;    // the ledger holds an event that the State could not take
  std::optional<Instant> day_;  // begin of the UTC day whose standings are to be written next
};

}  // namespace shapley::daemon
