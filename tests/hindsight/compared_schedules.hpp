// Virtual schedules beside their witness (naive_schedules.hpp), of the same facts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hindsight/virtual_schedules.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::hindsight {

template <typename Integer>
class Pair {
 public:
  // `unit`: what an amount of 1 is in the schedules; `processor`: the amount that is a processor.
  Pair(std::size_t organizations, std::int64_t unit,
       std::int64_t logged_parts = VirtualSchedules<Integer>::k_logged_parts, std::int64_t processor = 1)
      : unit_(unit),
        organizations_(organizations),
        options_{.processor = processor * unit, .logged_parts = logged_parts},
        coalitions_(game::all_coalitions(organizations)),
        schedules_(organizations, coalitions_, options_),
        names_() {
    facts_.processor = processor;
  }

  void change_capacity(std::size_t organization, std::int64_t at, std::int64_t by, std::size_t kind = 0) {
    facts_.capacity.push_back({at, organization, by, kind});
    schedules_.change_capacity(organization, at, by * unit_, static_cast<Kind>(kind));
  }
  void split_kind(std::size_t kind, std::size_t added) {
    for (naive::Request& request : facts_.requests) {
      const auto place = std::find(request.kinds.begin(), request.kinds.end(), kind);
      if (place != request.kinds.end()) request.kinds.insert(place + 1, added);
    }
    schedules_.split_kind(static_cast<Kind>(kind), static_cast<Kind>(added));
  }
  std::size_t add(const naive::Request& request) {
    facts_.requests.push_back(request);
    const Form form{.kinds = {request.kinds.begin(), request.kinds.end()}, .width = request.width * unit_};
    names_.push_back(
        schedules_.add(request.organization, request.release, request.amount * unit_, request.order, form));
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
  void charge(std::size_t request, std::int64_t amount) {
    facts_.requests[request].charged = amount;
    schedules_.charge(names_[request], amount * unit_);
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
    VirtualSchedules<Integer> restored(organizations_, coalitions_, options_);
    ASSERT_TRUE(restored.restore(saved.image));
    const auto again = restored.image();
    ASSERT_EQ(again.image.forms, saved.image.forms);
    ASSERT_EQ(again.image.requests, saved.image.requests);
    for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) {
      ASSERT_EQ(again.image.schedules[slot].parts, saved.image.schedules[slot].parts);
      ASSERT_EQ(again.image.schedules[slot].points.size(), 1U);
      const auto same = [](const auto& a, const auto& b) {
        ASSERT_EQ(a.at, b.at);
        ASSERT_EQ(a.head, b.head);
        ASSERT_EQ(a.waiting, b.waiting);
        ASSERT_EQ(a.pools, b.pools);
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
  // As of the last comparison.
  [[nodiscard]] std::int64_t utility(std::size_t slot) const {
    return static_cast<std::int64_t>(schedules_.utility(slot, schedules_.time()));
  }
  [[nodiscard]] std::uint64_t undone() const { return schedules_.effort().undone; }
  [[nodiscard]] std::uint64_t final_cuts() const { return final_cuts_; }
  [[nodiscard]] const naive::Facts& facts() const { return facts_; }

  // Orders of one request's parts have room between those of others.
  static constexpr std::uint64_t k_parts = 1U << 20U;

 private:
  std::int64_t unit_;
  std::size_t organizations_;
  typename VirtualSchedules<Integer>::Options options_;
  std::uint64_t splits_ = 0;
  std::uint64_t final_cuts_ = 0;
  std::vector<Coalition> coalitions_;
  VirtualSchedules<Integer> schedules_;
  std::vector<Request> names_;
  naive::Facts facts_;
};

}  // namespace shapley::hindsight
