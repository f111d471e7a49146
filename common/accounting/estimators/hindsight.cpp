#include "accounting/estimators/hindsight.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/coalition_worth.hpp"
#include "accounting/estimators/period_shares.hpp"
#include "accounting/estimators/players.hpp"
#include "accounting/estimators/present_schedules.hpp"
#include "accounting/estimators/request_facts.hpp"
#include "accounting/estimators/table.hpp"
#include "accounting/events/event_check.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

namespace {

// A wait that ended before the horizon and is kept.
void save_wait(TextWriter& out, const SegmentFact& wait) {
  out.line("asked").number(wait.organization.value).number(wait.key.job.value).instant(wait.key.anchor);
  out.number(wait.key.ordinal).number(wait.waited_as.value).number(wait.processors.value);
  out.instant(wait.begin).instant(wait.end).number(wait.asked.width).number(wait.asked.kinds);
}

SegmentFact load_wait(TextReader& in, std::size_t organizations, Instant horizon) {
  const auto small = [&] { return static_cast<std::uint32_t>(in.small(0, std::numeric_limits<std::uint32_t>::max())); };
  SegmentFact wait;
  wait.organization.value =
      static_cast<std::uint32_t>(in.small(0, std::max<std::int64_t>(static_cast<std::int64_t>(organizations) - 1, 0)));
  wait.key.kind = SegmentKind::wait;
  wait.key.job.value = small();
  wait.key.anchor = in.instant(k_beginning_of_time, horizon);
  wait.key.ordinal = small();
  wait.waited_as.value = small();
  wait.processors.value = in.small(1, k_max_wanted.value);
  wait.begin = in.instant(wait.key.anchor, horizon);
  wait.end = in.instant(wait.begin, horizon);
  wait.asked.width = in.small(0, k_max_wanted.value);
  wait.asked.kinds = static_cast<KindSet>(in.number(1, ~KindSet{0}));
  return wait;
}

class Hindsight final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& by_name) override {
    facts_.players.set_organizations(by_name);
    facts_.organizations = by_name.size();
    if (by_name.size() > hindsight::k_most_players) give_up();
    present_.note_ranks();
  }

  void fold_segment(int sign, const SegmentFact& segment) override {
    if (is_off_ || segment.end < facts_.horizon) return;
    // A run of zero seconds was asked for until it began.
    const Players::Fact fact = fact_of(segment);
    if (fact.at < segment.end && segment.processors.value > 0) {
      facts_.players.fold(sign, segment.organization, fact);
      facts_.attendance.change({.at = fact.at, .organization = segment.organization, .requests = sign});
      if (segment.end != k_end_of_time)
        facts_.attendance.change({.at = segment.end, .organization = segment.organization, .requests = -sign});
    }
    facts_.requests.fold(sign, segment);
    present_.note(sign, segment);
  }

  void change_levels(Instant t, OrgId organization, const LevelChange& change) override {
    if (is_off_ || t < facts_.horizon) return;
    facts_.attendance.change(
        {.at = t, .organization = organization, .owned = change.owned.value, .running = change.running.value});
    if (change.owned.value == 0) return;
    const When when{t, organization, change.kind};
    const bool was_there = facts_.capacities.contains(when);
    const bool is_there = add_change(facts_.capacities, when, change.owned.value);
    if (was_there != is_there) facts_.players.fold(is_there ? 1 : -1, organization, {t, t});
    present_.note_capacity(when, change.owned.value);
  }

  void divide_kinds(const std::vector<KindDivided>& divisions) override {
    facts_.divisions = divisions;
    present_.drop();
  }

  void close_period(const std::vector<Instant>& boundaries) override {
    facts_.boundaries = boundaries;
    facts_.attendance.set_boundaries(boundaries);
    present_.note_boundary(boundaries.back());
  }
  void set_boundaries(const std::vector<Instant>& boundaries) override {
    facts_.boundaries = boundaries;
    facts_.attendance.set_boundaries(boundaries);
    present_.drop();
  }

  void contributions(const Question& question, std::span<Credit> credits) override {
    if (is_off_) return credit({}, {}, {}, question, credits);
    make_present(question.t);
    if (question.period < facts_.closed.size())
      return credit_shares(facts_.closed.of(question.period), question, credits);
    credit_shares(shares_of(present_.books(), question.period, present_.attended().ran), question, credits);
  }

  [[nodiscard]] std::optional<CooperationWorth> worth(const Question& question, std::span<const OrgId> rows) override;

  // What was released before the horizon can only be a part of what waited there, and what that asked for stays.
  [[nodiscard]] bool is_too_old(const SegmentFact* before, const SegmentFact* after) const override {
    const SegmentFact& fact = before == nullptr ? *after : *before;
    const GroupKey key = group_of(fact);
    if (is_off_ || key.released >= facts_.horizon) return false;
    if (facts_.requests.changes_others(before, after)) return true;
    if (before != nullptr || fact.begin < facts_.horizon) return false;
    const RequestFacts::Requested is = facts_.requests.requested_by(fact);
    return is.released < facts_.horizon && !facts_.settled.waits(key, is.released, is.asked);
  }

  // Nor can it be taken back that an organization asked for it, and was there, before the horizon.
  [[nodiscard]] bool stays(const SegmentFact& segment) const override {
    if (is_off_) return false;
    const Players::Fact fact = fact_of(segment);
    return (fact.at < facts_.horizon && segment.key.kind == SegmentKind::run) ||
           facts_.players.hangs_on(segment.organization, fact);
  }

  [[nodiscard]] bool is_off() const override { return is_off_; }

  [[nodiscard]] std::size_t bytes() const override {
    return facts_.settled.bytes() + present_.bytes() + facts_.requests.bytes() + facts_.attendance.bytes() +
           facts_.capacities.size() * node_bytes<Capacities>;
  }

  void keep_at_most(Coalitions kept) override {
    if (kept == Coalitions::none && !is_off_) give_up();
    if (kept != Coalitions::pairs || is_off_ || facts_.exact <= hindsight::k_exact_by_pairs) return;
    facts_.exact = hindsight::k_exact_by_pairs;
    set_settled_players();
    present_.set_coalitions(facts_);
  }

  [[nodiscard]] bool catch_up(Instant t, std::uint64_t effort) override {
    return is_off_ || present_.synchronize(facts_, std::max(t, present_.latest()), effort);
  }

  // Every request has a part in at least half of the coalitions, which has to be started and ended there.
  [[nodiscard]] Instant forgettable(Instant horizon, std::uint64_t effort) const override {
    if (is_off_) return horizon;
    const std::uint64_t of_a_request = std::uint64_t{1} << std::min<std::size_t>(facts_.players.settled().size(), 12);
    std::uint64_t left = std::max<std::uint64_t>(effort / of_a_request, k_batch);
    for (auto group = facts_.requests.groups().lower_bound({facts_.horizon, {}, {}});
         group != facts_.requests.groups().end() && group->first.released < horizon; ++group) {
      if (left == 0) return std::max(group->first.released, facts_.horizon + Duration{1});
      left -= std::min<std::uint64_t>(left, group->second.size());
    }
    return horizon;
  }

  void forget_before(Instant horizon) override {
    if (is_off_) return;
    present_.set_players(facts_);
    facts_.players.settle(horizon);
    set_settled_players();
    (void)facts_.settled.set_stretches(facts_.horizon, facts_.attendance.until(horizon, horizon).stretches);
    send_settled(horizon);
    facts_.settled.forget_before(horizon);
    present_.forget_before(facts_, horizon);
    facts_.attendance.forget_before(horizon);
    facts_.requests.forget_before(horizon);
    facts_.capacities.erase(facts_.capacities.begin(), facts_.capacities.lower_bound({horizon, OrgId{}, Kind{0}}));
    facts_.horizon = horizon;
    close_shares();
  }

  void save(TextWriter& out, const Remembered& /*books*/) override;
  void load(TextReader& in, const Remembered& books) override;

 private:
  // Called when there are more organizations than it is kept for, or too little memory.
  void give_up() {
    is_off_ = true;
    present_ = {};
    facts_.requests = {};
    facts_.capacities.clear();
    facts_.attendance = {};
    facts_.settled = {};
  }

  // An organization becomes a player at its first release. The release of a run that was seen to wait counts in full,
  // because the wait is a fact of its own; that of any other run counts for at most k_believed before its start.
  [[nodiscard]] static Players::Fact fact_of(const SegmentFact& segment) {
    const bool is_run = segment.key.kind == SegmentKind::run;
    const Instant believed = is_run ? segment.begin - k_believed : k_beginning_of_time;
    return {std::min(segment.begin, std::max(group_of(segment).released, believed)), segment.begin};
  }

  void set_settled_players() {
    facts_.settled.set_players(facts_.players.ranks(facts_.players.settled().size()),
                               facts_.sizes_of(facts_.players.settled().size()), facts_.exact);
  }

  // Advances the present schedules to t, or to the latest instant at which contributions were wanted.
  void make_present(Instant t) {
    (void)present_.synchronize(facts_, std::max(t, present_.latest()), std::numeric_limits<std::uint64_t>::max());
  }

  // Advances the settled schedules to `horizon`.
  void send_settled(Instant horizon) {
    CoalitionBooks::Schedules& schedules = facts_.settled.schedules();
    facts_.divide_kinds(facts_.settled, horizon);
    for (const auto& [when, by] : facts_.capacities) {
      const auto& [at, organization, kind] = when;
      if (at >= horizon) break;
      (void)facts_.settled.change_capacity(*present_.player_of(organization), at, by, kind);
    }
    facts_.mark_boundaries(schedules, horizon);
    std::set<GroupKey> keys;
    for (const GroupKey& key : facts_.settled.groups()) keys.insert(key);
    for (const auto& [key, group] : facts_.requests.groups()) {
      if (key.released >= horizon) break;
      keys.insert(key);
    }
    std::size_t sent = 0;
    for (const GroupKey& key : keys) {
      const auto player = present_.player_of(key.organization);
      if (player && *player < facts_.settled.players()) {
        std::vector<WantedRequest> wanted = facts_.requests.wanted(key, horizon);
        sent += std::max<std::size_t>(wanted.size(), 1);
        (void)facts_.settled.reconcile(key, *player, std::move(wanted), CoalitionBooks::Late::clamp);
      }
      if (sent < k_batch) continue;
      sent = 0;
      schedules.advance(std::max(schedules.time(), key.released.value));
      // All earlier facts have been sent; without settling, memory would hold everything since the last horizon. The
      // changes of requests from before that horizon are sent first.
      schedules.settle(key.released.value, (key.released < facts_.horizon ? key.released : horizon).value);
    }
    schedules.advance(horizon.value);
  }

  // none: the first period.
  [[nodiscard]] std::optional<Instant> begin_of(std::size_t period) const {
    return period == 0 ? std::nullopt : std::optional(facts_.boundaries[period - 1]);
  }
  [[nodiscard]] std::span<const OrgId> players_in(const CoalitionBooks& books, std::size_t period);
  [[nodiscard]] PeriodShares shares_of(const CoalitionBooks& books, std::size_t period, const GapOfPeriods& ran);
  void close_shares();
  void credit_shares(const PeriodShares& shares, const Question& question, std::span<Credit> credits);

  bool is_off_ = false;  // too many organizations, or too little memory
  SettledFacts facts_;
  PresentSchedules present_;
};

std::span<const OrgId> Hindsight::players_in(const CoalitionBooks& books, std::size_t period) {
  std::size_t players = books.players();
  if (period < facts_.boundaries.size())
    players = std::min(players, facts_.players.joined_before(facts_.boundaries[period]));
  return std::span(facts_.players.all()).first(players);
}

PeriodShares Hindsight::shares_of(const CoalitionBooks& books, std::size_t period, const GapOfPeriods& ran) {
  const bool is_open = period == facts_.boundaries.size();
  return shares_in(books,
                   {.period = period,
                    .begin = begin_of(period),
                    .end = is_open ? present_.latest() : facts_.boundaries[period],
                    .players = players_in(books, period)},
                   ran, is_open ? &present_.attended() : nullptr);
}

std::optional<CooperationWorth> Hindsight::worth(const Question& question, std::span<const OrgId> rows) {
  if (is_off_) return std::nullopt;
  make_present(question.t);
  if (question.period < facts_.closed.size()) return std::nullopt;
  return worth_of(present_.books(), {.begin = begin_of(question.period),
                                     .end = question.t,
                                     .players = players_in(present_.books(), question.period),
                                     .rows = rows,
                                     .got = question.got});
}

void Hindsight::close_shares() {
  if (facts_.closed.size() == facts_.boundaries.size() || facts_.boundaries[facts_.closed.size()] >= facts_.horizon)
    return;
  // What is closed follows from the facts and the horizon alone, not from how often results were asked for.
  facts_.settled.forget_settled();
  const std::int64_t final_until = std::min(facts_.settled.schedules().reached(), facts_.horizon.value - 1);
  const std::size_t before = facts_.closed.size();
  while (facts_.closed.size() < facts_.boundaries.size() &&
         facts_.boundaries[facts_.closed.size()].value <= final_until) {
    facts_.closed.add(shares_of(facts_.settled, facts_.closed.size(), facts_.attendance.ran_before_horizon()));
  }
  if (facts_.closed.size() == before) return;
  const std::int64_t last = facts_.boundaries[facts_.closed.size() - 1].value;
  set_settled_players();
  facts_.settled.schedules().forget_marks_before(last);
  facts_.settled.forget_did(facts_.closed.size());
  facts_.attendance.forget_periods(facts_.closed.size());
  if (!present_.are_there()) return;
  present_.books().schedules().forget_marks_before(last);
  present_.books().forget_did(facts_.closed.size());
}

void Hindsight::credit_shares(const PeriodShares& shares, const Question& question, std::span<Credit> credits) {
  const std::size_t players = shares.phi.size();
  credit(shares, std::span(facts_.players.all()).first(players), facts_.players.ranks(players), question, credits);
}

void Hindsight::save(TextWriter& out, const Remembered& /*books*/) {
  out.line("hindsight").number(static_cast<Int128>(facts_.players.settled().size()));
  for (const Players::Joined& player : facts_.players.settled()) {
    out.number(player.organization.value).instant(player.at).number(player.hangs ? 1 : 0);
  }
  if (is_off_) return;
  facts_.closed.save(out);
  facts_.settled.forget_settled();
  facts_.settled.save(out);
  for (const SegmentFact& wait : facts_.requests.kept_from_before(facts_.horizon)) save_wait(out, wait);
  GapOfPeriods final_gap = facts_.attendance.ran_before_horizon();
  for (const auto& [period, did] : facts_.settled.did_finally()) final_gap[period] -= did;
  save_gap(out, final_gap);
}

void Hindsight::load(TextReader& in, const Remembered& books) {
  if (!in.next("hindsight")) return in.fault("the players of hindsight are missing");
  std::vector<Players::Joined> joined;
  std::set<OrgId> met;
  const auto organizations = static_cast<std::int64_t>(facts_.organizations);
  for (std::int64_t left = in.small(0, organizations); left > 0 && in.ok(); --left) {
    const OrgId player{static_cast<std::uint32_t>(in.small(0, organizations - 1))};
    const Instant at = in.instant(k_beginning_of_time, books.now);
    joined.push_back({at, player, in.small(0, 1) == 1});
    if (!met.insert(player).second) return in.fault("a player that is there twice");
  }
  if (!std::ranges::is_sorted(joined, {}, &Players::Joined::at)) return in.fault("players out of order");
  if (!in.ok() || is_off_) return;
  const std::size_t players = joined.size();
  facts_.players.restore(std::move(joined), books.horizon);
  facts_.closed.load(in, players);
  if (facts_.closed.size() > facts_.boundaries.size()) return in.fault("shares of a period that is not closed");
  set_settled_players();
  facts_.settled.load(in, books.now);
  if (!in.ok()) return;
  facts_.horizon = books.horizon;
  if (facts_.settled.horizon() != facts_.horizon)
    return in.fault("the coalitions' schedules do not end at the horizon");
  std::vector<KindDivided> divisions = facts_.divisions;
  std::erase_if(divisions, [&](const KindDivided& division) { return division.at >= facts_.horizon; });
  facts_.settled.restore_divisions(std::move(divisions));
  std::vector<SegmentFact> waits;
  while (in.next("asked")) waits.push_back(load_wait(in, facts_.organizations, facts_.horizon));
  facts_.attendance.forget_before(facts_.horizon);
  hindsight::Coalition ever = 0;
  for (const Players::Joined& player : facts_.players.settled())
    ever |= hindsight::Coalition{1} << player.organization.value;
  facts_.attendance.restore(load_gap(in, facts_.organizations), ever);
  // The schedules already have what the remembered facts say about the time before the horizon.
  for (const SegmentFact& wait : waits) facts_.requests.fold(1, wait);
  facts_.requests.forget_before(facts_.horizon);
  facts_.capacities.erase(facts_.capacities.begin(), facts_.capacities.lower_bound({facts_.horizon, OrgId{}, Kind{0}}));
  present_.drop();
}

}  // namespace

std::unique_ptr<Estimator> make_hindsight() {
  return std::make_unique<Hindsight>();
}

}  // namespace shapley::accounting
