// Virtual schedules against their witness (naive_schedules.hpp), on random histories of a cluster: jobs that are
// cancelled, killed and requeued, capacity that comes and goes, facts that come late and in any order.
#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::hindsight {
namespace {

constexpr std::uint64_t k_instances = 1'500;
constexpr std::int64_t k_origin = 1'700'000'000;  // instants are seconds since 1970

template <typename Integer>
class Pair {
 public:
  Pair(std::size_t organizations, std::int64_t unit,
       std::int64_t logged_parts = VirtualSchedules<Integer>::k_logged_parts)
      : unit_(unit),
        organizations_(organizations),
        logged_parts_(logged_parts),
        coalitions_(game::all_coalitions(organizations)),
        schedules_(organizations, coalitions_, logged_parts),
        names_() {}

  void change_capacity(std::size_t organization, std::int64_t at, std::int64_t by) {
    facts_.capacity.push_back({at, organization, by});
    schedules_.change_capacity(organization, at, by * unit_);
  }
  std::size_t add(const naive::Request& request) {
    facts_.requests.push_back(request);
    names_.push_back(schedules_.add(request.organization, request.release, request.amount * unit_, request.order));
    if (request.duration) schedules_.ended(names_.back(), *request.duration);
    if (request.withdrawn) schedules_.withdraw(names_.back());
    return names_.size() - 1;
  }
  void started(std::size_t request, std::int64_t at) { schedules_.started(names_[request], at); }
  void ended(std::size_t request, std::int64_t duration) {
    facts_.requests[request].duration = duration;
    schedules_.ended(names_[request], duration);
  }
  void retract_end(std::size_t request) {
    facts_.requests[request].duration.reset();
    schedules_.retract_end(names_[request]);
  }
  void withdraw(std::size_t request) {
    facts_.requests[request].withdrawn = true;
    schedules_.withdraw(names_[request]);
  }
  // The first `amount` of a waiting request runs; returns its index.
  std::size_t split(std::size_t request, std::int64_t amount) {
    naive::Request& rest = facts_.requests[request];
    naive::Request first = rest;
    first.order = rest.order - k_parts + ++splits_;
    first.amount = amount;
    const Request name = schedules_.split(names_[request], amount * unit_, first.order);
    if (amount == rest.amount) {
      rest.order = first.order;
      return request;
    }
    rest.amount -= amount;
    facts_.requests.push_back(first);
    names_.push_back(name);
    return names_.size() - 1;
  }
  void amend(std::size_t request, std::int64_t amount) {
    facts_.requests[request].amount = amount;
    schedules_.amend(names_[request], amount * unit_);
  }
  void settle(std::int64_t until) { schedules_.settle(until); }
  void mark(std::int64_t at) { schedules_.mark(at); }
  void forget_marks_before(std::int64_t at) { schedules_.forget_marks_before(at); }
  // Not before what is settled.
  void cut(std::int64_t at) {
    std::vector<std::int64_t> cuts = schedules_.cuts();
    const auto place = std::lower_bound(cuts.begin(), cuts.end(), at);
    if (at < schedules_.settled() || (place != cuts.end() && *place == at)) return;
    const auto kept = static_cast<std::size_t>(place - cuts.begin());
    cuts.insert(place, at);
    schedules_.set_cuts(kept, std::span(cuts).subspan(kept));
  }
  void forget_cuts() {
    final_cuts_ += schedules_.final_cuts();
    schedules_.forget_cuts(schedules_.final_cuts());
  }
  void join() {
    coalitions_ = game::all_coalitions(++organizations_);
    schedules_.set_coalitions(organizations_, coalitions_);
  }

  // Goes on from what is saved.
  void save_and_restore() {
    auto saved = schedules_.image();
    VirtualSchedules<Integer> restored(organizations_, coalitions_, logged_parts_);
    ASSERT_TRUE(restored.restore(saved.image));
    const auto again = restored.image();
    ASSERT_EQ(again.image.requests, saved.image.requests);
    for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
      ASSERT_EQ(again.image.schedules[slot].parts, saved.image.schedules[slot].parts);
      ASSERT_EQ(again.image.schedules[slot].points.size(), 1U);
      const auto same = [](const auto& a, const auto& b) {
        ASSERT_EQ(a.at, b.at);
        ASSERT_EQ(a.head, b.head);
        ASSERT_EQ(a.begun, b.begun);
        ASSERT_EQ(a.free, b.free);
        ASSERT_EQ(a.value, b.value);
        ASSERT_EQ(a.coming, b.coming);
      };
      ASSERT_NO_FATAL_FAILURE(same(again.image.schedules[slot], saved.image.schedules[slot]));
      ASSERT_NO_FATAL_FAILURE(
          same(again.image.schedules[slot].points.front(), saved.image.schedules[slot].points.front()));
    }
    schedules_ = std::move(restored);
    for (Request& name : names_) {
      const auto now = std::lower_bound(saved.names.begin(), saved.names.end(), std::pair(name, Request{0}));
      if (now != saved.names.end() && now->first == name) name = now->second;
    }
  }

  // A few parts at a time, which is to make no difference.
  void compare_at(std::int64_t t) {
    while (!schedules_.advance(t, 3)) {
    }
    for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
      const naive::Value expected = naive::value_of(facts_, coalitions_[slot], t);
      ASSERT_EQ(static_cast<Int128>(schedules_.utility(slot, t)), expected.utility * unit_)
          << "coalition " << coalitions_[slot] << " at " << t;
      ASSERT_EQ(static_cast<Int128>(schedules_.work(slot, t)), expected.work * unit_)
          << "coalition " << coalitions_[slot] << " at " << t;
      for (std::size_t mark = 0; mark < schedules_.marks().size(); ++mark) {
        const naive::Value then = naive::value_of(facts_, coalitions_[slot], schedules_.marks()[mark]);
        ASSERT_EQ(static_cast<Int128>(schedules_.utility_at_mark(slot, mark)), then.utility * unit_);
        ASSERT_EQ(static_cast<Int128>(schedules_.work_at_mark(slot, mark)), then.work * unit_);
      }
    }
    const std::vector<Done<Int128>> at_cuts = schedules_.done_at_cuts();
    for (std::size_t cut = 0; cut < schedules_.cuts().size(); ++cut) {
      const std::int64_t at = schedules_.cuts()[cut];
      ASSERT_EQ(cut < at_cuts.size(), at <= t);
      if (at > t) continue;
      const naive::Value then = naive::value_of(facts_, coalitions_.back(), at);
      ASSERT_EQ(at_cuts[cut].work, then.work * unit_) << "cut at " << at << ", now " << t;
      ASSERT_EQ(at_cuts[cut].utility_at(at), then.utility * unit_) << "cut at " << at << ", now " << t;
    }
  }
  [[nodiscard]] std::uint64_t undone() const { return schedules_.effort().undone; }
  [[nodiscard]] std::uint64_t final_cuts() const { return final_cuts_; }
  [[nodiscard]] const naive::Facts& facts() const { return facts_; }

  // Orders of one request's parts have room between those of others.
  static constexpr std::uint64_t k_parts = 1U << 20U;

 private:
  std::int64_t unit_;
  std::size_t organizations_;
  std::int64_t logged_parts_;
  std::uint64_t splits_ = 0;
  std::uint64_t final_cuts_ = 0;
  std::vector<Coalition> coalitions_;
  VirtualSchedules<Integer> schedules_;
  std::vector<Request> names_;
  naive::Facts facts_;
};

// A cluster whose facts come when they happen. Who starts when is left to chance: the real schedule may be
// anything.
template <typename Integer>
class Cluster {
 public:
  Cluster(std::uint64_t seed, std::int64_t unit, bool settles, std::int64_t logged_parts)
      : rng_(seed), settles_(settles), organizations_(1 + rng_.below(4)), pair_(organizations_, unit, logged_parts) {}

  void live() {
    const auto length = static_cast<std::int64_t>(12 + rng_.below(30));
    arrivals_ = 1 + rng_.below(4);
    for (std::size_t u = 0; u < organizations_; ++u)
      pair_.change_capacity(u, k_origin, static_cast<std::int64_t>(rng_.below(4)));
    for (now_ = k_origin; now_ < k_origin + length; ++now_) {
      if (settles_ && rng_.below(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
        pair_.settle(now_);
      }
      keep_books();
      end_some();
      arrive();
      if (rng_.below(8) == 0) change_some_capacity();
      withdraw_some();
      amend_some();
      start_some();
      if (rng_.below(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
      }
    }
    ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
  }
  [[nodiscard]] std::uint64_t undone() const { return pair_.undone(); }
  [[nodiscard]] std::uint64_t final_cuts() const { return pair_.final_cuts(); }

 private:
  struct Run {
    std::size_t request;
    std::int64_t start;
    std::int64_t end;  // not known before
  };

  // What the books do: periods end, checkpoints are written and read, organizations join.
  void keep_books() {
    if (rng_.below(8) == 0 && marked_ < now_) {
      ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
      pair_.mark(now_);
      marked_ = now_;
      if (rng_.below(3) == 0) pair_.forget_marks_before(now_);
    }
    if (rng_.below(4) == 0) pair_.cut(now_ - static_cast<std::int64_t>(rng_.below(8)) + 2);
    if (rng_.below(10) == 0) pair_.forget_cuts();
    if (rng_.below(10) == 0) {
      ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
      ASSERT_NO_FATAL_FAILURE(pair_.save_and_restore());
    }
    if (rng_.below(30) == 0 && organizations_ < 4) {
      pair_.join();
      ++organizations_;
    }
  }
  void end_some() {
    for (std::size_t i = 0; i < running_.size();) {
      const Run run = running_[i];
      const bool killed = run.start < now_ && rng_.below(12) == 0;
      if (run.end > now_ && !killed) {
        ++i;
        continue;
      }
      pair_.ended(run.request, now_ - run.start);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      if (killed && rng_.below(2) == 0) {  // and requeued
        naive::Request again = pair_.facts().requests[run.request];
        again.release = now_ + static_cast<std::int64_t>(rng_.below(3));
        again.duration.reset();
        again.order = next_order();
        waiting_.push_back(pair_.add(again));
      }
    }
  }
  void arrive() {
    if (rng_.below(4) >= arrivals_) return;
    naive::Request request;
    request.release = now_ + static_cast<std::int64_t>(rng_.below(4) == 0 ? rng_.below(5) : 0);
    request.order = next_order();
    request.amount = 1 + static_cast<std::int64_t>(rng_.below(4));
    request.organization = rng_.below(organizations_);
    waiting_.push_back(pair_.add(request));
  }
  void change_some_capacity() {
    const std::size_t u = rng_.below(organizations_);
    std::int64_t owned = 0;
    for (const naive::Change& change : pair_.facts().capacity) owned += change.organization == u ? change.by : 0;
    pair_.change_capacity(u, now_, static_cast<std::int64_t>(rng_.below(4)) - owned);
  }
  void withdraw_some() {
    if (waiting_.empty() || rng_.below(6) != 0) return;
    pair_.withdraw(take_waiting(rng_.below(waiting_.size())));
  }
  std::uint64_t next_order() { return (rng_.below(3) * 1000 + ++added_) * Pair<Integer>::k_parts; }
  void amend_some() {
    if (waiting_.empty() || rng_.below(6) != 0) return;
    pair_.amend(waiting_[rng_.below(waiting_.size())], 1 + static_cast<std::int64_t>(rng_.below(5)));
  }
  void start_some() {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (pair_.facts().requests[waiting_[i]].release > now_ || rng_.below(3) != 0) {
        ++i;
        continue;
      }
      const auto amount = static_cast<std::int64_t>(
          1 + rng_.below(static_cast<std::uint64_t>(pair_.facts().requests[waiting_[i]].amount)));
      const std::size_t pending = waiting_[i];
      const std::size_t request = pair_.split(pending, amount);
      if (request == pending) take_waiting(i);
      running_.push_back({request, now_, now_ + 1 + static_cast<std::int64_t>(rng_.below(9))});
      pair_.started(request, now_);
    }
  }
  std::size_t take_waiting(std::size_t index) {
    const std::size_t request = waiting_[index];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    return request;
  }

  Rng rng_;
  bool settles_;
  std::size_t organizations_;
  std::uint64_t arrivals_ = 0;
  Pair<Integer> pair_;
  std::int64_t now_ = 0;
  std::int64_t marked_ = 0;
  std::uint64_t added_ = 0;
  std::vector<std::size_t> waiting_;
  std::vector<Run> running_;
};

template <typename Integer>
void live_many(std::int64_t unit, bool settles, std::int64_t logged_parts = VirtualSchedules<Integer>::k_logged_parts) {
  std::uint64_t undone = 0;
  std::uint64_t final_cuts = 0;
  for (std::uint64_t seed = 0; seed < k_instances; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cluster<Integer> cluster(seed, unit, settles, logged_parts);
    ASSERT_NO_FATAL_FAILURE(cluster.live());
    undone += cluster.undone();
    final_cuts += cluster.final_cuts();
  }
  EXPECT_GT(undone, k_instances);  // otherwise nothing was tried
  if (settles) {
    EXPECT_GT(final_cuts, k_instances / 4);
  }
}

TEST(VirtualSchedules, AreThoseOfTheFactsKnown) {
  live_many<Int128>(1'000'000, false);
}

TEST(VirtualSchedules, ForgetOnlyWhatNoFactCanReach) {
  live_many<Int128>(1, true);
}

// Lists of a few parts: nearly whenever it goes back it does so by a point.
TEST(VirtualSchedules, AreThoseOfTheFactsKnownWherePointsAreGoneBackTo) {
  live_many<Int128>(1, true, 1);
  live_many<Int128>(1, false, 2);
}

TEST(VirtualSchedules, AreTheSameInSixtyFourBits) {
  live_many<std::int64_t>(1, true);
}

// What starts of a request goes before those that were withdrawn where it waits, and what comes between has its place.
TEST(VirtualSchedules, PlacesOfWithdrawnRequestsAreNobodys) {
  Pair<Int128> pair(1, 1);
  naive::Request waits{.release = k_origin, .order = 2 * Pair<Int128>::k_parts, .amount = 2};
  for (int i = 0; i < 3; ++i) pair.withdraw(pair.add(waits));
  const std::size_t rest = pair.add(waits);
  pair.ended(pair.split(rest, 1), 1);
  waits.order = Pair<Int128>::k_parts + 2;
  pair.add(waits);
  pair.change_capacity(0, k_origin + 1, 1);
  pair.change_capacity(0, k_origin + 2, -1);
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(k_origin + 5));
  ASSERT_NO_FATAL_FAILURE(pair.save_and_restore());
  ASSERT_NO_FATAL_FAILURE(pair.compare_at(k_origin + 6));
}

// All facts of a small history in any order, some of them twice, first with another duration, or taken back.
TEST(VirtualSchedules, DoNotDependOnTheOrderOfTelling) {
  for (std::uint64_t seed = 0; seed < k_instances; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::size_t organizations = 1 + rng.below(3);
    Pair<Int128> pair(organizations, 1, 1 + static_cast<std::int64_t>(rng.below(4)));
    std::vector<std::function<void()>> facts;
    for (std::uint64_t i = rng.below(4) + 1; i > 0; --i) {
      const std::size_t u = rng.below(organizations);
      const std::int64_t at = k_origin + static_cast<std::int64_t>(rng.below(15));
      const std::int64_t by = static_cast<std::int64_t>(rng.below(5)) - 1;
      facts.emplace_back([&pair, u, at, by] { pair.change_capacity(u, at, by); });
    }
    for (std::uint64_t i = rng.below(10); i > 0; --i) {
      naive::Request request;
      request.release = k_origin + static_cast<std::int64_t>(rng.below(15));
      request.order = rng.below(2);
      request.amount = 1 + static_cast<std::int64_t>(rng.below(2));
      request.organization = rng.below(organizations);
      facts.emplace_back([&pair, &rng, request] {
        const std::size_t added = pair.add(request);
        if (rng.below(4) != 0) pair.ended(added, 1 + static_cast<std::int64_t>(rng.below(6)));
      });
      // What becomes of some request that is known by then.
      facts.emplace_back([&pair, &rng] {
        const std::size_t known = pair.facts().requests.size();
        if (known == 0) return;
        const std::size_t of = rng.below(known);
        switch (rng.below(6)) {
          case 0:
            pair.withdraw(of);
            break;
          case 1:
            pair.retract_end(of);
            break;
          default:
            pair.ended(of, 1 + static_cast<std::int64_t>(rng.below(6)));
        }
      });
    }
    for (std::size_t i = facts.size(); i > 1; --i) std::swap(facts[i - 1], facts[rng.below(i)]);
    std::int64_t t = k_origin;
    for (const auto& tell : facts) {
      tell();
      t += static_cast<std::int64_t>(rng.below(4));
      if (rng.below(2) == 0) {
        ASSERT_NO_FATAL_FAILURE(pair.compare_at(t));
      }
    }
    ASSERT_NO_FATAL_FAILURE(pair.compare_at(t));
  }
}

// Three organizations of ten processors; the first one's jobs of a second come every second. The second one asked for
// all processors at the beginning, and waits: where it is alone, and with others, it holds some since then.
class LongDay {
 public:
  static constexpr std::int64_t k_jobs = 20'000;
  static constexpr std::int64_t k_end = k_origin + k_jobs;

  LongDay() : coalitions_(game::all_coalitions(3)), schedules_(3, coalitions_) {
    for (std::size_t u = 0; u < 3; ++u) schedules_.change_capacity(u, k_origin - 10, 10);
    old_ = schedules_.add(1, k_origin - 5, 8, Order(1));
    for (std::int64_t i = 0; i < k_jobs; ++i) {
      const Request job = schedules_.add(0, k_origin + i, 1, Order(static_cast<std::uint64_t>(i + 2)));
      schedules_.started(job, k_origin + i);
      schedules_.ended(job, 1);
      if (i % 50 != 0) continue;
      schedules_.advance(k_origin + i);
      schedules_.settle(k_origin + i - 10);
    }
    schedules_.advance(k_end);
  }
  VirtualSchedules<Int128>& operator*() { return schedules_; }
  VirtualSchedules<Int128>* operator->() { return &schedules_; }
  [[nodiscard]] Request old() const { return old_; }

 private:
  std::vector<Coalition> coalitions_;
  VirtualSchedules<Int128> schedules_;
  Request old_ = 0;
};

TEST(VirtualSchedules, AnOldRequestThatChangesTakesNoFurtherMemory) {
  LongDay day;
  const std::size_t before = day->bytes();
  day->amend(day.old(), 30);
  std::size_t most = before;
  while (!day->advance(LongDay::k_end, 1'000)) most = std::max(most, day->bytes());
  EXPECT_LT(std::max(most, day->bytes()), before + before / 2);
}

// Whatever order they come in.
TEST(VirtualSchedules, ManyLateFactsCostOneRepetitionInPortions) {
  LongDay day;
  constexpr std::int64_t k_late = 1'000;
  const std::uint64_t before = day->effort().parts;
  for (std::int64_t i = 0; i < k_late; ++i) {
    const Request late =
        day->add(2, k_origin + LongDay::k_jobs - 11 * (i % 977), 1, Order(static_cast<std::uint64_t>(i)));
    day->started(late, k_origin + LongDay::k_jobs - 11 * (i % 977));
    day->ended(late, 1);
  }
  EXPECT_EQ(day->effort().parts, before) << "facts make nothing";
  constexpr std::uint64_t k_portion = 500;
  constexpr std::uint64_t k_at_once = 30;  // all processors
  for (bool is_done = false; !is_done;) {
    const std::uint64_t made = day->effort().parts;
    is_done = day->advance(LongDay::k_end, k_portion);
    EXPECT_LE(day->effort().parts - made, k_portion + k_at_once);
  }
  // The third organization is in four of the seven coalitions; with gaps between points it is twice that at the most.
  EXPECT_LT(day->effort().parts - before, 2 * 4 * (LongDay::k_jobs + k_late));
}

}  // namespace
}  // namespace shapley::hindsight
