#include "accounting/ownership/sharing.hpp"

#include <algorithm>
#include <numeric>

#include "game/shapley_value.hpp"

namespace shapley::accounting {

namespace {

// Goes through time, claims that come and go, and tells every stretch in which a claim holds the same amount.
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
    MicroProcessors processors;
  };

  void tell(const Held& held) {
    if (held.since < t_ && held.processors.value > 0) visit_(held.claim, held.since, t_, held.processors);
  }

  void drop_ended() {
    for (const Held& held : held_) {
      if (claims_[held.claim].end != t_) continue;
      tell(held);
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

  // Nothing to do where claims fit and fitted before: each holds what it claims.
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
      const MicroProcessors now = shared ? MicroProcessors{parts[i]} : claims_[held_[i].claim].processors;
      if (now == held_[i].processors) continue;
      tell(held_[i]);
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
  MicroProcessors whole_;
  bool was_shared_ = false;
};

}  // namespace

void for_each_held(std::span<const Claim> claims, std::span<const Worth> worths, Instant from, const VisitHeld& visit) {
  Sweep(claims, worths, from, visit).run();
}

}  // namespace shapley::accounting
