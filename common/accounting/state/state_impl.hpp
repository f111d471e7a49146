// The inside of State: how events reach the books (books.hpp), the history of rates (rate_history.hpp), the nodes
// (node.hpp) and the memory of jobs (job_memory.hpp).
//
// Every change is expressed as "remove what the old facts made, add what the new facts make", so that the books
// depend on the set of facts only. validate() decides without changing anything; fold() cannot fail.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounting/estimators/books.hpp"
#include "accounting/estimators/rate_history.hpp"
#include "accounting/ownership/node.hpp"
#include "accounting/state/job_memory.hpp"
#include "accounting/state/kept_facts.hpp"
#include "accounting/state/organizations.hpp"
#include "accounting/state/period_rules.hpp"
#include "accounting/state/state.hpp"

namespace shapley::accounting {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

struct State::Impl {
  explicit Impl(StateOptions state_options);

  StateOptions options;
  Organizations organizations;
  PeriodRules period_rules;
  Books books;
  RateHistory rates;
  std::deque<Node> nodes;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> node_index;
  Jobs jobs;
  std::map<Instant, std::uint64_t> configurations;  // content hashes
  KeptFacts kept;
  std::set<std::pair<Instant, std::uint32_t>> hand_overs;  // known, not yet in force: (when, index of the node)

  Instant now = k_beginning_of_time;
  Instant horizon = k_beginning_of_time;
  Instant first_event = k_end_of_time;  // of those that tell when something happened
  Instant next_boundary = k_end_of_time;
  std::vector<Instant> boundaries;   // at or before now
  std::vector<ClosedPeriod> closed;  // derived
  bool closed_stale = false;

  // What apply() will answer; changes nothing. state_validate.cpp has one for each kind of event.
  [[nodiscard]] Expected<Applied> validate(const Event& event) const;
  template <typename Fact>
  [[nodiscard]] Expected<Applied> validate(const Fact& event) const = delete;
  [[nodiscard]] Applied fresh_since(Instant reach) const;
  [[nodiscard]] const SegmentRecord* find(const SegmentKey& key) const;

  // REQUIRES: validate() said `changed` and now >= the event's time. state_fold.cpp has one for each kind of event.
  void fold(const Event& event);
  template <typename Fact>
  void fold(const Fact& event) = delete;

  void advance(Instant t);
  void compact();

  OrgId join(std::string_view name);
  Node& node_of(std::string_view name);
  std::uint32_t index_of(std::string_view name);

  // Adds (sign 1) or removes (-1) a run's pieces, by the ownership in force; on one of its nodes, or on all.
  void post_share(Books& target, const SegmentRecord& run, const NodeShare& share, int sign) const;
  void post(Books& target, const SegmentRecord& segment, int sign) const;
  // The segment holds (or asks for) so much more or less from t on.
  void change_levels(const SegmentOpened& segment, Instant t, int sign);
  // Adds or removes a segment as a whole.
  void enter(const SegmentRecord& segment, int sign);

  // Tells the rates what the node offers to whom from t on (sign 1), or that it no longer does (-1).
  void emit_offers(const Node& node, Instant from, int sign);
  // Runs `change` on a node whose ownership will differ from `from` on, and moves what ran there since.
  void change_ownership(std::uint32_t index, Instant from, const std::function<void(Ownership&)>& change);
  void schedule_hand_over(std::uint32_t index);
  [[nodiscard]] std::vector<Ownership::Span> spans_of(const OwnershipStated& event);
  void restructure_periods();

  // The books without the pieces of remembered segments: what forgotten ones left.
  [[nodiscard]] Books books_of_forgotten() const;
  [[nodiscard]] static std::vector<std::string> sorted_names(const std::deque<Node>& all);
  // Put a checkpoint's facts back; see state_text.cpp.
  void restore_statement(const OwnershipStated& statement);
  void restore_segment(const SegmentRecord& segment);
  void restore_offers();

  [[nodiscard]] std::vector<Standing> standings_of(const Books::PeriodAccounts& period,
                                                   const std::vector<RateRow>& rows, Instant t) const;
  const std::vector<ClosedPeriod>& closed_periods();
};

}  // namespace shapley::accounting
