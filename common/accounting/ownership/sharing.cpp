#include "accounting/ownership/sharing.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "game/shapley_value.hpp"

namespace shapley::accounting {

namespace {

// Goes through time, adds and removes claims, and visits every stretch in which a claim holds the same amount.
class Sweep {
 public:
  Sweep(std::span<const Claim> claims, std::span<const Worth> worths, Instant from, const VisitHeld& visit)
      : claims_(claims), worths_(worths), visit_(visit) {
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].begin < claims[i].end && claims[i].end > from) by_begin_.push_back(i);
    }
    std::sort(by_begin_.begin(), by_begin_.end(),
              [&](std::size_t a, std::size_t b) { return claims[a].begin < claims[b].begin; });
    t_ = from;
  }

  void run() {
    while (next_ < by_begin_.size() || !held_.empty()) {
      drop_ended();
      take_begun();
      while (next_worth_ < worths_.size() && worths_[next_worth_].at <= t_) whole_ = worths_[next_worth_++].whole;
      divide();
      t_ = next_instant();
    }
  }

 private:
  struct Held {
    std::size_t claim;
    Instant since;
    ProcessorMillionths processors;
  };

  void visit(const Held& held) {
    if (held.since < t_ && held.processors.value > 0) visit_(held.claim, held.since, t_, held.processors);
  }

  void drop_ended() {
    for (const Held& held : held_) {
      if (claims_[held.claim].end != t_) continue;
      visit(held);
      claimed_ -= claims_[held.claim].processors.value;
    }
    std::erase_if(held_, [&](const Held& held) { return claims_[held.claim].end == t_; });
  }

  void take_begun() {
    for (; next_ < by_begin_.size() && claims_[by_begin_[next_]].begin <= t_; ++next_) {
      const std::size_t claim = by_begin_[next_];
      const auto later =
          std::upper_bound(held_.begin(), held_.end(), claim, [](std::size_t c, const Held& h) { return c < h.claim; });
      held_.insert(later, {claim, t_, claims_[claim].processors});
      claimed_ += claims_[claim].processors.value;
    }
  }

  // Nothing changes where the claims fit and fitted before: each holds what it claims.
  void divide() {
    const bool shared = whole_.value > 0 && claimed_ > whole_.value;
    if (!shared && !was_shared_) return;
    std::vector<std::int64_t> parts;
    if (shared) {
      std::vector<Int128> weights;
      for (const Held& held : held_) weights.push_back(claims_[held.claim].processors.value);
      parts = game::apportion(whole_.value, weights);
    }
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const ProcessorMillionths now = shared ? ProcessorMillionths{parts[i]} : claims_[held_[i].claim].processors;
      if (now == held_[i].processors) continue;
      visit(held_[i]);
      held_[i].since = t_;
      held_[i].processors = now;
    }
    was_shared_ = shared;
  }

  [[nodiscard]] Instant next_instant() const {
    Instant next = k_end_of_time;
    if (next_ < by_begin_.size()) next = std::min(next, claims_[by_begin_[next_]].begin);
    if (next_worth_ < worths_.size()) next = std::min(next, worths_[next_worth_].at);
    for (const Held& held : held_) next = std::min(next, claims_[held.claim].end);
    return next;
  }

  std::span<const Claim> claims_;
  std::span<const Worth> worths_;
  const VisitHeld& visit_;
  std::vector<std::size_t> by_begin_;
  std::size_t next_ = 0;
  std::size_t next_worth_ = 0;
  std::vector<Held> held_;  // ascending by claim
  Instant t_;
  Int128 claimed_ = 0;
  ProcessorMillionths whole_;
  bool was_shared_ = false;
};

}  // namespace

void for_each_held(std::span<const Claim> claims, std::span<const Worth> worths, Instant from, const VisitHeld& visit) {
  Sweep(claims, worths, from, visit).run();
}

namespace {

// The set of members that are present; counts those before a place in logarithmic time (a Fenwick tree).
class Presence {
 public:
  void resize(std::size_t members) { sums_.resize(members + 1); }
  void change(std::size_t member, std::int64_t by) {
    for (std::size_t i = member + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += by;
  }
  // How many of the first `members` are present.
  [[nodiscard]] std::int64_t count(std::size_t members) const {
    std::int64_t sum = 0;
    for (std::size_t i = members; i > 0; i &= i - 1) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::int64_t> sums_;
};

class ClassSweep {
 public:
  ClassSweep(std::span<const Claim> claims, std::span<const std::size_t> groups, std::span<const Worth> worths,
             Instant from, const VisitClass& visit)
      : claims_(claims), worths_(worths), visit_(visit), places_(claims.size()), t_(from) {
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> known;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].begin >= claims[i].end || claims[i].end <= from || claims[i].processors.value <= 0) continue;
      const auto [entry, is_new] = known.try_emplace({groups[i], claims[i].processors.value}, classes_.size());
      if (is_new) classes_.emplace_back().claim = claims[i].processors.value;
      places_[i] = {entry->second, classes_[entry->second].members.size()};
      classes_[entry->second].members.push_back(i);
      by_begin_.push_back(i);
    }
    for (Class& c : classes_) c.presence.resize(c.members.size());
    by_end_ = by_begin_;
    std::sort(by_begin_.begin(), by_begin_.end(),
              [&](std::size_t a, std::size_t b) { return claims[a].begin < claims[b].begin; });
    std::sort(by_end_.begin(), by_end_.end(),
              [&](std::size_t a, std::size_t b) { return claims[a].end < claims[b].end; });
  }

  void run() {
    while (next_end_ < by_end_.size()) {
      for (; next_end_ < by_end_.size() && claims_[by_end_[next_end_]].end <= t_; ++next_end_)
        change(by_end_[next_end_], -1);
      for (; next_begin_ < by_begin_.size() && claims_[by_begin_[next_begin_]].begin <= t_; ++next_begin_)
        change(by_begin_[next_begin_], 1);
      while (next_worth_ < worths_.size() && worths_[next_worth_].at <= t_) whole_ = worths_[next_worth_++].whole.value;
      divide();
      t_ = next_instant();
    }
  }

 private:
  // So many hold so much each.
  struct Part {
    std::int64_t each = 0;
    std::int64_t count = 0;
    Instant since;
  };
  struct Class {
    std::int64_t claim = 0;
    std::vector<std::size_t> members;  // ascending
    Presence presence;
    std::int64_t present = 0;
    Part less, more;  // those without a unit of the remainder, and those with one
    bool changed = false;
    // State of the division under way.
    std::int64_t floor = 0;
    Int128 remainder = 0;
    std::int64_t units = 0;
  };
  struct Place {
    std::size_t of_class = 0;
    std::size_t member = 0;
  };

  void change(std::size_t claim, std::int64_t by) {
    Class& c = classes_[places_[claim].of_class];
    c.presence.change(places_[claim].member, by);
    c.present += by;
    c.changed = true;
    claimed_ += by * Int128{c.claim};
  }

  void divide() {
    const bool shared = whole_ > 0 && claimed_ > whole_;
    if (shared) apportion();
    for (Class& c : classes_) {
      if (!shared && !was_shared_ && !c.changed) continue;
      hold(c, c.less, shared ? c.floor : c.claim, shared ? c.present - c.units : c.present);
      hold(c, c.more, c.floor + 1, shared ? c.units : 0);
      c.changed = false;
    }
    was_shared_ = shared;
  }

  // Divides as game::apportion does, among the claims that are present.
  void apportion() {
    Int128 left = whole_;
    std::vector<Class*> order;
    for (Class& c : classes_) {
      c.units = 0;
      if (c.present == 0) continue;
      const Int128 product = Int128{whole_} * c.claim;
      c.floor = static_cast<std::int64_t>(product / claimed_);
      c.remainder = product % claimed_;
      left -= Int128{c.floor} * c.present;
      order.push_back(&c);
    }
    std::sort(order.begin(), order.end(), [](const Class* a, const Class* b) { return a->remainder > b->remainder; });
    for (auto first = order.begin(); left > 0;) {
      const auto last =
          std::find_if(first, order.end(), [&](const Class* c) { return c->remainder != (*first)->remainder; });
      left -= give_units(std::span(first, last), left);
      first = last;
    }
  }

  // Gives one unit to each of the first `most` claims of these classes of equal remainders; returns how many got one.
  std::int64_t give_units(std::span<Class* const> alike, Int128 most) {
    std::size_t below = claims_.size();  // a unit to claims before this one
    if (given_to(alike, below) > most) {
      for (std::size_t low = 0; low + 1 < below;) {
        const std::size_t middle = low + (below - low) / 2;
        (given_to(alike, middle) >= most ? below : low) = middle;
      }
    }
    for (Class* c : alike) c->units = present_before(*c, below);
    return given_to(alike, below);
  }

  [[nodiscard]] std::int64_t given_to(std::span<Class* const> alike, std::size_t below) const {
    std::int64_t sum = 0;
    for (const Class* c : alike) sum += present_before(*c, below);
    return sum;
  }

  [[nodiscard]] std::int64_t present_before(const Class& c, std::size_t below) const {
    const auto end = std::lower_bound(c.members.begin(), c.members.end(), below);
    return c.presence.count(static_cast<std::size_t>(end - c.members.begin()));
  }

  void hold(const Class& c, Part& part, std::int64_t each, std::int64_t count) {
    if (part.each == each && part.count == count) return;
    if (part.count > 0 && part.each > 0 && part.since < t_)
      visit_(c.members.front(), part.count, part.since, t_, ProcessorMillionths{part.each});
    part = {each, count, t_};
  }

  [[nodiscard]] Instant next_instant() const {
    Instant next = k_end_of_time;
    if (next_end_ < by_end_.size()) next = std::min(next, claims_[by_end_[next_end_]].end);
    if (next_begin_ < by_begin_.size()) next = std::min(next, claims_[by_begin_[next_begin_]].begin);
    if (next_worth_ < worths_.size()) next = std::min(next, worths_[next_worth_].at);
    return next;
  }

  std::span<const Claim> claims_;
  std::span<const Worth> worths_;
  const VisitClass& visit_;
  std::vector<Class> classes_;
  std::vector<Place> places_;  // of each claim
  std::vector<std::size_t> by_begin_, by_end_;
  std::size_t next_begin_ = 0, next_end_ = 0, next_worth_ = 0;
  Instant t_;
  Int128 claimed_ = 0;
  std::int64_t whole_ = 0;
  bool was_shared_ = false;
};

}  // namespace

void for_each_class_held(std::span<const Claim> claims, std::span<const std::size_t> groups,
                         std::span<const Worth> worths, Instant from, const VisitClass& visit) {
  ClassSweep(claims, groups, worths, from, visit).run();
}

}  // namespace shapley::accounting
