// The inside of State: the facts that it remembers, each kind in a part that checks, saves and loads its own, and the
// accounts that they are posted to (posting.hpp). This file only routes events to the parts.
//
// validate() decides without changing anything; fold() cannot fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "accounting/ownership/kinds.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/ownership/placement.hpp"
#include "accounting/state/accounts.hpp"
#include "accounting/state/job_memory.hpp"
#include "accounting/state/kept_facts.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/posting.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting {

struct State::Impl {
  explicit Impl(StateOptions state_options);

  StateOptions options;
  Present present;
  Organizations organizations;
  KeptFacts kept;
  std::map<Instant, std::uint64_t> configurations;  // content hashes
  Nodes nodes;
  KindHistory kinds;
  Placements placements;
  Jobs jobs;
  Accounts accounts;
  Posting posting;
  std::vector<Instant> forgotten_starts;  // by OrgId: the last start of its forgotten runs
  bool memory_only = false;               // no event is too old, and no estimator receives any
  std::vector<ClosedPeriod> closed;       // derived
  bool closed_stale = false;

  // What apply() will answer; changes nothing.
  [[nodiscard]] Expected<Applied> validate(const Event& event) const;
  // Whether the fact known under the fact's identity equals it, by the part that remembers it; nullopt: none is known.
  template <typename Fact>
  [[nodiscard]] std::optional<bool> repeats(const Fact& event) const;
  // Whether a new fact is too old, or an error if it is invalid here. A kind that the figures do not depend on may be
  // of any age.
  template <typename Fact>
  [[nodiscard]] Expected<Applied> check_reach(const Fact& event) const;
  [[nodiscard]] Applied fresh_since(Instant reach) const;
  // Whether an estimator cannot take back this segment, which counts.
  [[nodiscard]] bool stays_for_estimators(const SegmentRecord& segment) const;

  // REQUIRES: validate() returned `changed`, and now >= the event's time. A kind that no part handles is kept whole and
  // changes nothing else.
  void fold(const Event& event);
  template <typename Fact>
  void fold(const Fact& event);

  void advance(Instant t);
  bool compact(Instant keep, std::uint64_t effort);

  void set_organizations();
  OrgId join(std::string_view name);
  [[nodiscard]] std::vector<Ownership::Span> spans_of(const OwnershipStated& event);
  // If the record is a run that counts, raises its organization's last start to that of the run.
  void note_start(const SegmentRecord& record, std::vector<Instant>& starts) const;
  [[nodiscard]] std::vector<Standing> present_standings(const EstimatorSet& by);
  // By row: how many processors it would own more at present if jobs could use all of these nodes.
  [[nodiscard]] std::vector<ProcessorMillionths> owned_besides(const NodeNames& away) const;
  const std::vector<ClosedPeriod>& closed_periods();
};

}  // namespace shapley::accounting
