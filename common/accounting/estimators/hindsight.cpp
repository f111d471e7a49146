#include "accounting/estimators/hindsight.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/attendance.hpp"
#include "accounting/estimators/closed_shares.hpp"
#include "accounting/estimators/coalition_books.hpp"
#include "accounting/estimators/coalition_worth.hpp"
#include "accounting/estimators/node_bytes.hpp"
#include "accounting/estimators/period_shares.hpp"
#include "accounting/estimators/players.hpp"
#include "accounting/estimators/request_facts.hpp"
#include "accounting/estimators/table.hpp"
#include "hindsight/contributions.hpp"

namespace shapley::accounting {

namespace {

// The present schedules keep what lies before them open for as many runs and as long; older facts have them made again
// from the horizon.
constexpr std::int64_t k_open_runs = 4'096;
constexpr Duration k_open_longest{3600};
constexpr Duration k_open_shortest{30};
// Requests that are told at once.
constexpr std::size_t k_batch = 256;

class Hindsight final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& by_name) override {
    players_.set_organizations(by_name);
    organizations_ = by_name.size();
    if (by_name.size() > hindsight::k_most_players) give_up();
    ranks_changed_ = true;
  }

  void fold_segment(int sign, const SegmentFact& segment) override {
    if (is_off_ || segment.end < horizon_) return;
    if (segment.begin < segment.end && segment.processors.value > 0) {
      const Players::Fact fact = fact_of(segment);
      players_.fold(sign, segment.organization, fact);
      attendance_.change({.at = fact.at, .organization = segment.organization, .requests = sign});
      if (segment.end != k_end_of_time)
        attendance_.change({.at = segment.end, .organization = segment.organization, .requests = -sign});
    }
    requests_.fold(sign, segment);
    if (segment.key.kind == SegmentKind::run) (void)add_to(begun_, segment.begin, sign);
    if (present_) stale_.insert(group_of(segment));
  }

  void change_levels(Instant t, OrgId organization, const LevelChange& change) override {
    if (is_off_ || t < horizon_) return;
    attendance_.change(
        {.at = t, .organization = organization, .owned = change.owned.value, .running = change.running.value});
    if (change.owned.value == 0) return;
    const When when{t, organization};
    const bool was_there = capacities_.contains(when);
    const bool is_there = add_to(capacities_, when, change.owned.value);
    if (was_there != is_there) players_.fold(is_there ? 1 : -1, organization, {t, t});
    if (present_) (void)add_to(stale_capacities_, when, change.owned.value);
  }

  void close_period(const std::vector<Instant>& boundaries) override {
    boundaries_ = boundaries;
    attendance_.set_boundaries(boundaries);
    if (!present_) return;
    if (boundaries_.back().value < present_->schedules().time()) {
      drop_present();
    } else {
      present_->schedules().mark(boundaries_.back().value);
    }
  }
  void set_boundaries(const std::vector<Instant>& boundaries) override {
    boundaries_ = boundaries;
    attendance_.set_boundaries(boundaries);
    drop_present();
  }

  void contributions(const Question& question, std::span<Credit> credits) override {
    if (is_off_) return credit({}, {}, {}, question, credits);
    (void)synchronize(std::max(question.t, latest_), std::numeric_limits<std::uint64_t>::max());
    if (question.period < closed_.size()) return credit_shares(closed_.of(question.period), question, credits);
    credit_shares(shares_of(*present_, question.period, attended_.ran), question, credits);
  }

  [[nodiscard]] std::optional<CooperationWorth> worth(const Question& question, std::span<const OrgId> rows) override;

  [[nodiscard]] bool is_too_old(const SegmentFact& segment) const override {
    if (is_off_) return false;
    if (group_of(segment).released >= horizon_) return false;
    const bool is_run = segment.key.kind == SegmentKind::run;
    const Instant release = is_run ? requests_.release_of(segment) : segment.key.anchor;
    return release < horizon_ && segment.begin >= horizon_ && !settled_.waits(group_of(segment));
  }

  // Nor can it be taken back that somebody asked for it, and was there, before the horizon.
  [[nodiscard]] bool stays(const SegmentFact& segment) const override {
    if (is_off_) return false;
    const Players::Fact fact = fact_of(segment);
    return (fact.at < horizon_ && segment.key.kind == SegmentKind::run) ||
           players_.hangs_on(segment.organization, fact);
  }

  [[nodiscard]] bool is_off() const override { return is_off_; }

  [[nodiscard]] std::size_t bytes() const override {
    return settled_.bytes() + (present_ ? present_->bytes() : 0) + requests_.bytes() + attendance_.bytes() +
           capacities_.size() * node_bytes<Capacities> + stale_.size() * node_bytes<std::set<GroupKey>>;
  }

  void keep_at_most(Coalitions kept) override {
    if (kept == Coalitions::none && !is_off_) give_up();
    if (kept != Coalitions::pairs || is_off_ || exact_ <= hindsight::k_exact_by_pairs) return;
    exact_ = hindsight::k_exact_by_pairs;
    set_settled_players();
    if (present_) present_->set_players(players_.ranks(present_players_.size()), present_sizes_, exact_);
  }

  [[nodiscard]] bool catch_up(Instant t, std::uint64_t effort) override {
    return is_off_ || synchronize(std::max(t, latest_), effort);
  }

  // Every request has a part at least in half of the coalitions, which it begins and ends.
  [[nodiscard]] Instant forgettable(Instant horizon, std::uint64_t effort) const override {
    if (is_off_) return horizon;
    const std::uint64_t of_a_request = std::uint64_t{1} << std::min<std::size_t>(players_.settled().size(), 12);
    std::uint64_t left = std::max<std::uint64_t>(effort / of_a_request, k_batch);
    for (auto group = requests_.groups().lower_bound({horizon_, {}, {}});
         group != requests_.groups().end() && group->first.released < horizon; ++group) {
      if (left == 0) return std::max(group->first.released, horizon_ + Duration{1});
      left -= std::min<std::uint64_t>(left, group->second.size());
    }
    return horizon;
  }

  void forget_before(Instant horizon) override {
    if (is_off_) return;
    set_present_players();
    players_.settle(horizon);
    set_settled_players();
    (void)settled_.set_stretches(horizon_, attendance_.until(horizon, horizon).stretches);
    tell_settled(horizon);
    settled_.forget_before(horizon);
    // Of what lies before what was asked last nothing else is known: then the settled ones are all there is to go on
    // from.
    if (present_ && (latest_ <= horizon || !settle_present_before(horizon))) drop_present();
    attendance_.forget_before(horizon);
    requests_.forget_before(horizon);
    begun_.erase(begun_.begin(), begun_.lower_bound(horizon - k_open_longest));
    capacities_.erase(capacities_.begin(), capacities_.lower_bound({horizon, OrgId{}}));
    horizon_ = horizon;
    close_shares();
  }

  void save(TextWriter& out, const Remembered& /*books*/) override;
  void load(TextReader& in, const Remembered& books) override;

 private:
  using When = std::pair<Instant, OrgId>;
  using Capacities = std::map<When, std::int64_t>;

  // They are made again, from the settled ones and all facts since, when somebody asks.
  void drop_present() {
    present_.reset();
    stale_.clear();
    stale_capacities_.clear();
    is_beginning_ = false;
  }
  // There are more organizations than it is kept for, or there is too little memory.
  void give_up() {
    is_off_ = true;
    drop_present();
    requests_ = {};
    begun_.clear();
    capacities_.clear();
    attendance_ = {};
    attended_ = {};
    settled_ = {};
  }

  // Whether there is any change left at that instant.
  template <typename Key>
  static bool add_to(std::map<Key, std::int64_t>& changes, const Key& when, std::int64_t by) {
    if ((changes[when] += by) != 0) return true;
    changes.erase(when);
    return false;
  }

  // An organization plays from its first release on. A run that was seen to wait is believed for as long as it waited,
  // which the wait says; any other one for k_believed.
  [[nodiscard]] static Players::Fact fact_of(const SegmentFact& segment) {
    const bool is_run = segment.key.kind == SegmentKind::run;
    const Instant believed = is_run ? segment.begin - k_believed : k_beginning_of_time;
    return {std::min(segment.begin, std::max(group_of(segment).released, believed)), segment.begin};
  }

  // Contributions are wanted of the players of every period that is not final, and of all.
  [[nodiscard]] std::vector<std::size_t> sizes_of(std::size_t players) {
    std::set<std::size_t> sizes{players};
    for (std::size_t period = closed_.size(); period < boundaries_.size(); ++period)
      sizes.insert(std::min(players, players_.joined_before(boundaries_[period])));
    return {sizes.begin(), sizes.end()};
  }

  void set_settled_players() {
    settled_.set_players(players_.ranks(players_.settled().size()), sizes_of(players_.settled().size()), exact_);
  }

  // Schedules of players that come in another order are made again, and so are those of coalitions that nobody asked
  // for.
  void set_present_players() {
    const std::vector<OrgId>& all = players_.all();
    const bool goes_on = present_players_.size() <= all.size() &&
                         std::equal(present_players_.begin(), present_players_.end(), all.begin());
    if (!goes_on) drop_present();
    // How many there were before a boundary changes with the instants at which they joined, too.
    std::vector<std::size_t> sizes = sizes_of(all.size());
    const auto is_kept = [&](std::size_t size) {
      return size == all.size() || std::ranges::binary_search(present_sizes_, size);
    };
    if (present_ && !std::ranges::all_of(sizes, is_kept)) drop_present();
    if (goes_on && !ranks_changed_ && present_ && present_players_.size() == all.size() && sizes == present_sizes_)
      return;
    present_players_ = all;
    player_of_.assign(organizations_, std::nullopt);
    for (std::size_t u = 0; u < all.size(); ++u) player_of_[all[u].value] = u;
    ranks_changed_ = false;
    present_sizes_ = std::move(sizes);
    if (present_) present_->set_players(players_.ranks(all.size()), present_sizes_, exact_);
  }

  [[nodiscard]] std::optional<std::size_t> player_of(OrgId organization) const {
    return organization.value < player_of_.size() ? player_of_[organization.value] : std::nullopt;
  }

  // Tells the settled schedules all that happened before the horizon, and makes them up to there.
  void tell_settled(Instant horizon) {
    CoalitionBooks::Schedules& schedules = settled_.schedules();
    for (const auto& [when, by] : capacities_) {
      if (when.first >= horizon) break;
      (void)settled_.change_capacity(*player_of(when.second), when.first, by);
    }
    mark_boundaries(schedules, horizon);
    std::set<GroupKey> keys;
    for (const GroupKey& key : settled_.groups()) keys.insert(key);
    for (const auto& [key, group] : requests_.groups()) {
      if (key.released >= horizon) break;
      keys.insert(key);
    }
    std::size_t told = 0;
    for (const GroupKey& key : keys) {
      const auto player = player_of(key.organization);
      if (player && *player < settled_.players()) {
        std::vector<WantedRequest> wanted = requests_.wanted(key, horizon);
        told += std::max<std::size_t>(wanted.size(), 1);
        (void)settled_.reconcile(key, *player, std::move(wanted), CoalitionBooks::Late::clamp);
      }
      if (told < k_batch) continue;
      told = 0;
      schedules.advance(std::max(schedules.time(), key.released.value));
      // All that happened before has been told: else there would be room for everything since the last horizon. Of
      // those of before that horizon what became of them since is told first.
      schedules.settle(key.released.value, (key.released < horizon_ ? key.released : horizon).value);
    }
    schedules.advance(horizon.value);
  }

  // Those of the boundaries before `until` that the schedules do not have yet.
  void mark_boundaries(CoalitionBooks::Schedules& schedules, Instant until) const {
    for (const Instant boundary : boundaries_) {
      const bool is_new = schedules.marks().empty() || schedules.marks().back() < boundary.value;
      if (is_new && boundary.value >= schedules.time() && boundary < until) schedules.mark(boundary.value);
    }
  }

  void begin_present() {
    present_ = settled_;
    present_->set_players(players_.ranks(present_players_.size()), sizes_of(present_players_.size()), exact_);
    mark_boundaries(present_->schedules(), k_end_of_time);
    stale_capacities_ = capacities_;
    is_beginning_ = true;
    begun_until_.reset();
    next_batch_ = told_ + k_batch;
  }

  // The first group that the present schedules are to be told. While they begin that is every one, in order.
  [[nodiscard]] std::optional<GroupKey> next_stale() const {
    std::optional<GroupKey> next;
    const auto consider = [&](const std::optional<GroupKey>& key) {
      if (key && (!next || *key < *next)) next = key;
    };
    if (!stale_.empty()) consider(*stale_.begin());
    if (!is_beginning_) return next;
    consider(settled_.group_after(begun_until_));
    const auto& groups = requests_.groups();
    const auto group = begun_until_ ? groups.upper_bound(*begun_until_) : groups.begin();
    if (group != groups.end()) consider(group->first);
    return next;
  }

  // What they are told while they have settled nothing but what lies before the horizon may be older than that: it is
  // told as if it had happened at the horizon.
  [[nodiscard]] bool may_clamp() const { return is_beginning_ && present_->schedules().settled() <= horizon_.value; }

  // False: what is new lies before what the present schedules have settled.
  [[nodiscard]] bool tell_capacities() {
    for (const auto& [when, by] : stale_capacities_) {
      const auto player = player_of(when.second);
      if (player && !present_->change_capacity(*player, when.first, by) && !may_clamp()) return false;
    }
    stale_capacities_.clear();
    return true;
  }

  // Who was there until t. False, as above.
  [[nodiscard]] bool tell_attendance(Instant t) {
    attended_ = attendance_.until(t, Instant{present_->schedules().settled()});
    return present_->set_stretches(horizon_, attended_.stretches);
  }

  enum class Outcome : std::uint8_t { done, more, too_old };
  // Tells the requests that were released before `until`, and makes the schedules reach t.
  [[nodiscard]] Outcome tell_requests(Instant t, std::uint64_t effort, Instant until = k_end_of_time) {
    CoalitionBooks::Schedules& schedules = present_->schedules();
    const auto spent = [&] { return schedules.effort().parts + schedules.effort().undone + told_; };
    const std::uint64_t most = effort + std::min(spent(), std::numeric_limits<std::uint64_t>::max() - effort);
    const auto left = [&] { return most - std::min(spent(), most); };
    for (auto next = next_stale(); next && next->released < until; next = next_stale()) {
      const GroupKey key = *next;
      const auto player = player_of(key.organization);
      const auto late = may_clamp() ? CoalitionBooks::Late::clamp : CoalitionBooks::Late::refuse;
      if (player) {
        std::vector<WantedRequest> wanted = requests_.wanted(key, k_end_of_time);
        told_ += std::max<std::size_t>(wanted.size(), 1);
        if (!present_->reconcile(key, *player, std::move(wanted), late)) return Outcome::too_old;
      }
      stale_.erase(key);
      if (is_beginning_) begun_until_ = std::max(begun_until_, next);
      ++groups_told_;
      if (told_ >= next_batch_ && !told_until(std::min(key.released, t), t, until, left())) return Outcome::more;
      if (left() == 0) return Outcome::more;
    }
    return schedules.advance(std::max(schedules.time(), t.value), left()) ? Outcome::done : Outcome::more;
  }

  // The schedules have every request that was released before `released`. When they get all from the beginning, or up
  // to a horizon, what will not be kept open is settled on the way: else there would be room for all of it. What became
  // of the requests of before the horizon is told first. False: the effort did not suffice.
  [[nodiscard]] bool told_until(Instant released, Instant t, Instant horizon, std::uint64_t effort) {
    CoalitionBooks::Schedules& schedules = present_->schedules();
    if (!schedules.advance(std::max(schedules.time(), released.value), effort)) return false;
    next_batch_ = told_ + k_batch;
    if (is_beginning_) {
      const Instant open = t - k_open_longest;
      const Instant until = std::min(released, open);
      schedules.settle(until.value, (released < horizon_ ? until : open).value);
    } else if (horizon != k_end_of_time) {
      schedules.settle(released.value);
    }
    return true;
  }

  // What the present schedules were not told yet of the time before the horizon they could not be told afterwards.
  // False: they are of no use any more.
  [[nodiscard]] bool settle_present_before(Instant horizon) {
    if (!tell_attendance(std::max(horizon, Instant{present_->schedules().time()})) || !tell_capacities()) return false;
    const std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
    if (tell_requests(horizon, no_limit, horizon) != Outcome::done) return false;
    present_->forget_before(horizon);
    return true;
  }

  // Makes the present schedules reach t. False: the effort did not suffice.
  [[nodiscard]] bool synchronize(Instant t, std::uint64_t effort) {
    set_present_players();
    while (true) {
      if (!present_) begin_present();
      const bool is_known = tell_attendance(t) && tell_capacities();
      const Outcome outcome = is_known ? tell_requests(t, effort) : Outcome::too_old;
      if (outcome == Outcome::more) return false;
      if (outcome == Outcome::done) break;
      drop_present();
    }
    is_beginning_ = false;
    latest_ = t;
    settle_present(t);
    return true;
  }

  void settle_present(Instant t) {
    Instant oldest_open = t - k_open_longest;
    begun_.erase(begun_.begin(), begun_.lower_bound(oldest_open));
    if (groups_told_ > k_open_runs / 4) {
      groups_told_ = 0;
      std::int64_t runs = 0;
      for (auto begun = begun_.rbegin(); begun != begun_.rend() && runs <= k_open_runs; ++begun) {
        runs += begun->second;
        if (runs > k_open_runs) oldest_open = begun->first;
      }
    }
    present_->settle(std::min(oldest_open, t - k_open_shortest));
  }

  // none: the first period.
  [[nodiscard]] std::optional<Instant> begin_of(std::size_t period) const {
    return period == 0 ? std::nullopt : std::optional(boundaries_[period - 1]);
  }
  [[nodiscard]] std::span<const OrgId> players_in(const CoalitionBooks& books, std::size_t period);
  [[nodiscard]] PeriodShares shares_of(const CoalitionBooks& books, std::size_t period, const GapOfPeriods& ran);
  void close_shares();
  void credit_shares(const PeriodShares& shares, const Question& question, std::span<Credit> credits);

  std::size_t organizations_ = 0;
  bool is_off_ = false;                             // there are too many of them, or too little memory
  std::size_t exact_ = hindsight::k_exact_players;  // of so many all coalitions are kept
  Players players_;
  std::vector<OrgId> present_players_;
  std::vector<std::optional<std::size_t>> player_of_;  // by OrgId, of present_players_
  bool ranks_changed_ = false;
  std::vector<std::size_t> present_sizes_;  // of the coalitions whose schedules present_ has

  RequestFacts requests_;  // those that ended before the horizon apart
  Capacities capacities_;  // changes from the horizon on
  Attendance attendance_;
  Attendance::Span attended_;  // as the present schedules have it
  std::vector<Instant> boundaries_;
  Instant horizon_ = k_beginning_of_time;
  Instant latest_ = k_beginning_of_time;  // that the present schedules were asked for

  CoalitionBooks settled_;                 // ends at the horizon
  std::optional<CoalitionBooks> present_;  // made from it
  bool is_beginning_ = false;              // some of what was there when it was made is still to be told
  std::optional<GroupKey> begun_until_;    // then: it was told until here
  std::set<GroupKey> stale_;               // to be told to present_
  Capacities stale_capacities_;
  std::int64_t groups_told_ = 0;           // since it was looked up how far the last of them reach
  std::map<Instant, std::int64_t> begun_;  // runs by their begin, as far as they may be kept open
  std::uint64_t told_ = 0;                 // requests, to the present schedules
  std::uint64_t next_batch_ = 0;           // of them
  ClosedShares closed_;                    // of periods that no fact changes any more
};

std::span<const OrgId> Hindsight::players_in(const CoalitionBooks& books, std::size_t period) {
  std::size_t players = books.players();
  if (period < boundaries_.size()) players = std::min(players, players_.joined_before(boundaries_[period]));
  return std::span(players_.all()).first(players);
}

PeriodShares Hindsight::shares_of(const CoalitionBooks& books, std::size_t period, const GapOfPeriods& ran) {
  const bool is_open = period == boundaries_.size();
  return shares_in(books,
                   {.period = period,
                    .begin = begin_of(period),
                    .end = is_open ? latest_ : boundaries_[period],
                    .players = players_in(books, period)},
                   ran, is_open ? &attended_ : nullptr);
}

std::optional<CooperationWorth> Hindsight::worth(const Question& question, std::span<const OrgId> rows) {
  if (is_off_) return std::nullopt;
  (void)synchronize(std::max(question.t, latest_), std::numeric_limits<std::uint64_t>::max());
  if (question.period < closed_.size()) return std::nullopt;
  return worth_of(*present_, {.begin = begin_of(question.period),
                              .end = question.t,
                              .players = players_in(*present_, question.period),
                              .rows = rows,
                              .got = question.got});
}

void Hindsight::close_shares() {
  if (closed_.size() == boundaries_.size() || boundaries_[closed_.size()] >= horizon_) return;
  // What is closed by now follows from the facts and the horizon alone, not from how often it was looked at.
  settled_.forget_settled();
  const std::int64_t final_until = std::min(settled_.schedules().reached(), horizon_.value - 1);
  const std::size_t before = closed_.size();
  while (closed_.size() < boundaries_.size() && boundaries_[closed_.size()].value <= final_until) {
    closed_.add(shares_of(settled_, closed_.size(), attendance_.ran_before_horizon()));
  }
  if (closed_.size() == before) return;
  const std::int64_t last = boundaries_[closed_.size() - 1].value;
  set_settled_players();
  settled_.schedules().forget_marks_before(last);
  settled_.forget_did(closed_.size());
  attendance_.forget_periods(closed_.size());
  if (!present_) return;
  present_->schedules().forget_marks_before(last);
  present_->forget_did(closed_.size());
}

void Hindsight::credit_shares(const PeriodShares& shares, const Question& question, std::span<Credit> credits) {
  const std::size_t players = shares.phi.size();
  credit(shares, std::span(players_.all()).first(players), players_.ranks(players), question, credits);
}

void Hindsight::save(TextWriter& out, const Remembered& /*books*/) {
  out.line("hindsight").number(static_cast<Int128>(players_.settled().size()));
  for (const Players::Joined& player : players_.settled()) {
    out.number(player.organization.value).instant(player.at).number(player.hangs ? 1 : 0);
  }
  if (is_off_) return;
  closed_.save(out);
  settled_.forget_settled();
  settled_.save(out);
  GapOfPeriods final_gap = attendance_.ran_before_horizon();
  for (const auto& [period, did] : settled_.did_finally()) final_gap[period] -= did;
  save_gap(out, final_gap);
}

void Hindsight::load(TextReader& in, const Remembered& books) {
  if (!in.next("hindsight")) return in.fault("the players of hindsight are missing");
  std::vector<Players::Joined> joined;
  std::set<OrgId> met;
  const auto organizations = static_cast<std::int64_t>(organizations_);
  for (std::int64_t left = in.small(0, organizations); left > 0 && in.ok(); --left) {
    const OrgId player{static_cast<std::uint32_t>(in.small(0, organizations - 1))};
    const Instant at = in.instant(k_beginning_of_time, books.now);
    joined.push_back({at, player, in.small(0, 1) == 1});
    if (!met.insert(player).second) return in.fault("a player that is there twice");
  }
  if (!std::ranges::is_sorted(joined, {}, &Players::Joined::at)) return in.fault("players out of order");
  if (!in.ok() || is_off_) return;
  const std::size_t players = joined.size();
  players_.restore(std::move(joined), books.horizon);
  closed_.load(in, players);
  if (closed_.size() > boundaries_.size()) return in.fault("shares of a period that is not closed");
  set_settled_players();
  settled_.load(in, books.now);
  if (!in.ok()) return;
  horizon_ = books.horizon;
  if (settled_.horizon() != horizon_) return in.fault("the coalitions' schedules do not end at the horizon");
  attendance_.forget_before(horizon_);
  hindsight::Coalition ever = 0;
  for (const Players::Joined& player : players_.settled()) ever |= hindsight::Coalition{1} << player.organization.value;
  attendance_.restore(load_gap(in, organizations_), ever);
  // What the remembered facts told from before the horizon is in the schedules.
  requests_.forget_before(horizon_);
  capacities_.erase(capacities_.begin(), capacities_.lower_bound({horizon_, OrgId{}}));
  drop_present();
}

}  // namespace

std::unique_ptr<Estimator> make_hindsight() {
  return std::make_unique<Hindsight>();
}

}  // namespace shapley::accounting
