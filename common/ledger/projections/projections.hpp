// Projections: tables that are made from the events, never the other way round. Auditors see segments and jobs as views
// over the events themselves; segment_events has the numbers of the events of each segment.
//
// A Projector folds events into one set of these tables: those of the ledger ("main"), or a second set in the
// connection's temporary schema ("temp"), which an audit fills from the events and compares. Feeding all events in any
// order gives the same rows. The books of each day are apart: they need State (recovery/standings.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

// The tables that a Projector fills.
[[nodiscard]] std::span<const std::string_view> projection_tables();

class Projector {
 public:
  // REQUIRES: the tables exist in `schema` ("main" or "temp"); main.events holds every event before it is projected;
  // the data base outlives the projector and stays where it is.
  Projector(const Database& database, std::string_view schema) : database_(&database), schema_(schema) {}

  // Folds event number `sequence` in. REQUIRES: the fact was not folded before.
  [[nodiscard]] Expected<void> project(const accounting::Event& event, std::int64_t sequence);

  // Whether the event would end a segment before it begins, given the content of the tables.
  [[nodiscard]] Expected<bool> contradicts(const accounting::Event& event);

  // Whether the event changes the books before `horizon`, or concerns a segment from before it that is not in the
  // tables.
  [[nodiscard]] Expected<bool> reaches_before(const accounting::Event& event, Instant horizon);

  // Empties the tables.
  [[nodiscard]] Expected<void> clear();

 private:
  Expected<void> fold(const accounting::SegmentOpened& e, std::int64_t sequence);
  Expected<void> fold(const accounting::SegmentClosed& e, std::int64_t sequence);
  Expected<void> fold(const accounting::SegmentRetracted& e, std::int64_t sequence);
  Expected<void> fold(const accounting::OrganizationsDeclared& e, std::int64_t sequence);
  Expected<void> fold(const accounting::OwnershipStated& e, std::int64_t sequence);
  Expected<void> fold(const accounting::CapacityChanged& e, std::int64_t sequence);
  Expected<void> fold(const accounting::PeriodDeclared& e, std::int64_t sequence);
  Expected<void> fold(const accounting::JobChanged& e, std::int64_t sequence);
  template <typename Fact>
  Expected<void> fold(const Fact& /*e*/, std::int64_t /*sequence*/) {
    return {};  // no table is made from other kinds
  }

  // nullopt: the segment is not known, or its begin is not.
  Expected<std::optional<Instant>> begin_of(const accounting::SegmentKey& key);
  // Stores the number of a segment's event; `sql` takes kind, job, anchor, ordinal, sequence.
  Expected<void> name_event(std::string_view sql, const accounting::SegmentKey& key, std::int64_t sequence);
  Expected<std::vector<accounting::OwnershipStated>> statements_about(const std::string& node);

  // A cached statement; `sql` has the word SCHEMA where the schema's name goes.
  Expected<Statement*> cached(std::string_view sql);

  const Database* database_;
  std::string schema_;
  std::map<std::string_view, Statement> statements_;  // keys are string literals
};

// One stretch of a node's ownership; parts sum to 1,000,000.
struct OwnedStretch {
  Instant begin;                              // 0: always
  Instant end;                                // k_end_of_time: until further notice
  std::vector<accounting::OwnerPart> owners;  // ascending by name, commons included
};

// The ownership that follows from all statements about one node, in any order: stretches without gaps from 0 on;
// neighbours differ.
[[nodiscard]] std::vector<OwnedStretch> resolve_ownership(std::vector<accounting::OwnershipStated> statements);

}  // namespace shapley::ledger
