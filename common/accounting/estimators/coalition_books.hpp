// The virtual schedules of all coalitions, and the last request sent to each, so that only differences are sent.
//
// Copies are independent. Single-threaded; the estimator owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "accounting/estimators/attendance.hpp"
#include "accounting/estimators/request_facts.hpp"
#include "accounting/worth/worth.hpp"
#include "base/types.hpp"
#include "hindsight/contributions.hpp"
#include "hindsight/virtual_schedules.hpp"

namespace shapley::accounting {

class TextReader;
class TextWriter;

class CoalitionBooks {
 public:
  using Schedules = hindsight::VirtualSchedules<Int128>;

  CoalitionBooks() : schedules_(1, {}, {.processor = k_micro}) {}

  // The players so far stay the first ones. `ranks`: by player, the order by name. `sizes`: contributions are wanted
  // for the first so many players, ascending; the last is all of them. `exact`: up to so many players all coalitions
  // are kept, for more the pairs (hindsight/contributions.hpp); it never grows.
  void set_players(std::vector<std::uint32_t> ranks, const std::vector<std::size_t>& sizes, std::size_t exact);
  [[nodiscard]] std::size_t players() const { return players_; }
  [[nodiscard]] std::size_t exact() const { return exact_; }
  // Memory in bytes, approximately.
  [[nodiscard]] std::size_t bytes() const;
  // The slots of coalitions_of(players). REQUIRES: `players` is one of the sizes.
  [[nodiscard]] std::vector<std::size_t> slots_of(std::size_t players) const;
  [[nodiscard]] Instant horizon() const { return horizon_; }

  // Sends the group's schedules the differences to what is wanted. False, with no change made, if that would change
  // what is settled. With Late::clamp a request that is too old begins where the unsettled part does; then always true.
  enum class Late : std::uint8_t { refuse, clamp };
  [[nodiscard]] bool reconcile(const GroupKey& key, std::size_t player, std::vector<WantedRequest> wanted,
                               Late late = Late::refuse);
  // False, with no change made, if the change lies before what is settled.
  [[nodiscard]] bool change_capacity(std::size_t player, Instant at, std::int64_t by, Kind kind = 0);
  // From the division's instant on requests that were released before it may use the new kind, too. REQUIRES: it is
  // later than all before, and than all requests that were sent so far, and not before what is settled.
  void divide_kind(const KindDivided& division);
  // After load(): the divisions that the schedules had, ascending.
  void restore_divisions(std::vector<KindDivided> divisions) { divisions_ = std::move(divisions); }

  // Replaces the stretches from `from` on. False, with no change made, if that would change what is settled.
  [[nodiscard]] bool set_stretches(Instant from, std::span<const Stretch> later);
  // The work of the virtual schedule of all players in a period until now, shared out among the players that were
  // present.
  [[nodiscard]] hindsight::GapShares did_in(std::size_t period) const;
  // The final part of did_in, by period.
  [[nodiscard]] const GapOfPeriods& did_finally() const { return did_; }
  // Drops did_finally of the first `periods` periods, which the caller keeps or saves elsewhere.
  void forget_did(std::size_t periods) { did_.erase(did_.begin(), did_.lower_bound(periods)); }
  // Settles what lies before `until`: no fact before it will come. REQUIRES: the schedules have reached it.
  void settle(Instant until);
  // Forgets at once all that can be forgotten.
  void forget_settled();

  // No fact before `horizon` will come. REQUIRES: the schedules have reached it.
  void forget_before(Instant horizon);

  [[nodiscard]] Schedules& schedules() { return schedules_; }
  [[nodiscard]] const Schedules& schedules() const { return schedules_; }
  // Groups with requests that are not final, ascending.
  [[nodiscard]] std::vector<GroupKey> groups() const;
  // The first of these groups after `key`; the first one of all for nullopt.
  [[nodiscard]] std::optional<GroupKey> group_after(const std::optional<GroupKey>& key) const;
  // Whether a part of the group's demand is still waiting of what was released then and asks for this.
  [[nodiscard]] bool waits(const GroupKey& key, Instant released, const Asked& asked) const;

  // psi and work of a coalition between two instants; what was done before `begin` does not count. `begin`: a mark;
  // nullopt: from the beginning. `end`: a mark, or the time reached.
  [[nodiscard]] Produced produced(std::size_t slot, std::optional<Instant> begin, Instant end) const;

  // The slot of a coalition; nullopt: its schedule is not kept.
  [[nodiscard]] std::optional<std::size_t> slot_of(hindsight::Coalition coalition) const;
  // A copy with these coalitions only. REQUIRES: they are kept, and ascending.
  [[nodiscard]] CoalitionBooks only(std::span<const hindsight::Coalition> coalitions) const;

  // From now on durations that are not known count as if what runs ended, and what waits was cancelled, at `t`.
  void end_all(Instant t);

  void save(TextWriter& out) const;
  // REQUIRES: the players are set. Text that save() did not write with these players is a fault of the reader.
  void load(TextReader& in, Instant now);

 private:
  struct KnownRequest {
    hindsight::Request name = 0;
    WantedRequest is;
  };
  // By release, asked and order: of one release and form what waits is last.
  using Group = std::vector<KnownRequest>;
  // A group's requests of one release and form, of which at most one waits. They are served one behind the other.
  struct OfForm {
    Group known;
    std::vector<WantedRequest> wanted;
  };
  [[nodiscard]] static std::vector<OfForm> take_changed(Group& group, std::span<const WantedRequest> wanted);
  [[nodiscard]] static bool is_before(const KnownRequest& a, const KnownRequest& b);
  void keep_begun(const Group& group, std::vector<WantedRequest>& wanted) const;
  void change(Group& group, std::size_t player, std::span<const WantedRequest> wanted);
  [[nodiscard]] hindsight::Form form_of(const WantedRequest& request) const;
  [[nodiscard]] static std::int64_t asked_amount(const WantedRequest& request);

  [[nodiscard]] bool can_change(const WantedRequest& known, const WantedRequest& wanted) const;
  [[nodiscard]] bool is_final(const WantedRequest& known) const;
  [[nodiscard]] bool allows(Group& group, std::span<const WantedRequest> wanted) const;
  [[nodiscard]] static bool is_pending(const WantedRequest& request);
  [[nodiscard]] static Group::iterator first_from(Group& group, const hindsight::Order& order);
  [[nodiscard]] static KnownRequest* known_as(Group& group, const WantedRequest& wanted);
  static void insert(Group& group, const KnownRequest& known);
  [[nodiscard]] static KnownRequest* waiting_in(Group& group);
  [[nodiscard]] static bool takes_of_what_waits(Group& group, const WantedRequest& run);
  void set_outcome(KnownRequest& known, const WantedRequest& wanted);
  void provide(Group& group, std::span<const WantedRequest* const> starts, const WantedRequest* pending);
  void start(Group& group, std::size_t player, const WantedRequest& run);
  void wait(Group& group, std::size_t player, const WantedRequest* pending);
  void add(Group& group, std::size_t player, const WantedRequest& request);
  void share_final();

  Schedules schedules_;
  std::size_t players_ = 0;
  std::size_t exact_ = hindsight::k_exact_players;
  std::vector<std::size_t> sizes_;
  std::vector<hindsight::Coalition> coalitions_;  // by slot, ascending
  Instant horizon_ = k_beginning_of_time;
  std::map<GroupKey, Group> groups_;
  std::vector<KindDivided> divisions_;
  std::vector<Stretch> stretches_;  // from the horizon on, and earlier ones that are not in did_ yet
  std::size_t shared_ = 0;          // so many of the first ones are in did_; the schedules have the cuts of the others
  GapOfPeriods did_;
};

}  // namespace shapley::accounting
