// Virtual schedules against their witness (naive_schedules.hpp), on random histories of a cluster: jobs that are
// cancelled, killed and requeued, capacity that comes and goes, facts that come late and in any order; with one pool
// and jobs that start in parts, and with kinds of nodes and jobs that start whole.
#include "hindsight/virtual_schedules.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "tests/hindsight/compared_schedules.hpp"

namespace shapley::hindsight {
namespace {

constexpr std::uint64_t k_instances = 500;
constexpr std::int64_t k_origin = 1'700'000'000;  // instants are seconds since 1970

// What the cluster is.
struct Site {
  std::int64_t unit = 1;
  bool settles = false;
  std::int64_t logged_parts = VirtualSchedules<Int128>::k_logged_parts;
  std::size_t kinds = 1;
  std::int64_t processor = 1;
  bool has_whole_jobs = false;
  bool has_parts = true;  // jobs that start in parts
};

// A cluster whose facts come when they happen. Who starts when is left to chance: the real schedule may be
// anything.
template <typename Integer>
class Cluster {
 public:
  Cluster(std::uint64_t seed, const Site& site)
      : rng_(seed),
        site_(site),
        kinds_(site.kinds),
        organizations_(1 + rng_.below(4)),
        pair_(organizations_, site.unit, site.logged_parts, site.processor) {}

  void live() {
    const auto length = static_cast<std::int64_t>(12 + rng_.below(30));
    arrivals_ = 1 + rng_.below(4);
    for (std::size_t u = 0; u < organizations_; ++u) {
      for (std::size_t kind = 0; kind < kinds_; ++kind) pair_.change_capacity(u, k_origin, some_capacity(), kind);
    }
    for (now_ = k_origin; now_ < k_origin + length; ++now_) {
      if (site_.settles && rng_.below(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(pair_.compare_at(now_));
        pair_.settle(now_);
      }
      keep_books();
      end_some();
      arrive();
      if (rng_.below(8) == 0) change_some_capacity();
      if (site_.kinds > 1 && kinds_ < naive::k_kinds && rng_.below(25) == 0) split_some_kind();
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
        again.charged.reset();
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
    if (site_.has_whole_jobs) make_whole(request);
    waiting_.push_back(pair_.add(request));
  }
  // A job that starts whole, wider than any pool perhaps, or several of them, or, seldom, one that starts in parts.
  void make_whole(naive::Request& request) {
    if (kinds_ > 1) request.kinds = some_kinds();
    if (site_.has_parts && rng_.below(6) == 0) return;
    request.width = 1 + static_cast<std::int64_t>(rng_.below(rng_.below(4) == 0 ? 9 : 3));
    request.amount = request.width * (rng_.below(4) == 0 ? 1 + static_cast<std::int64_t>(rng_.below(4)) : 1);
  }
  std::vector<std::size_t> some_kinds() {
    std::vector<std::size_t> kinds;
    for (std::uint64_t i = 1 + rng_.below(3); i > 0; --i) {
      const std::size_t kind = rng_.below(kinds_);
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
    return kinds;
  }
  std::int64_t some_capacity() { return static_cast<std::int64_t>(rng_.below(site_.processor == 1 ? 4 : 7)); }
  [[nodiscard]] std::int64_t owned(std::size_t u, std::size_t kind) const {
    std::int64_t owned = 0;
    for (const naive::Change& change : pair_.facts().capacity)
      owned += change.organization == u && change.kind == kind ? change.by : 0;
    return owned;
  }
  // Some nodes of a kind become one of their own.
  void split_some_kind() {
    const std::size_t kind = rng_.below(kinds_);
    pair_.split_kind(kind, kinds_);
    for (std::size_t u = 0; u < organizations_; ++u) {
      const auto moved = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(owned(u, kind)) + 1));
      pair_.change_capacity(u, now_, -moved, kind);
      pair_.change_capacity(u, now_, moved, kinds_);
    }
    ++kinds_;
  }
  void change_some_capacity() {
    const std::size_t u = rng_.below(organizations_);
    const std::size_t kind = kinds_ == 1 ? 0 : rng_.below(kinds_);
    pair_.change_capacity(u, now_, some_capacity() - owned(u, kind), kind);
  }
  void withdraw_some() {
    if (waiting_.empty() || rng_.below(6) != 0) return;
    pair_.withdraw(take_waiting(rng_.below(waiting_.size())));
  }
  std::uint64_t next_order() { return (rng_.below(3) * 1000 + ++added_) * Pair<Integer>::k_parts; }
  void amend_some() {
    if (waiting_.empty() || rng_.below(6) != 0) return;
    const std::size_t request = waiting_[rng_.below(waiting_.size())];
    pair_.amend(request, together(request) * (1 + static_cast<std::int64_t>(rng_.below(5))));
  }
  void start_some() {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (pair_.facts().requests[waiting_[i]].release > now_ || rng_.below(3) != 0) {
        ++i;
        continue;
      }
      const std::size_t pending = waiting_[i];
      const std::int64_t all = pair_.facts().requests[pending].amount / together(pending);
      const std::int64_t amount =
          together(pending) * static_cast<std::int64_t>(1 + rng_.below(static_cast<std::uint64_t>(all)));
      const std::size_t request = pair_.split(pending, amount);
      if (request == pending) take_waiting(i);
      running_.push_back({request, now_, now_ + 1 + static_cast<std::int64_t>(rng_.below(9))});
      pair_.started(request, now_);
      const std::int64_t width = pair_.facts().requests[request].width;
      if (width > 0 && width == amount && rng_.below(4) == 0)
        pair_.charge(request, 1 + static_cast<std::int64_t>(rng_.below(6)));
    }
  }
  [[nodiscard]] std::int64_t together(std::size_t request) const {
    return std::max<std::int64_t>(pair_.facts().requests[request].width, 1);
  }
  std::size_t take_waiting(std::size_t index) {
    const std::size_t request = waiting_[index];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    return request;
  }

  Rng rng_;
  Site site_;
  std::size_t kinds_;
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
void live_many(const Site& site) {
  std::uint64_t undone = 0;
  std::uint64_t final_cuts = 0;
  for (std::uint64_t seed = 0; seed < k_instances; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cluster<Integer> cluster(seed, site);
    ASSERT_NO_FATAL_FAILURE(cluster.live());
    undone += cluster.undone();
    final_cuts += cluster.final_cuts();
  }
  EXPECT_GT(undone, k_instances);  // otherwise nothing was tried
  if (site.settles) {
    EXPECT_GT(final_cuts, k_instances / 4);
  }
}

TEST(VirtualSchedules, AreThoseOfTheFactsKnown) {
  live_many<Int128>({.unit = 1'000'000});
}

TEST(VirtualSchedules, ForgetOnlyWhatNoFactCanReach) {
  live_many<Int128>({.settles = true});
}

// Lists of a few parts: nearly whenever it goes back it does so by a point.
TEST(VirtualSchedules, AreThoseOfTheFactsKnownWherePointsAreGoneBackTo) {
  live_many<Int128>({.settles = true, .logged_parts = 1});
  live_many<Int128>({.logged_parts = 2});
}

TEST(VirtualSchedules, AreTheSameInSixtyFourBits) {
  live_many<std::int64_t>({.settles = true});
}

TEST(VirtualSchedules, OfWholeJobsAreThoseOfTheFactsKnown) {
  live_many<Int128>({.unit = 1'000'000, .has_whole_jobs = true, .has_parts = false});
}

TEST(VirtualSchedules, OfKindsForgetOnlyWhatNoFactCanReach) {
  live_many<Int128>({.settles = true, .kinds = 3, .has_whole_jobs = true});
}

// Two units are a processor, so that pools are broken.
TEST(VirtualSchedules, OfKindsAreThoseOfTheFactsKnownWherePointsAreGoneBackTo) {
  live_many<Int128>({.settles = true, .logged_parts = 1, .kinds = 2, .processor = 2, .has_whole_jobs = true});
  live_many<Int128>({.unit = 500'000, .logged_parts = 2, .kinds = 2, .processor = 2, .has_whole_jobs = true});
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

// A damaged checkpoint may say that less is settled than its schedules have forgotten.
TEST(VirtualSchedules, WhatAnImageHasForgottenStaysForgotten) {
  LongDay day;
  day->withdraw(day.old());
  day->advance(LongDay::k_end);
  VirtualSchedules<Int128>::Image image = day->image().image;
  image.settled -= LongDay::k_jobs / 2;
  const std::vector<Coalition> coalitions = game::all_coalitions(3);
  VirtualSchedules<Int128> restored(3, coalitions);
  ASSERT_TRUE(restored.restore(std::move(image)));
  restored.forget_settled();
  for (std::size_t slot = 0; slot < coalitions.size(); ++slot) {
    EXPECT_TRUE(restored.utility(slot, LongDay::k_end) == day->utility(slot, LongDay::k_end)) << slot;
  }
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
